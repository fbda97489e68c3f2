//! reviewdog's diagnostics, one JSON object a line.
//!
//! <https://github.com/reviewdog/reviewdog/tree/master/proto/rdf>

use quorum_model::finding::{Finding, Replacement};
use quorum_model::severity::Severity;
use serde::Serialize;

use crate::report::Report;
use crate::{json, markdown, text};

#[derive(Serialize)]
struct Diagnostic {
    message: String,
    location: Location,
    severity: &'static str,
    source: Source,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<RelatedLocation>,
}

#[derive(Serialize)]
struct Location {
    path: String,
    range: Range,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Code {
    value: String,
}

#[derive(Serialize)]
struct Suggestion {
    range: Range,
    text: String,
}

#[derive(Serialize)]
struct RelatedLocation {
    message: String,
    location: Location,
}

/// The findings that stand, as reviewdog reads them.
pub fn render(report: &Report<'_>) -> String {
    report.current().into_iter().map(|finding| json::line(&diagnostic(finding))).collect()
}

fn diagnostic(finding: &Finding) -> Diagnostic {
    let (first, last) = text::lines(finding);
    // reviewdog puts messages into comments, so they are Markdown there.
    let mut message =
        format!("{}: {}", text::line(&finding.id, 60), markdown::prose(&finding.issue, 1_000));
    if !finding.recommendation.trim().is_empty() {
        message.push_str("\n\n");
        message.push_str(&markdown::prose(&finding.recommendation, 2_000));
    }
    let trace = finding.trace.iter().take(20).map(|step| RelatedLocation {
        message: markdown::prose(&step.note, 300),
        location: Location { path: step.file.clone(), range: lines(step.line, step.line) },
    });
    Diagnostic {
        message,
        location: Location { path: finding.file.clone(), range: lines(first, last) },
        severity: match finding.severity {
            Severity::Critical | Severity::High => "ERROR",
            Severity::Medium => "WARNING",
            Severity::Low => "INFO",
        },
        source: Source { name: "quorum" },
        code: Code { value: text::rule(finding) },
        suggestions: text::replacement(finding).map(suggestion).into_iter().collect(),
        related_locations: trace.collect(),
    }
}

/// Whole lines: without columns, the end line is meant inclusively.
fn lines(first: u64, last: u64) -> Range {
    let at = |line: u64| Position { line: line.max(1), column: None };
    Range { start: at(first), end: at(last.max(first)) }
}

/// Whole lines with their ends, from the first column to the first of the line after.
fn suggestion(replacement: &Replacement) -> Suggestion {
    let at = |line: u64| Position { line: line.max(1), column: Some(1) };
    let (first, last) = text::replaced(replacement);
    let range = Range { start: at(first), end: at(last.saturating_add(1)) };
    Suggestion { range, text: text::with_line_end(&replacement.text) }
}
