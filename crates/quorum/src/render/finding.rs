//! One finding in full.

use std::fmt::Write as _;

use quorum_model::finding::{Finding, FindingState};

use super::style::{heading, title};

/// The page of one finding.
pub(crate) fn page(finding: &Finding) -> String {
    let mut page = title(&format!("{} {}", finding.id, finding.severity.as_str()));
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            // Writing to a string cannot fail.
            _ = writeln!(page, "{}{}{text}", heading(name), " ".repeat(14 - name.len()));
        }
    };
    line("Place", &place(finding));
    line("Category", &finding.category);
    line("Rule", finding.rule.as_deref().unwrap_or_default());
    line("Weakness", finding.cwe.as_deref().unwrap_or_default());
    line("Seen by", &finding.agents.join(", "));
    line("Confidence", &format!("{:.2}", finding.confidence));
    line("State", state(finding.state));
    line("User impact", finding.user_impact.as_deref().unwrap_or_default());
    line("Fingerprint", &finding.fingerprint);
    let mut part = |name: &str, text: &str| {
        if !text.trim().is_empty() {
            _ = writeln!(page, "\n{}\n{}", heading(name), indented(text));
        }
    };
    part("Issue", &finding.issue);
    part("Evidence", &finding.evidence);
    let steps: Vec<String> = finding
        .trace
        .iter()
        .map(|step| format!("{}:{} {}", step.file, step.line, step.note))
        .collect();
    part("Trace", &steps.join("\n"));
    part("Recommendation", &finding.recommendation);
    if let Some(refutation) = &finding.refutation {
        let said = format!("{}\n{}", refutation.reason, refutation.evidence);
        part(&format!("Refuted by {}", refutation.by), &said);
    }
    part("References", &finding.references.join("\n"));
    page
}

fn place(finding: &Finding) -> String {
    let Finding { file, line, end_line, .. } = finding;
    if end_line > line { format!("{file}:{line}-{end_line}") } else { format!("{file}:{line}") }
}

/// A state in words.
pub(crate) fn state(state: FindingState) -> &'static str {
    match state {
        FindingState::New => "new",
        FindingState::Persisting => "persisting",
        FindingState::Resolved => "resolved",
        FindingState::Dismissed => "dismissed",
        FindingState::Suppressed => "suppressed",
        FindingState::NotReviewed => "not reviewed",
    }
}

fn indented(text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| format!("  {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
