//! From a result and what the host shows to what is to be written.

use std::collections::BTreeSet;

use quorum_model::coverage::CoverageState;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::result::ReviewResult;

use super::anchor::Anchors;
use super::body;
use super::{Amendment, Comment, Dialect, Posted};

/// How much is written.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Comments on lines in one posting; what is left is in the summary.
    pub comments: usize,
    /// Characters of one comment.
    pub characters: usize,
    /// How suggestions are written.
    pub dialect: Dialect,
}

impl Limits {
    /// For a host.
    pub fn of(dialect: Dialect) -> Self {
        // GitHub takes 65,536 characters; what is near that nobody reads.
        Self { comments: 40, characters: 20_000, dialect }
    }
}

/// What is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// New comments on lines, worst first.
    pub comments: Vec<Comment>,
    /// Comments that change because their finding is gone, or back.
    pub amendments: Vec<Amendment>,
    /// Ids of findings without a place in the diff, or too many for comments.
    pub in_summary_only: Vec<String>,
}

/// Decides what to write about `result`, given the lines that the diff shows and what the host
/// shows already.
pub fn decide(
    result: &ReviewResult,
    anchors: &Anchors,
    posted: &Posted,
    limits: Limits,
) -> Decision {
    let mut decision = Decision::default();
    let shown: BTreeSet<&str> =
        posted.comments.iter().map(|comment| comment.fingerprint.as_str()).collect();
    let mut findings: Vec<&Finding> = result.findings.iter().filter(|f| is_open(f)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut open = BTreeSet::new();
    for finding in findings {
        let first = open.insert(finding.fingerprint.as_str());
        if !first || shown.contains(finding.fingerprint.as_str()) {
            continue;
        }
        let place = anchors.place(&finding.file, finding.line, finding.end_line);
        match place.filter(|_| decision.comments.len() < limits.comments) {
            Some(place) => {
                // A suggestion replaces exactly the lines that its comment stands on.
                let exact = finding.replacement.as_ref().filter(|replacement| {
                    let (first, last) = (replacement.start_line, replacement.end_line);
                    anchors.shows(&finding.file, first, last)
                });
                let (start_line, line) = exact.map_or((place.start_line, place.line), |exact| {
                    (exact.start_line, exact.end_line)
                });
                let mut text = body::comment(finding, exact.map(|_| limits.dialect));
                if text.chars().count() > limits.characters {
                    text = body::comment(finding, None);
                }
                decision.comments.push(Comment {
                    fingerprint: finding.fingerprint.clone(),
                    path: finding.file.clone(),
                    old_path: place.old_path,
                    start_line,
                    line,
                    old_line: place.old_line,
                    body: cut(text, limits.characters, &finding.fingerprint),
                });
            }
            None => decision.in_summary_only.push(finding.id.clone()),
        }
    }
    for comment in &posted.comments {
        let text = &comment.note.body;
        let amended = if open.contains(comment.fingerprint.as_str()) {
            body::reopened(text)
        } else if was_reviewed(result, &comment.path) {
            body::resolved(text)
        } else {
            None
        };
        if let Some(body) = amended {
            decision.amendments.push(Amendment { id: comment.note.id.clone(), body });
        }
    }
    decision
}

fn is_open(finding: &Finding) -> bool {
    !matches!(
        finding.state,
        FindingState::Resolved
            | FindingState::Dismissed
            | FindingState::Suppressed
            | FindingState::NotReviewed
    )
}

/// A finding that nobody looked for this time is not gone; one whose file left the change is.
fn was_reviewed(result: &ReviewResult, path: &str) -> bool {
    let row = result.coverage.files.iter().find(|row| row.path == path);
    row.is_none_or(|row| {
        // Whoever only searched it for secrets says nothing about other findings.
        let silent = [CoverageState::OutOfDomain, CoverageState::Read];
        let mut mine = row.agents.values().filter(|state| !silent.contains(state)).peekable();
        mine.peek().is_some() && mine.all(|state| *state == CoverageState::Reviewed)
    })
}

/// Cuts a long text; the marker at its end stays.
fn cut(text: String, most: usize, fingerprint: &str) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}…\n\n(cut)\n\n{}{fingerprint} -->", body::FINDING_MARKER)
}

