//! The page of one agent: an index of its findings first, then a summary, then everything.
//!
//! The first [`HEAD_LINES`] lines are enough to decide whether to read on. Whatever an agent wrote
//! is kept on one line there, so nothing that it says can pass for a line of the index.

mod cut;
mod ids;

use std::fmt::Write as _;

pub use cut::{head, section, within};
pub use ids::{draft_ids, ids, is_part_of};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, OutcomeStatus};
use quorum_model::severity::{Counts, Severity};

/// A reader may take this many lines and stop.
pub const HEAD_LINES: usize = 30;
/// Entries of the index that leave room for the verdict and the summary.
const INDEXED: usize = 18;
/// Characters of a title in the index.
const TITLE: usize = 80;

/// What follows from an agent's findings, in the words of the index.
pub fn verdict_word(outcome: &AgentOutcome) -> &'static str {
    if outcome.status == OutcomeStatus::Failed {
        return "error";
    }
    match outcome.findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Critical) => "risky",
        Some(Severity::High) => "needs-changes",
        _ => "safe",
    }
}

/// How far an agent has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It has had its say about the code, and is asked about what others found.
    Preliminary,
    /// Nothing more comes of it.
    Ended,
}

/// The page of an agent; `ids` names its findings, in their order.
pub fn render(outcome: &AgentOutcome, ids: &[String]) -> String {
    at_stage(outcome, ids, Stage::Ended)
}

/// The page of an agent that may not have said all.
pub(crate) fn at_stage(outcome: &AgentOutcome, ids: &[String], stage: Stage) -> String {
    let mut entries: Vec<(&str, &AgentFinding)> =
        ids.iter().map(String::as_str).zip(&outcome.findings).collect();
    entries.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
    let (first, more) = entries.split_at(entries.len().min(INDEXED));
    let mut page = String::from("### Findings Index\n");
    index(&mut page, first);
    if !more.is_empty() {
        let rest = counts(more.iter().map(|(_, finding)| finding.severity));
        line(&mut page, &format!("({} more below: {rest})", more.len()));
    }
    line(&mut page, &format!("Verdict: {}", verdict_word(outcome)));
    // The comment cannot be closed from within.
    let agent = one_line(&outcome.agent).replace("--", "–");
    line(&mut page, &format!("<!-- run {} agent {agent} -->", outcome.run));
    page.push_str("\n### Summary\n");
    if stage == Stage::Preliminary {
        line(&mut page, "Preliminary: the reviewers have not talked about their findings yet.");
    }
    summary(&mut page, outcome);
    if !more.is_empty() {
        page.push_str("\n### Findings Index, continued\n");
        index(&mut page, more);
    }
    if !entries.is_empty() {
        page.push_str("\n### Issues Found\n");
    }
    for (id, finding) in entries {
        issue(&mut page, id, finding);
    }
    if !outcome.notes.is_empty() {
        page.push_str("\n### Notes\n");
        for note in &outcome.notes {
            line(&mut page, &format!("- {}", one_line(note)));
        }
    }
    page
}

fn index(page: &mut String, entries: &[(&str, &AgentFinding)]) {
    for (id, finding) in entries {
        let severity = finding.severity.as_str();
        let title = title(&finding.issue);
        line(page, &format!("- {severity} | {id} | \"{}\" | {title}", place(finding)));
    }
}

