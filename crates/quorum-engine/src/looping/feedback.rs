//! What a developer is told after a round.

use std::fmt::Write as _;

use quorum_model::gate::{GateLevel, GateResult, GateStatus};
use quorum_model::result::ReviewResult;

use super::judge::Task;

/// Findings that are told in one round: more than that nobody mends at once.
const MOST: usize = 30;

/// The task again, and what gates or reviewers said of the work so far.
pub(super) fn text(task: &Task, round: u64, result: &ReviewResult) -> String {
    let mut text = task.prompt();
    // Writing to a string cannot fail.
    _ = writeln!(text, "\n# After round {round}: {}\n", result.verdict.as_str());
    for reason in &result.reasons {
        _ = writeln!(text, "- {reason}");
    }
    for gate in &result.gates {
        if !matches!(gate.status, GateStatus::Passed | GateStatus::Skipped) {
            add_gate(&mut text, gate);
        }
    }
    if !result.findings.is_empty() {
        text.push_str("\n## Findings\n");
    }
    for finding in result.findings.iter().take(MOST) {
        let place = format!("{}:{}", finding.file, finding.line);
        let severity = finding.severity.as_str();
        _ = writeln!(text, "\n### {} {severity} {place}\n\n{}", finding.id, finding.issue);
        if !finding.evidence.trim().is_empty() {
            _ = writeln!(text, "\n{}", fenced(&finding.evidence));
        }
        if !finding.recommendation.trim().is_empty() {
            _ = writeln!(text, "\nWhat to do: {}", finding.recommendation);
        }
    }
    if let Some(more) = result.findings.len().checked_sub(MOST).filter(|more| *more > 0) {
        _ = writeln!(text, "\nAnd {more} more, which come after these.");
    }
    text
}

fn add_gate(text: &mut String, gate: &GateResult) {
    let optional = if gate.required { "" } else { " (optional)" };
    _ = writeln!(
        text,
        "\n## Gate {}{optional} {}\n\n`{}`",
        gate.name,
        gate.outcome(),
        gate.command
    );
    let errors = gate.findings.iter().filter(|finding| finding.level == GateLevel::Error);
    for finding in errors.take(MOST) {
        _ = writeln!(text, "- {}:{} {}", finding.file, finding.line, finding.message);
    }
    if !gate.output.trim().is_empty() {
        _ = writeln!(text, "\n{}", fenced(&gate.output));
    }
}

/// In a fence that the text cannot close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}