#[cfg(test)]
mod tests {
    use quorum_model::finding::Replacement;
    use quorum_model::severity::Severity;

    use super::*;
    use crate::post::{Note, PostedComment};
    use crate::tests::support::{finding, result};

    fn anchors() -> Anchors {
        let mut anchors = Anchors::default();
        anchors.add("a.go", "a.go", (10, 10), b" one\n+two\n+three\n four\n");
        anchors
    }

    fn posted(fingerprint: &str, body: &str) -> Posted {
        let note = Note { id: "7".to_owned(), body: body.to_owned() };
        let comment =
            PostedComment { note, fingerprint: fingerprint.to_owned(), path: "a.go".to_owned() };
        Posted { comments: vec![comment], ..Posted::default() }
    }

    #[test]
    fn a_finding_on_a_line_of_the_diff_becomes_a_comment_and_any_other_does_not() {
        let result = result(&[
            finding("a", "a.go", 11, Severity::High),
            finding("b", "a.go", 90, Severity::Low),
        ]);
        let decision = decide(&result, &anchors(), &Posted::default(), Limits::of(Dialect::GitHub));
        assert_eq!(decision.comments.len(), 1);
        assert_eq!(decision.comments[0].line, 11);
        assert_eq!(decision.in_summary_only, [result.findings[1].id.clone()]);
    }

    #[test]
    fn what_is_posted_is_not_posted_again() {
        let result = result(&[finding("a", "a.go", 11, Severity::High)]);
        let decision =
            decide(&result, &anchors(), &posted("a", "text"), Limits::of(Dialect::GitHub));
        assert_eq!(decision, Decision::default());
    }

    #[test]
    fn a_finding_that_is_gone_is_marked_and_comes_back() {
        let gone =
            decide(&result(&[]), &anchors(), &posted("a", "text"), Limits::of(Dialect::GitHub));
        assert_eq!(gone.amendments.len(), 1);
        let body = &gone.amendments[0].body;
        let again =
            decide(&result(&[]), &anchors(), &posted("a", body), Limits::of(Dialect::GitHub));
        assert_eq!(again, Decision::default());
        let result = result(&[finding("a", "a.go", 11, Severity::High)]);
        let back = decide(&result, &anchors(), &posted("a", body), Limits::of(Dialect::GitHub));
        assert_eq!(back.amendments[0].body, "text");
    }

    #[test]
    fn a_suggestion_stands_on_exactly_the_lines_that_it_replaces() {
        let mut found = finding("a", "a.go", 11, Severity::High);
        let replacement = |start_line, end_line| {
            Some(Replacement { start_line, end_line, text: "fixed".to_owned() })
        };
        found.replacement = replacement(11, 12);
        let decision = decide(
            &result(&[found.clone()]),
            &anchors(),
            &Posted::default(),
            Limits::of(Dialect::GitHub),
        );
        let comment = &decision.comments[0];
        assert_eq!((comment.start_line, comment.line), (11, 12));
        assert!(comment.body.contains("```suggestion\nfixed\n```"));
        // Lines that the diff does not show cannot be replaced from a comment.
        found.replacement = replacement(11, 80);
        let decision =
            decide(&result(&[found]), &anchors(), &Posted::default(), Limits::of(Dialect::GitHub));
        assert!(!decision.comments[0].body.contains("suggestion"));
    }

    #[test]
    fn the_worst_findings_get_the_comments() {
        let result = result(&[
            finding("a", "a.go", 11, Severity::Low),
            finding("b", "a.go", 12, Severity::Critical),
        ]);
        let limits = Limits { comments: 1, ..Limits::of(Dialect::GitHub) };
        let decision = decide(&result, &anchors(), &Posted::default(), limits);
        assert_eq!(decision.comments[0].fingerprint, "b");
        assert_eq!(decision.in_summary_only.len(), 1);
    }
}