/// Three to five lines.
fn summary(page: &mut String, outcome: &AgentOutcome) {
    let ended = match outcome.status {
        OutcomeStatus::Completed => "saw everything that it was given",
        OutcomeStatus::Partial => "stopped before it had seen everything that it was given",
        OutcomeStatus::Failed => "did not finish; this approves nothing",
    };
    line(page, &format!("{} {ended}.", one_line(&outcome.agent)));
    let found = counts(outcome.findings.iter().map(|finding| finding.severity));
    let categories = categories(outcome);
    line(page, &format!("Findings: {found}{categories}."));
    let files: std::collections::BTreeSet<&str> =
        outcome.covered.iter().map(|covered| covered.path.as_str()).collect();
    let usage = &outcome.usage;
    let engine = outcome.model.as_deref().unwrap_or(&outcome.engine);
    line(
        page,
        &format!(
            "Shown {} {} by {}; {} of {} tokens used in {} calls.",
            files.len(),
            if files.len() == 1 { "file" } else { "files" },
            one_line(engine),
            usage.budget_used,
            usage.budget,
            usage.calls
        ),
    );
    if let Some(error) = &outcome.error {
        line(page, &format!("Error: {}", cut(&one_line(error), 200)));
    }
    let left_out = outcome.skipped.unwrap_or_default();
    let rejected: u64 = outcome.rejected.values().sum();
    if left_out.medium_count + left_out.low_count + rejected > 0 {
        let text = format!(
            "Left out for lack of budget: {} MEDIUM, {} LOW; not backed by the code: {rejected}.",
            left_out.medium_count, left_out.low_count
        );
        line(page, &text);
    }
}

fn categories(outcome: &AgentOutcome) -> String {
    let names: std::collections::BTreeSet<&str> =
        outcome.findings.iter().map(|finding| finding.category.as_str()).collect();
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(4).map(|name| cut(&one_line(name), 24)).collect();
    let more = if names.len() > 4 { ", …" } else { "" };
    format!(" ({}{more})", shown.join(", "))
}

fn counts(severities: impl Iterator<Item = Severity>) -> String {
    let counts = Counts::of(severities);
    let all = [counts.critical, counts.high, counts.medium, counts.low];
    let named = all.iter().zip(Severity::WORST_FIRST).filter(|(count, _)| **count > 0);
    let parts: Vec<String> =
        named.map(|(count, severity)| format!("{count} {}", severity.as_str())).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn issue(page: &mut String, id: &str, finding: &AgentFinding) {
    let severity = finding.severity.as_str();
    let title = title(&finding.issue);
    line(page, &format!("\n#### {id} {severity} {}: {title}\n", place(finding)));
    let mut field = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            line(page, &format!("- {name}: {}", one_line(value)));
        }
    };
    field("Category", Some(&finding.category));
    field("Rule", finding.rule.as_deref());
    field("CWE", finding.cwe.as_deref());
    field("Confidence", finding.confidence.map(|share| format!("{share}")).as_deref());
    field("User impact", finding.user_impact.as_deref());
    line(page, &format!("\nIssue:\n{}", quoted(&finding.issue)));
    if let Some(evidence) = &finding.evidence {
        let fence = fence(evidence);
        line(page, &format!("\nEvidence:\n{fence}\n{}\n{fence}", evidence.trim_end_matches('\n')));
    }
    for step in &finding.trace {
        let place = format!("{}:{}", one_line(&step.file), step.line);
        line(page, &format!("- Step: {place} {}", one_line(&step.note)));
    }
    line(page, &format!("\nRecommendation:\n{}", quoted(&finding.recommendation)));
    for reference in &finding.references {
        line(page, &format!("- See: {}", one_line(reference)));
    }
}

/// The first sentence, as far as it fits.
fn title(issue: &str) -> String {
    let text = one_line(issue);
    let end = text.find(". ").unwrap_or(text.len());
    cut(text[..end].trim_end_matches('.'), TITLE)
}

/// Where a finding is, as `file:line`.
fn place(finding: &AgentFinding) -> String {
    let (file, line) = finding.place().unwrap_or(("?", None));
    let file = one_line(file).replace('"', "'");
    match (line, finding.end_line) {
        (Some(line), Some(end)) if end > line => format!("{file}:{line}-{end}"),
        (Some(line), _) => format!("{file}:{line}"),
        (None, _) => file,
    }
}

/// A fence that the text cannot close.
fn fence(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Text as a quotation, so that no line of it can be taken for one of the page's.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    // A bar would begin another field of the index.
    words.replace('|', "¦")
}

fn cut(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let kept: String = text.chars().take(length - 1).collect();
    format!("{}…", kept.trim_end())
}

fn line(page: &mut String, text: &str) {
    // Writing to a string cannot fail.
    _ = writeln!(page, "{text}");
}

#[cfg(test)]
mod tests;
