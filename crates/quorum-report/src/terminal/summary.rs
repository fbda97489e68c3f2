//! Title, verdict and agents; tokens and notes at the end.

use anstyle::Style;
use quorum_model::gate::{GateLevel, GateResult, GateStatus};
use quorum_model::report::CutoffReason;
use quorum_model::result::{AgentExecution, ReviewResult, SopStatus};
use quorum_model::verdict::{AgentVerdict, Verdict};

use super::table::{self, Align, Cell};
use super::{BAD, BOLD, DIM, GOOD, Page, WARN, text};
use crate::report::{NOT_ASKED, is_gated};

/// Reasons that are shown; the others are in the full report.
const REASONS: usize = 8;
/// Lines that one reason may take.
const REASON_LINES: usize = 3;
/// Places that are shown of one check.
const GATE_PLACES: usize = 10;
/// Lines of its output that are shown where it names no place.
const GATE_LINES: usize = 20;

pub(super) fn write(page: &mut Page, result: &ReviewResult) {
    let rule = page.sign("═══", "===");
    let room = page.width - 2 * text::width(rule) - text::width("  Consensus Review:  ");
    let scope = text::line(&result.scope, room, page.ellipsis());
    let title = format!("{rule} Consensus Review: {scope} {rule}");
    page.line(&page.paint(BOLD, &title));
    page.gap();
    verdict(page, result);
    if is_gated(result) {
        page.gap();
        result.gates.iter().for_each(|gate| write_gate(page, gate));
        page.gap();
        page.paragraph("", NOT_ASKED, REASON_LINES);
        return;
    }
    warnings(page, result);
    agents(page, result);
}

fn verdict(page: &mut Page, result: &ReviewResult) {
    let vetoes: usize = result.execution.agents.iter().map(|agent| agent.veto_reasons.len()).sum();
    let (name, style) = name_of(result.verdict);
    let ignored = if result.ignored_vetos.is_some() { ", ignored" } else { "" };
    let vetoes = match vetoes {
        0 => String::new(),
        1 => format!(" (1 veto{ignored})"),
        vetoes => format!(" ({vetoes} vetoes{ignored})"),
    };
    let by = match result.reviewed_by.as_str() {
        "" => String::new(),
        who => format!(" by {}", text::line(who, 60, page.ellipsis())),
    };
    let line = format!("Verdict: {}{vetoes}{by}", page.paint(style, name));
    page.line(&line);
    // What a gate says about itself below is better than a reason.
    let gates = result.gates.iter().filter(|gate| gate.blocks()).count();
    let told = is_gated(result) && result.reasons.len() == gates;
    if result.verdict == Verdict::Approved || told {
        return;
    }
    let bullet = page.sign("  • ", "  - ");
    for reason in result.reasons.iter().take(REASONS) {
        page.paragraph(bullet, reason, REASON_LINES);
    }
    if let Some(more) = result.reasons.len().checked_sub(REASONS + 1) {
        page.line(&format!("{bullet}and {} more", more + 1));
    }
}

fn name_of(verdict: Verdict) -> (&'static str, Style) {
    let style = match verdict {
        Verdict::Approved => GOOD,
        Verdict::Advisory | Verdict::Incomplete | Verdict::NothingToReview => WARN,
        Verdict::ChangesRequested | Verdict::Blocked => BAD,
    };
    (crate::text::verdict(verdict), style)
}

fn warnings(page: &mut Page, result: &ReviewResult) {
    page.gap();
    let sign = page.sign("⚠️ ", "! ");
    for agent in &result.execution.agents {
        let files = format!(
            "({}/{} files)",
            agent.files_reviewed + agent.files_read,
            agent.files_reviewed + agent.files_read + agent.files_skipped
        );
        let warning = match (&agent.error, agent.partial) {
            (Some(error), _) => format!("No result: {} did not finish: {error}", agent.name),
            (None, true) => format!("Partial results: {} {} {files}", agent.name, why(agent)),
            (None, false) => continue,
        };
        page.paragraph(sign, &warning, REASON_LINES);
    }
    if !result.coverage.uncovered.is_empty() {
        let files = result.coverage.uncovered.join(", ");
        page.paragraph(sign, &format!("UNCOVERED: {files}"), REASON_LINES);
    }
    page.gap();
}

fn why(agent: &AgentExecution) -> &'static str {
    match agent.cutoff_reason {
        Some(CutoffReason::Budget) => "hit budget limit",
        Some(CutoffReason::Ceiling) => "hit the run's ceiling",
        Some(CutoffReason::Timeout) => "ran out of time",
        Some(CutoffReason::Absent) => "never came back with all of it",
        Some(CutoffReason::Interrupt) => "was interrupted",
        Some(CutoffReason::Error) => "was cut off by an error",
        Some(CutoffReason::Canary) => "missed a planted defect",
        None => "did not look at everything closely",
    }
}

