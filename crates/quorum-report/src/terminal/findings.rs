//! The findings, worst first.

use quorum_model::finding::{Finding, FindingState};
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;

use super::{BOLD, DIM, HINT, Page, style_of, text};

/// Findings that are shown of one severity; the others are in the full report.
const SHOWN: usize = 25;
/// Lines of code in one excerpt.
const EXCERPT: usize = 5;
/// Lines that a text may take.
const LINES: usize = 6;
/// Steps of one trace.
const STEPS: usize = 8;
/// Other findings that one points to.
const LINKS: usize = 3;

pub(super) fn write(page: &mut Page, result: &ReviewResult) {
    for severity in Severity::WORST_FIRST {
        let findings: Vec<&Finding> =
            result.findings.iter().filter(|finding| finding.severity == severity).collect();
        section(page, name_of(severity), severity, &findings, severity > Severity::Low);
    }
    let rest: Vec<&Finding> = result.not_agreed.iter().collect();
    section(page, "Not agreed", Severity::Low, &rest, false);
    let states = [
        ("Open, not reviewed this time", FindingState::NotReviewed),
        ("Resolved", FindingState::Resolved),
        ("Suppressed", FindingState::Suppressed),
        ("Dismissed", FindingState::Dismissed),
    ];
    for (name, state) in states {
        let apart = result.history.iter().chain(&result.suppressed);
        let apart: Vec<&Finding> = apart.filter(|finding| finding.state == state).collect();
        section(page, name, Severity::Low, &apart, false);
    }
}

fn name_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "Critical",
        Severity::High => "High",
        Severity::Medium => "Medium",
        Severity::Low => "Low",
    }
}

fn section(page: &mut Page, name: &str, severity: Severity, findings: &[&Finding], full: bool) {
    if findings.is_empty() {
        return;
    }
    page.gap();
    let heading = format!("{name} ({}):", findings.len());
    page.line(&page.paint(style_of(severity), &heading));
    for finding in findings.iter().take(SHOWN) {
        if full {
            page.gap();
            in_full(page, finding);
        } else {
            in_short(page, finding);
        }
    }
    if let Some(more) = findings.len().checked_sub(SHOWN + 1) {
        page.line(&format!("  and {} more in the full report", more + 1));
    }
}

fn in_short(page: &mut Page, finding: &Finding) {
    let lead = format!("  {}  ", page.paint(BOLD, &text::line(&finding.id, 12, "")));
    let width = text::width(&finding.id).min(12) + 4;
    let room = page.width - width;
    let mut lines = text::wrap(title(&finding.issue), room, 2, page.ellipsis());
    // The place is never what gives way.
    let place = format!("({})", text::path(&place(finding), room - 2, page.ellipsis()));
    match lines.last_mut() {
        Some(last) if text::width(last) + 1 + text::width(&place) <= room => {
            last.push(' ');
            last.push_str(&place);
        }
        _ => lines.push(place),
    }
    for (number, line) in lines.iter().enumerate() {
        let lead = if number == 0 { lead.clone() } else { " ".repeat(width) };
        page.line(&format!("{lead}{line}"));
    }
    if matches!(finding.state, FindingState::Suppressed | FindingState::Dismissed) {
        page.paragraph(&" ".repeat(width), &crate::text::set_aside(finding), 2);
    }
    if let Some(refutation) = &finding.refutation {
        let lead = format!("{}Refuted by ", " ".repeat(width));
        page.paragraph(&lead, &format!("{}: {}", refutation.by, refutation.reason), 2);
    }
}

fn in_full(page: &mut Page, finding: &Finding) {
    let id = page.paint(BOLD, &text::line(&finding.id, 12, ""));
    let width = text::width(&finding.id).min(12) + 4;
    let lines = text::wrap(&finding.issue, page.width - width, LINES, page.ellipsis());
    for (number, line) in lines.iter().enumerate() {
        let lead = if number == 0 { format!("  {id}  ") } else { " ".repeat(width) };
        page.line(&format!("{lead}{line}"));
    }
    page.line(&format!("    {}", location(page, finding)));
    excerpt(page, finding);
    trace(page, finding);
    for fix in finding.recommendation.lines().filter(|line| !line.trim().is_empty()).take(3) {
        page.paragraph("    Fix: ", fix, LINES);
    }
    page.paragraph("    Seen by ", &who(finding), 3);
    if finding.suppression.is_some() {
        let by = crate::text::set_aside(finding);
        page.paragraph("    Suppressed after the merge: ", &by, 2);
    }
    if let Some(gate) = &finding.refuted_by {
        page.paragraph("    ", &format!("The gate {gate} passed, which speaks against it"), 2);
    }
    let links = [("Same place", &finding.same_place), ("Same issue", &finding.same_issue)];
    for (name, ids) in links.into_iter().filter(|(_, ids)| !ids.is_empty()) {
        let named = ids.iter().take(LINKS).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = ids.len().checked_sub(LINKS + 1).map(|more| format!(" and {} more", more + 1));
        page.paragraph("    ", &format!("{name}: {named}{}", more.unwrap_or_default()), 1);
    }
}

