//! Test results in the format of `JUnit`, which every CI server reads.
//!
//! A suite for each file under review, a case for each finding in it, and a suite for the verdict
//! itself. CRITICAL and HIGH findings fail; lesser ones pass with their text as output, because the
//! format knows no severities and a red test for a suggestion is a lie. What was set aside, has
//! gone or was not looked at is skipped.

mod xml;

use std::collections::BTreeMap;

use quorum_model::coverage::{CoverageState, FileCoverage};
use quorum_model::finding::{Finding, FindingState};
use quorum_model::severity::Severity;
use quorum_model::verdict::Verdict;

use crate::report::Report;
use crate::text;
use xml::Element;

/// The result as test suites.
pub fn render(report: &Report<'_>) -> String {
    let mut suites = vec![verdict(report)];
    let mut by_file: BTreeMap<&str, Vec<Element>> = BTreeMap::new();
    for file in &report.result.coverage.files {
        by_file.entry(&file.path).or_default();
    }
    for finding in report.entries() {
        by_file.entry(&finding.file).or_default().push(case(report, finding));
    }
    let coverage: BTreeMap<&str, &FileCoverage> =
        report.result.coverage.files.iter().map(|file| (file.path.as_str(), file)).collect();
    for (path, mut cases) in by_file {
        if cases.is_empty() {
            cases.extend(coverage.get(path).map(|file| clean(file)));
        }
        suites.push(suite(&text::line(path, 1_000), cases));
    }
    let root = with_totals(Element::new("testsuites").attribute("name", "quorum"), &suites);
    xml::document(&root.children(suites))
}

fn verdict(report: &Report<'_>) -> Element {
    let case =
        Element::new("testcase").attribute("name", "verdict").attribute("classname", "quorum");
    let result = report.result;
    let reasons: Vec<String> =
        result.reasons.iter().take(50).map(|reason| text::line(reason, 500)).collect();
    let reasons = reasons.join("\n");
    let name = text::verdict(result.verdict);
    let case = match result.verdict {
        Verdict::Approved | Verdict::Advisory | Verdict::NothingToReview => {
            case.child(Element::new("system-out").text(&format!("{name}\n{reasons}")))
        }
        Verdict::ChangesRequested | Verdict::Blocked => {
            case.child(Element::new("failure").attribute("message", name).text(&reasons))
        }
        Verdict::Incomplete => {
            case.child(Element::new("error").attribute("message", name).text(&reasons))
        }
    };
    suite("verdict", vec![case])
}

fn case(report: &Report<'_>, finding: &Finding) -> Element {
    let id = text::line(&finding.id, 60);
    let (first, _) = text::lines(finding);
    let case = Element::new("testcase")
        .attribute("name", &format!("{id} {}", text::rule(finding)))
        .attribute("classname", &text::line(&finding.file, 1_000))
        .attribute("file", &text::line(&finding.file, 1_000))
        .attribute("line", &first.to_string());
    let issue = text::line(&finding.issue, 500);
    let body = body(report, finding);
    let skipped =
        |why: &str| Element::new("skipped").attribute("message", &format!("{why}: {issue}"));
    case.child(match (finding.state, finding.severity) {
        (FindingState::Dismissed, _) => skipped("dismissed"),
        (FindingState::Suppressed, _) => skipped("suppressed"),
        (FindingState::Resolved, _) => skipped("resolved"),
        (FindingState::NotReviewed, _) => skipped("not looked at this time"),
        (_, Severity::Critical | Severity::High) => Element::new("failure")
            .attribute("message", &issue)
            .attribute("type", finding.severity.as_str())
            .text(&body),
        _ => Element::new("system-out").text(&body),
    })
}

fn body(report: &Report<'_>, finding: &Finding) -> String {
    let agents: Vec<&str> = finding.agents.iter().map(|agent| report.title(agent)).collect();
    let mut lines = vec![
        format!("{} {}", finding.severity.as_str(), text::place(finding)),
        text::block(&finding.issue, 2_000),
    ];
    if !finding.evidence.trim().is_empty() {
        lines.push(String::new());
        lines.push(text::block(&finding.evidence, 2_000));
    }
    if !finding.recommendation.trim().is_empty() {
        lines.push(String::new());
        lines.push(text::block(&finding.recommendation, 2_000));
    }
    if !agents.is_empty() {
        lines.push(String::new());
        lines.push(format!("seen by {}", text::line(&agents.join(", "), 300)));
    }
    lines.join("\n")
}

/// A file without findings: passed if somebody looked at all of it.
fn clean(file: &FileCoverage) -> Element {
    let path = text::line(&file.path, 1_000);
    let case =
        Element::new("testcase").attribute("name", "no findings").attribute("classname", &path);
    let seen = |state: CoverageState| file.agents.values().any(|other| *other == state);
    if seen(CoverageState::Reviewed) {
        case
    } else if seen(CoverageState::Partial) {
        case.child(Element::new("skipped").attribute("message", "looked at in part"))
    } else if seen(CoverageState::Read) {
        let message = "searched for secrets and hidden text alone";
        case.child(Element::new("skipped").attribute("message", message))
    } else if seen(CoverageState::Unreadable) {
        case.child(Element::new("skipped").attribute("message", "nobody can read it"))
    } else {
        // It is uncovered, which the verdict's case says, or an image, a font or media.
        case.child(Element::new("skipped").attribute("message", "no reviewer looked at it"))
    }
}

fn suite(name: &str, cases: Vec<Element>) -> Element {
    let suite = Element::new("testsuite").attribute("name", name);
    let count = |kind: &str| cases.iter().filter(|case| case.has_child(kind)).count();
    suite
        .attribute("tests", &cases.len().to_string())
        .attribute("failures", &count("failure").to_string())
        .attribute("errors", &count("error").to_string())
        .attribute("skipped", &count("skipped").to_string())
        .children(cases)
}

fn with_totals(root: Element, suites: &[Element]) -> Element {
    let total = |name: &str| {
        let counts = suites.iter().filter_map(|suite| suite.value(name)?.parse::<u64>().ok());
        counts.sum::<u64>().to_string()
    };
    let names = ["tests", "failures", "errors", "skipped"];
    names.into_iter().fold(root, |root, name| {
        let value = total(name);
        root.attribute(name, &value)
    })
}
