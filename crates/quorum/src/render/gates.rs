//! Checks and rounds, as pages.

use std::fmt::Write as _;

use quorum_model::gate::{GateCheck, GateLevel, GateReport, GateStatus};
use quorum_model::looping::{LoopOutcome, LoopReport};

use super::style::{dim, heading, table, warning};

/// How much of an output a page shows: where a tool says what is wrong, and where it sums up.
const FIRST_LINES: usize = 30;
const LAST_LINES: usize = 10;

/// The checks that there are.
pub(crate) fn list(checks: &[GateCheck]) -> String {
    if checks.is_empty() {
        return "no preset knows this repository; name commands in `gates.additional`\n".to_owned();
    }
    let mut page = String::new();
    for check in checks {
        let folder = if check.working_dir.is_empty() { "." } else { &check.working_dir };
        let need = if check.required { "required" } else { "optional" };
        let facts = format!(
            "{}, {need}, {} s, in {folder} ({})",
            check.category.as_str(),
            check.timeout,
            check.reason
        );
        // Writing to a string cannot fail.
        _ = writeln!(page, "{}  {}\n  {}", heading(&check.name), dim(&facts), check.command);
    }
    page
}

/// What came of them.
pub(crate) fn report(report: &GateReport, width: usize) -> String {
    let rows = report.gates.iter().map(|gate| {
        let need = if gate.required { "" } else { " (optional)" };
        vec![
            format!("{}{need}", gate.name),
            gate.outcome(),
            format!("{}.{} s", gate.duration_ms / 1000, gate.duration_ms / 100 % 10),
            gate.command.clone(),
        ]
    });
    let mut page = table(&["Gate", "Outcome", "Time", "Command"], rows.collect(), &[2], width);
    for gate in &report.gates {
        if matches!(gate.status, GateStatus::Passed | GateStatus::Skipped) {
            continue;
        }
        _ = writeln!(page, "\n{}", heading(&format!("{} {}", gate.name, gate.outcome())));
        let errors = gate.findings.iter().filter(|finding| finding.level == GateLevel::Error);
        for finding in errors {
            _ = writeln!(page, "  {}:{} {}", finding.file, finding.line, finding.message);
        }
        let lines: Vec<&str> = gate.output.lines().collect();
        let left_out = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
        for (number, line) in lines.iter().enumerate() {
            if left_out > 0 && number == FIRST_LINES {
                let note = format!("… {left_out} lines left out; --format json has them");
                _ = writeln!(page, "  {} {}", dim("│"), dim(&note));
            }
            if left_out == 0 || number < FIRST_LINES || number >= FIRST_LINES + left_out {
                _ = writeln!(page, "  {} {line}", dim("│"));
            }
        }
    }
    page.push('\n');
    for what in &report.isolation.missing {
        _ = writeln!(page, "{}", warning(what));
    }
    let verdict =
        if report.passed { "Every required gate passed." } else { "A required gate did not pass." };
    _ = writeln!(page, "{}", heading(verdict));
    page
}

/// The rounds of a loop, and how it ended.
pub(crate) fn looped(report: &LoopReport) -> String {
    let mut page = String::new();
    for round in &report.rounds {
        let failed = match round.failed_gates.as_slice() {
            [] => String::new(),
            names => format!(", gates that did not pass: {}", names.join(", ")),
        };
        let facts = format!("{} findings{failed}, run {}", round.findings, round.run);
        _ = writeln!(page, "Round {}: {} {}", round.round, round.verdict.as_str(), dim(&facts));
    }
    let outcome = match report.outcome {
        LoopOutcome::Approved => "approved",
        LoopOutcome::Rejected => "rejected",
        LoopOutcome::Escalated => "escalated",
    };
    let kind = report.rejection.and_then(|rejection| {
        let value = serde_json::to_value(rejection).ok()?;
        value.as_str().map(|kind| format!(" ({kind})"))
    });
    let line = format!("{outcome}{}", kind.unwrap_or_default());
    _ = writeln!(page, "{}: {}", heading(&line), report.reason);
    page
}
