//! GitLab's Code Quality report: what a merge request shows beside the changed lines.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use std::collections::BTreeMap;

use quorum_model::finding::Finding;
use quorum_model::severity::Severity;
use serde::Serialize;

use crate::report::Report;
use crate::{json, text};

#[derive(Serialize)]
struct Violation {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u64,
    end: u64,
}

/// The findings that stand, as GitLab reads them.
pub fn render(report: &Report<'_>) -> String {
    let mut seen = BTreeMap::new();
    let violations: Vec<Violation> =
        report.current().into_iter().map(|finding| violation(finding, &mut seen)).collect();
    json::pretty(&violations)
}

fn violation<'a>(finding: &'a Finding, seen: &mut BTreeMap<&'a str, u64>) -> Violation {
    let (begin, end) = text::lines(finding);
    // GitLab keeps one violation of each fingerprint, and the same code can be wrong twice.
    let nth = seen.entry(&finding.fingerprint).and_modify(|nth| *nth += 1).or_insert(1);
    let fingerprint = match *nth {
        1 => finding.fingerprint.clone(),
        nth => format!("{}-{nth}", finding.fingerprint),
    };
    Violation {
        description: format!(
            "{}: {}",
            text::line(&finding.id, 60),
            text::line(&finding.issue, 1_000)
        ),
        check_name: text::rule(finding),
        fingerprint,
        severity: match finding.severity {
            Severity::Critical => "blocker",
            Severity::High => "critical",
            Severity::Medium => "major",
            Severity::Low => "minor",
        },
        location: Location { path: finding.file.clone(), lines: Lines { begin, end } },
    }
}
