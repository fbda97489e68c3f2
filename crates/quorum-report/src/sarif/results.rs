//! One result for each finding.

use std::collections::BTreeMap;

use quorum_model::finding::{Finding, FindingState, SuppressionKind, SuppressionStatus};

use super::ROOT;
use super::document::{
    ArtifactChange, ArtifactLocation, CodeFlow, Fix, Location, Message, PhysicalLocation,
    Properties, Region, Replacement, SarifResult, Suppression, ThreadFlow, ThreadFlowLocation,
};
use super::rules::{Rules, level};
use super::uri;
use crate::report::{Excerpt, Report};
use crate::text;

/// GitHub shows a hundred steps and takes a thousand.
const MOST_STEPS: usize = 100;

pub(super) fn result<'a>(
    report: &Report<'_>,
    finding: &'a Finding,
    agreed: bool,
    rules: &Rules,
) -> SarifResult<'a> {
    let kind = match finding.state {
        _ if !agreed => "review",
        FindingState::Resolved => "pass",
        FindingState::NotReviewed => "open",
        FindingState::New
        | FindingState::Persisting
        | FindingState::Dismissed
        | FindingState::Suppressed => "fail",
    };
    SarifResult {
        rule_id: text::rule(finding),
        rule_index: rules.index(finding),
        kind,
        // Only what failed has a level.
        level: if kind == "fail" { level(finding.severity) } else { "none" },
        message: message(finding),
        locations: vec![place(report, finding)],
        partial_fingerprints: BTreeMap::from([
            ("primaryLocationLineHash", finding.fingerprint.clone()),
            ("quorumFinding/v1", finding.fingerprint.clone()),
        ]),
        baseline_state: match finding.state {
            FindingState::New => Some("new"),
            FindingState::Persisting => Some("unchanged"),
            FindingState::Resolved => Some("absent"),
            FindingState::Dismissed | FindingState::Suppressed | FindingState::NotReviewed => None,
        },
        suppressions: suppression(finding).into_iter().collect(),
        code_flows: code_flow(finding).into_iter().collect(),
        fixes: fix(finding).into_iter().collect(),
        rank: rank(finding.confidence),
        properties: Properties::from([
            ("id", finding.id.as_str().into()),
            ("severity", finding.severity.as_str().into()),
            ("category", finding.category.as_str().into()),
            ("agents", finding.agents.clone().into()),
            ("corroboration", finding.corroboration.into()),
            ("confidence", finding.confidence.into()),
            ("state", text::state(finding.state).into()),
            ("references", finding.references.clone().into()),
        ]),
    }
}

fn suppression(finding: &Finding) -> Option<Suppression> {
    let Some(by) = &finding.suppression else {
        let dismissed = finding.state == FindingState::Dismissed;
        let justification = None;
        return dismissed.then_some(Suppression {
            kind: "external",
            status: "accepted",
            justification,
        });
    };
    let author = by.author.as_deref().map(|author| format!(" by {author}")).unwrap_or_default();
    let reason = if by.reason.is_empty() { "no reason is given" } else { &by.reason };
    let text = format!("{reason} ({}{author})", by.place);
    Some(Suppression {
        kind: match by.kind {
            SuppressionKind::InSource => "inSource",
            SuppressionKind::External => "external",
        },
        status: match by.status {
            SuppressionStatus::Accepted => "accepted",
            SuppressionStatus::UnderReview => "underReview",
        },
        justification: Some(text::block(&text, 1_000)),
    })
}

fn message(finding: &Finding) -> Message {
    let issue = text::block(&finding.issue, 2_000);
    let recommendation = text::block(&finding.recommendation, 2_000);
    let id = text::line(&finding.id, 60);
    if recommendation.trim().is_empty() {
        Message::foreign(&format!("{id}: {issue}"), 5_000)
    } else {
        Message::foreign(&format!("{id}: {issue}\n{recommendation}"), 5_000)
    }
}

fn place(report: &Report<'_>, finding: &Finding) -> Location {
    let (first, last) = text::lines(finding);
    let snippet = (!finding.evidence.trim().is_empty())
        .then(|| Message::plain(text::block(&finding.evidence, 2_000)));
    let context = report.excerpts.get(&finding.id).filter(|excerpt| !excerpt.lines.is_empty());
    Location {
        physical_location: PhysicalLocation {
            artifact_location: artifact(&finding.file),
            region: Region {
                start_line: first,
                end_line: Some(last),
                snippet,
                ..Region::default()
            },
            context_region: context.filter(|excerpt| surrounds(excerpt, first, last)).map(around),
        },
        message: None,
    }
}

/// The context of a region has to be more than the region.
fn surrounds(excerpt: &Excerpt, first: u64, last: u64) -> bool {
    let end = excerpt.start_line.saturating_add(excerpt.lines.len() as u64).saturating_sub(1);
    (excerpt.start_line < first && end >= last) || (excerpt.start_line <= first && end > last)
}

fn around(excerpt: &Excerpt) -> Region {
    let end = excerpt.start_line.saturating_add(excerpt.lines.len() as u64).saturating_sub(1);
    Region {
        start_line: excerpt.start_line.max(1),
        end_line: Some(end.max(1)),
        snippet: Some(Message::plain(text::block(&excerpt.lines.join("\n"), 4_000))),
        ..Region::default()
    }
}

fn artifact(path: &str) -> ArtifactLocation {
    ArtifactLocation { uri: uri::relative(path), uri_base_id: ROOT }
}

fn code_flow(finding: &Finding) -> Option<CodeFlow> {
    if finding.trace.is_empty() {
        return None;
    }
    let steps = finding.trace.iter().take(MOST_STEPS).map(|step| ThreadFlowLocation {
        location: Location {
            physical_location: PhysicalLocation {
                artifact_location: artifact(&step.file),
                region: Region { start_line: step.line.max(1), ..Region::default() },
                context_region: None,
            },
            message: Some(Message::foreign(&step.note, 500)),
        },
    });
    Some(CodeFlow { thread_flows: vec![ThreadFlow { locations: steps.collect() }] })
}

fn fix(finding: &Finding) -> Option<Fix> {
    let fix = text::replacement(finding)?;
    let (start_line, last) = text::replaced(fix);
    let replacement = Replacement {
        deleted_region: Region {
            start_line,
            start_column: Some(1),
            end_line: Some(last.saturating_add(1)),
            end_column: Some(1),
            snippet: None,
        },
        inserted_content: Message::plain(text::with_line_end(&fix.text)),
    };
    let change = ArtifactChange {
        artifact_location: artifact(&finding.file),
        replacements: vec![replacement],
    };
    let description = Message::foreign(&finding.recommendation, 1_000);
    Some(Fix { description, artifact_changes: vec![change] })
}

/// 0 to 100; what is no number has no rank.
fn rank(confidence: f64) -> f64 {
    if confidence.is_finite() { (confidence * 100.0).clamp(0.0, 100.0) } else { -1.0 }
}