/// `file:line` by itself, so that terminals make a link of it, and what sort of defect it is.
fn location(page: &Page, finding: &Finding) -> String {
    let place = text::path(&place(finding), page.width - 4, page.ellipsis());
    let mut facts: Vec<&str> = vec![&finding.category];
    facts.extend(finding.cwe.as_deref());
    facts.extend(finding.rule.as_deref());
    facts.extend(match finding.state {
        FindingState::Persisting => Some("seen before"),
        FindingState::Dismissed => Some("dismissed"),
        FindingState::Suppressed => Some("suppressed"),
        FindingState::New | FindingState::Resolved | FindingState::NotReviewed => None,
    });
    let facts: Vec<&str> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let room = page.width.saturating_sub(4 + text::width(&place) + 2);
    let facts = format!("({})", facts.join(", "));
    let painted = page.paint(HINT, &place);
    if room < 12 {
        return painted;
    }
    format!("{painted} {}", page.paint(DIM, &text::line(&facts, room, page.ellipsis())))
}

fn excerpt(page: &mut Page, finding: &Finding) {
    let evidence = finding.evidence.trim_matches(['\n', '\r']);
    if evidence.trim().is_empty() {
        return;
    }
    let lines: Vec<&str> = evidence.lines().take(EXCERPT + 1).collect();
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let digits = (finding.line + EXCERPT as u64).to_string().len();
    let bar = page.sign("│", "|");
    let room = page.width - (4 + digits + 3);
    for (number, line) in lines.iter().take(EXCERPT).enumerate() {
        let shown = text::code(line.get(indent..).unwrap_or(line), room, page.ellipsis());
        let label = match finding.line {
            0 => String::new(),
            first => (first + number as u64).to_string(),
        };
        let gutter = page.paint(DIM, &format!("{label:>digits$} {bar}"));
        page.line(&format!("    {gutter} {shown}"));
        if lines.len() == 1 {
            let carets = "^".repeat(text::width(shown.trim()).max(1));
            let gutter = page.paint(DIM, &format!("{:>digits$} {bar}", ""));
            page.line(&format!("    {gutter} {}", page.paint(style_of(finding.severity), &carets)));
        }
    }
    if lines.len() > EXCERPT {
        let gutter = page.paint(DIM, &format!("{:>digits$} {bar}", ""));
        page.line(&format!("    {gutter} {}", page.ellipsis()));
    }
}

fn trace(page: &mut Page, finding: &Finding) {
    for (number, step) in finding.trace.iter().take(STEPS).enumerate() {
        let lead = format!("    {}. ", number + 1);
        page.paragraph(&lead, &format!("{}:{} {}", step.file, step.line, step.note), 2);
    }
}

/// Who saw it, out of how many, and how sure the one is who decides.
fn who(finding: &Finding) -> String {
    let agents = finding.agents.join(", ");
    let (saw, shown) = (finding.corroboration, finding.covered_by);
    let mut parts = match shown {
        0 | 1 => vec![agents],
        _ => vec![format!("{agents} ({saw} of {shown} shown the place)")],
    };
    let reactions = [("confirmed", &finding.confirmed_by), ("disputed", &finding.disputed_by)];
    for (verb, agents) in reactions.into_iter().filter(|(_, agents)| !agents.is_empty()) {
        parts.push(format!("{verb} by {}", agents.join(", ")));
    }
    if let Some(refutation) = &finding.refutation {
        parts.push(format!("refuted by {}: {}", refutation.by, refutation.reason));
    }
    parts.push(format!("confidence {:.2}", finding.confidence));
    let positions = &finding.positions;
    if positions.iter().any(|position| position.severity != finding.severity) {
        parts.extend(positions.iter().map(|p| format!("{} says {}", p.agent, p.severity.as_str())));
    }
    parts.join("; ")
}

fn place(finding: &Finding) -> String {
    if finding.line == 0 {
        finding.file.clone()
    } else {
        format!("{}:{}", finding.file, finding.line)
    }
}

/// The first sentence.
fn title(issue: &str) -> &str {
    let line = issue.trim().lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..end]).trim_end_matches('.')
}
