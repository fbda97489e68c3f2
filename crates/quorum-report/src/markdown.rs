//! A comment on a pull request, or the summary of a workflow step.
//!
//! What matters most comes first and stays when there is too much: each part has a limit, and where
//! it is met the page says how many things it left out.

mod escape;
mod findings;

use quorum_model::coverage::{CoverageState, FileCoverage};
use quorum_model::finding::{Finding, FindingState};
use quorum_model::gate::{GateLevel, GateResult, GateStatus};
use quorum_model::result::{AgentExecution, SopStatus};
use quorum_model::verdict::Verdict;
use std::fmt::Write as _;

use crate::report::{NOT_ASKED, Report, is_gated, worst_first};
use crate::text;
pub(crate) use escape::prose;

/// Bytes, and so never more characters: code hosts refuse a comment of more than 65,536.
const COMMENT: usize = 59_000;
/// GitHub shows at most 1 MiB of a step's summary.
const SUMMARY: usize = 1_000_000;

/// The report as a comment: under 60,000 characters, worst first.
pub fn render(report: &Report<'_>) -> String {
    page(report, COMMENT)
}

/// The report as a comment of at most so many bytes, or of 60,000 where that is less.
pub fn render_within(report: &Report<'_>, limit: usize) -> String {
    page(report, limit.min(COMMENT))
}

/// The report as the summary of a step in a GitHub workflow, which may be longer than a comment.
pub fn step_summary(report: &Report<'_>) -> String {
    page(report, SUMMARY)
}

fn page(report: &Report<'_>, limit: usize) -> String {
    let parts = limit / 8;
    if is_gated(report.result) {
        return [title(report), gated(report, limit - parts), footer(report)].concat();
    }
    let head = [title(report), reasons(report, parts), agents(report, parts)].concat();
    let tail = [
        apart(report, parts),
        coverage(report, parts),
        checks(report, parts),
        not_agreed(report, parts),
        footer(report),
    ]
    .concat();
    let left = limit.saturating_sub(head.len() + tail.len());
    let findings = findings::section(report, left);
    [head, findings, tail].concat()
}

fn title(report: &Report<'_>) -> String {
    let (icon, words) = match report.result.verdict {
        Verdict::Approved => ("✅", "approved"),
        Verdict::Advisory => ("ℹ️", "advisory: what would block was lifted"),
        Verdict::ChangesRequested => ("❌", "changes requested"),
        Verdict::Blocked => ("⛔", "blocked"),
        Verdict::Incomplete => ("⚠️", "incomplete"),
        Verdict::NothingToReview => ("ℹ️", "nothing to review"),
    };
    let by = match report.result.reviewed_by.as_str() {
        "" => String::new(),
        who => format!(" by {}", prose(who, 200)),
    };
    format!("## {icon} Quorum: {words}{by}\n\n")
}

fn reasons(report: &Report<'_>, limit: usize) -> String {
    let mut rows: Vec<String> =
        report.result.reasons.iter().map(|reason| format!("- {}\n", prose(reason, 400))).collect();
    let agents = &report.result.execution.agents;
    // What decides comes first; that somebody is partial is not lost behind many reasons.
    let after = rows.len().min(1);
    rows.splice(after..after, agents.iter().filter_map(|agent| partial(report, agent)));
    rows.extend(agents.iter().filter_map(|agent| {
        let title = prose(report.title(&agent.name), 100);
        Some(format!(
            "- {title} left out {}
",
            text::left_out(agent)?
        ))
    }));
    if rows.is_empty() {
        return String::new();
    }
    listing(&rows, limit, |more| format!("- … and {more} more\n")) + "\n"
}

fn partial(report: &Report<'_>, agent: &AgentExecution) -> Option<String> {
    if !agent.partial {
        return None;
    }
    let why = agent.cutoff_reason.map_or("it stopped early", text::cutoff);
    let all = agent.files_reviewed.saturating_add(agent.files_skipped);
    let title = prose(report.title(&agent.name), 100);
    let seen = text::number(agent.files_reviewed);
    Some(format!("- ⚠️ {title} is partial: {seen} of {} files; {why}\n", text::number(all)))
}