fn agents(page: &mut Page, result: &ReviewResult) {
    if result.execution.agents.is_empty() {
        return;
    }
    let mut head = vec![("Agent".to_owned(), Align::Left), ("Verdict".to_owned(), Align::Left)];
    head.extend(["C", "H", "M", "L"].map(|name| (name.to_owned(), Align::Right)));
    head.push(("Coverage".to_owned(), Align::Left));
    let warning = page.sign(" ⚠️", " !");
    // What the other columns take: their borders, VERDICT, four numbers and the coverage.
    let room = page.width.saturating_sub(49).max(8);
    let rows: Vec<Vec<Cell>> = result
        .execution
        .agents
        .iter()
        .map(|agent| {
            let style = match agent.verdict {
                AgentVerdict::Ok => GOOD,
                AgentVerdict::Warn => WARN,
                AgentVerdict::Veto | AgentVerdict::Error => BAD,
            };
            let title = if agent.title.is_empty() { &agent.name } else { &agent.title };
            let counts = agent.counts;
            let words = agent.coverage_in_words();
            let words = if words == "–" { page.sign("–", "-") } else { &words };
            let coverage = format!("{words}{}", if agent.partial { warning } else { "" });
            let mut row = vec![
                Cell::plain(text::line(title, room, page.ellipsis())),
                match (agent.verdict, &agent.not_compared) {
                    // It found nothing, and did not do what its name promises.
                    (AgentVerdict::Ok, Some(_)) => Cell::styled(page.sign("–", "-"), DIM),
                    (verdict, _) => Cell::styled(crate::text::agent_verdict(verdict), style),
                },
            ];
            let numbers = [
                (counts.critical, BAD),
                (counts.high, BAD),
                (counts.medium, WARN),
                (counts.low, Style::new()),
            ];
            row.extend(numbers.map(|(number, style)| {
                Cell::styled(number.to_string(), if number > 0 { style } else { DIM })
            }));
            row.push(Cell::plain(coverage));
            row
        })
        .collect();
    table::write(page, &head, &rows);
}

pub(super) fn write_footer(page: &mut Page, result: &ReviewResult, full_report: Option<&str>) {
    page.gap();
    if !is_gated(result) {
        result.gates.iter().for_each(|gate| write_gate(page, gate));
        sops(page, result);
    }
    let rejected: u64 = result.rejected.values().sum();
    if rejected > 0 {
        let reasons: Vec<String> = result
            .rejected
            .iter()
            .map(|(reason, count)| format!("{count} {}", reason.replace('_', " ")))
            .collect();
        page.paragraph("", &format!("Not published: {}", reasons.join(", ")), REASON_LINES);
    }
    for agent in &result.execution.agents {
        if let Some(skipped) = crate::text::left_out(agent) {
            page.paragraph("", &format!("Left out by {}: {skipped}", agent.name), REASON_LINES);
        }
    }
    for note in &result.notes {
        page.paragraph("Note: ", note, REASON_LINES);
    }
    let sum = |of: fn(&AgentExecution) -> u64| result.execution.agents.iter().map(of).sum::<u64>();
    let (tokens, calls) = (sum(|agent| agent.tokens), sum(|agent| agent.calls));
    let usd: f64 = result.execution.agents.iter().map(|agent| agent.usd).sum();
    let price = if usd > 0.0 { format!(", ${usd:.4}") } else { String::new() };
    let [tokens, calls] = [tokens, calls].map(crate::text::number);
    let cost = format!("Tokens: {tokens} in {calls} calls{price}");
    page.line(&page.paint(DIM, &cost));
    let run = format!(
        "Run: {} ({})",
        text::line(&result.run, 60, page.ellipsis()),
        result.protocol.as_str()
    );
    page.line(&page.paint(DIM, &run));
    if let Some(path) = full_report {
        page.paragraph("Full report: ", path, REASON_LINES);
    }
}

/// A check that did not pass, with what its developer needs to mend it.
fn write_gate(page: &mut Page, gate: &GateResult) {
    if matches!(gate.status, GateStatus::Passed | GateStatus::Skipped) {
        return;
    }
    let optional = if gate.required { "" } else { " (optional)" };
    let text = format!("Gate {}{optional} {}: {}", gate.name, gate.outcome(), gate.command);
    page.paragraph("", &text, REASON_LINES);
    let errors: Vec<_> =
        gate.findings.iter().filter(|finding| finding.level == GateLevel::Error).collect();
    for finding in errors.iter().take(GATE_PLACES) {
        let text = format!("{}:{} {}", finding.file, finding.line, finding.message);
        page.paragraph("    ", &text, 2);
    }
    // Where no place could be read, the output itself is the best there is.
    if errors.is_empty() {
        for line in gate.output.lines().take(GATE_LINES) {
            page.paragraph("    ", line, 1);
        }
    }
}

/// How many standing orders are kept, and which are not; evidence is among the reasons and the notes.
fn sops(page: &mut Page, result: &ReviewResult) {
    let kept = result.sops.iter().filter(|sop| sop.status == SopStatus::Passed).count();
    let others = result.sops.iter().filter_map(|sop| {
        let how = match sop.status {
            SopStatus::Violated => "violated",
            SopStatus::NotReviewed => "not reviewed",
            SopStatus::NotChecked => "not checked",
            SopStatus::Passed | SopStatus::NotApplicable => return None,
        };
        Some(format!("{} {how}", sop.sop))
    });
    let all: Vec<String> =
        (kept > 0).then(|| format!("{kept} kept")).into_iter().chain(others).collect();
    if !all.is_empty() {
        page.paragraph("SOPs: ", &all.join(", "), REASON_LINES);
    }
}