fn agents(report: &Report<'_>, limit: usize) -> String {
    let agents = &report.result.execution.agents;
    if agents.is_empty() {
        return String::new();
    }
    let head = "| Agent | Verdict | Critical | High | Medium | Low | Coverage |\n\
                |---|---|--:|--:|--:|--:|--:|\n";
    let rows: Vec<String> = agents.iter().map(|agent| row(report, agent)).collect();
    let rows = listing(&rows, limit, |more| format!("| … and {more} more | | | | | | |\n"));
    format!("{head}{rows}\n")
}

fn row(report: &Report<'_>, agent: &AgentExecution) -> String {
    let counts = agent.counts;
    let verdict = match text::agent_verdict(agent.verdict) {
        "OK" if agent.not_compared.is_some() => "–".to_owned(),
        "OK" => "OK".to_owned(),
        other => format!("**{other}**"),
    };
    format!(
        "| {} | {verdict} | {} | {} | {} | {} | {} |\n",
        escape::cell(report.title(&agent.name), 100),
        counts.critical,
        counts.high,
        counts.medium,
        counts.low,
        looked_at(agent)
    )
}

/// How many of its files an agent reviewed, and how many it only read.
fn looked_at(agent: &AgentExecution) -> String {
    if agent.not_compared.is_some() {
        return "not compared".to_owned();
    }
    let read = agent.files_read;
    let all = agent.files_reviewed.saturating_add(agent.files_skipped).saturating_add(read);
    let reviewed = text::number(agent.files_reviewed);
    match (all, read) {
        (0, _) => "–".to_owned(),
        (all, read) if all == read => format!("read {}", text::number(read)),
        (all, 0) => format!("{reviewed}/{}", text::number(all)),
        (all, read) => format!("{reviewed}/{}, {} read", text::number(all), text::number(read)),
    }
}

fn coverage(report: &Report<'_>, limit: usize) -> String {
    let coverage = &report.result.coverage;
    let mut rows: Vec<String> = Vec::new();
    let is_read = |file: &FileCoverage| {
        let mut own = file.agents.values().filter(|state| **state != CoverageState::OutOfDomain);
        let mut any = false;
        own.all(|state| {
            any = true;
            *state == CoverageState::Read
        }) && any
    };
    for file in coverage.files.iter().filter(|file| is_read(file)) {
        rows.push(format!(
            "- {} was only read: searched for secrets, hidden characters and injections\n",
            escape::code(&file.path, 300)
        ));
    }
    for path in &coverage.uncovered {
        rows.push(format!("- nobody looked at {}\n", escape::code(path, 300)));
    }
    for gap in &coverage.gaps {
        let why = gap.reason.as_deref().map(|reason| format!(" ({})", prose(reason, 200)));
        let command = match gap.command.as_str() {
            "" => String::new(),
            command => format!(": {}", escape::code(command, 600)),
        };
        rows.push(format!(
            "- {} did not look at {}{}{command}\n",
            prose(report.title(&gap.agent), 100),
            escape::code(&gap.path, 300),
            why.unwrap_or_default(),
        ));
    }
    let count = text::count(rows.len(), "gap", "gaps");
    folded(&format!("Coverage: {count}"), &rows, limit)
}

fn checks(report: &Report<'_>, limit: usize) -> String {
    let mut rows = Vec::new();
    rows.extend(report.result.gates.iter().map(gate_row));
    for sop in &report.result.sops {
        let status = match sop.status {
            SopStatus::Passed => "kept",
            SopStatus::Violated => "**violated**",
            SopStatus::NotApplicable => continue,
            SopStatus::NotReviewed => "not reviewed",
            SopStatus::NotChecked => "not checked",
        };
        let evidence = prose(&sop.evidence, 300);
        rows.push(format!("- SOP {}: {status}; {evidence}\n", prose(&sop.sop, 100)));
    }
    folded("Gates and SOPs", &rows, limit)
}

/// The checks alone: nobody was asked.
fn gated(report: &Report<'_>, limit: usize) -> String {
    let rows: Vec<String> = report.result.gates.iter().map(gate_row).collect();
    let rows = listing(&rows, limit, |more| format!("- … and {more} more\n"));
    format!("{rows}\n{NOT_ASKED}\n\n")
}

/// A check in one line, and the places that it names where it did not pass.
fn gate_row(gate: &GateResult) -> String {
    let outcome = prose(&gate.outcome(), 300);
    let outcome = match gate.status {
        GateStatus::Passed | GateStatus::Skipped => outcome,
        GateStatus::Failed | GateStatus::TimedOut | GateStatus::NotRun => format!("**{outcome}**"),
    };
    let command = escape::code(&gate.command, 200);
    let mut row = format!("- gate {}: {outcome} ({command})\n", prose(&gate.name, 100));
    let errors = gate.findings.iter().filter(|finding| finding.level == GateLevel::Error);
    for finding in errors.take(GATE_PLACES) {
        let place = escape::code(&format!("{}:{}", finding.file, finding.line), 300);
        _ = writeln!(row, "  - {place} {}", prose(&finding.message, 300));
    }
    row
}

/// Places that are named of one check.
const GATE_PLACES: usize = 10;

fn not_agreed(report: &Report<'_>, limit: usize) -> String {
    let rows: Vec<String> =
        worst_first(&report.result.not_agreed).into_iter().map(in_a_line).collect();
    folded(&format!("Not agreed: {}", rows.len()), &rows, limit)
}

/// What does not count: each state by itself, so that nobody takes one for the other.
fn apart(report: &Report<'_>, limit: usize) -> String {
    let states = [
        ("Open, not reviewed this time", FindingState::NotReviewed),
        ("Resolved", FindingState::Resolved),
        ("Suppressed", FindingState::Suppressed),
        ("Dismissed", FindingState::Dismissed),
    ];
    let sections = states.map(|(name, state)| {
        let findings = report.apart(state);
        let rows: Vec<String> = findings.iter().map(|finding| apart_row(finding)).collect();
        folded(&format!("{name}: {}", rows.len()), &rows, limit / 2)
    });
    sections.concat()
}

fn apart_row(finding: &Finding) -> String {
    let why = match finding.state {
        FindingState::Suppressed | FindingState::Dismissed => {
            format!(": {}", prose(&text::set_aside(finding), 300))
        }
        _ => String::new(),
    };
    format!("{}{why}\n", in_a_line(finding).trim_end())
}

fn in_a_line(finding: &Finding) -> String {
    let refutation = finding.refutation.as_ref().map_or_else(String::new, |refutation| {
        format!(" (refuted by {}: {})", prose(&refutation.by, 100), prose(&refutation.reason, 300))
    });
    format!(
        "- {} {} {} {}{refutation}\n",
        finding.severity.as_str(),
        escape::code(&finding.id, 60),
        escape::code(&text::place(finding), 330),
        prose(&finding.issue, 300)
    )
}

fn footer(report: &Report<'_>) -> String {
    let agents = &report.result.execution.agents;
    let tokens = agents.iter().fold(0u64, |sum, agent| sum.saturating_add(agent.tokens));
    let usd: f64 = agents.iter().map(|agent| agent.usd).sum();
    let cost = if usd > 0.0 { format!(", ${usd:.2}") } else { String::new() };
    let run = text::line(&report.result.run, 80);
    format!(
        "<sub>{} · {} tokens{cost} · run {} · {}</sub>\n",
        text::count(report.plan.scope.files.len(), "file", "files"),
        text::number(tokens),
        prose(&run, 80),
        escape::code(&format!("quorum report {run} --format html --open"), 200)
    )
}

/// Rows behind a line that opens them; nothing where there are none.
fn folded(summary: &str, rows: &[String], limit: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let rows = listing(rows, limit, |more| format!("- … and {more} more\n"));
    format!("<details><summary>{}</summary>\n\n{rows}\n</details>\n\n", escape::html(summary))
}

/// As many rows as fit `limit` bytes, and a word on the rest.
fn listing(rows: &[String], limit: usize, more: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let last = index + 1 == rows.len();
        let room = if last { limit } else { limit.saturating_sub(more(rows.len()).len()) };
        if text.len() + row.len() > room {
            text.push_str(&more(rows.len() - index));
            break;
        }
        text.push_str(row);
    }
    text
}
