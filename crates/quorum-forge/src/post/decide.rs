//! From where findings stand and what the host shows to what is to be written.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::Finding;
use quorum_model::record::{FindingRecord, PullRequestState, RecordStatus};

use super::anchor::Anchors;
use super::{Amendment, Comment, Dialect, Posted, Settlement};
use super::{body, marker};

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

/// A finding that the review can say something about, and what is to be remembered of it.
#[derive(Clone, Debug)]
pub struct Stand<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// What is to be remembered; its state is the finding's.
    pub record: FindingRecord,
}

/// What is to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// New comments on lines, worst first.
    pub comments: Vec<Comment>,
    /// Comments that change because their finding does.
    pub amendments: Vec<Amendment>,
    /// Discussions to close or to open again.
    pub settlements: Vec<Settlement>,
    /// Ids of open findings without a place in the diff, or too many for comments.
    pub in_summary_only: Vec<String>,
    /// What the summary is to remember: everything that has no comment.
    pub state: PullRequestState,
}

impl Decision {
    /// The host does not take a comment: its finding is the summary's.
    pub fn refused(&mut self, comment: usize) {
        if let Some(comment) = self.comments.get(comment) {
            self.in_summary_only.push(comment.record.id.clone());
            self.state.records.push(comment.record.clone());
        }
    }
}

/// Decides what to write about findings, given the lines that the diff shows and what the host shows
/// already. What the host remembers and the review says nothing about stays as it is.
pub fn decide(
    stands: &[Stand<'_>],
    anchors: &Anchors,
    posted: &Posted,
    limits: Limits,
) -> Decision {
    let by_id: BTreeMap<&str, &Stand<'_>> =
        stands.iter().map(|stand| (stand.record.id.as_str(), stand)).collect();
    let mut decision = Decision::default();
    let commented: BTreeSet<&str> =
        posted.comments.iter().map(|comment| comment.record.id.as_str()).collect();
    let before = posted.state();
    let mut new: Vec<&Stand<'_>> = stands.iter().filter(|stand| is_open(stand)).collect();
    new.retain(|stand| !commented.contains(stand.record.id.as_str()));
    new.sort_by_key(|stand| std::cmp::Reverse(stand.finding.severity));
    let mut with_comment = commented;
    for stand in new {
        let finding = stand.finding;
        let room = decision.comments.len() < limits.comments;
        let comment = room.then(|| comment(stand, anchors, limits)).flatten();
        match comment {
            Some(comment) => {
                with_comment.insert(stand.record.id.as_str());
                decision.comments.push(comment);
            }
            None => decision.in_summary_only.push(finding.id.clone()),
        }
    }
    for comment in &posted.comments {
        let stand = by_id.get(comment.record.id.as_str());
        let record = stand.map_or(&comment.record, |stand| &stand.record);
        let body = amended(&comment.note.body, &comment.record, record, stand.copied(), limits);
        if body != comment.note.body {
            decision.amendments.push(Amendment { id: comment.note.id.clone(), body });
        }
        let resolved = record.status != RecordStatus::Open;
        if let Some(thread) = comment.thread.as_ref().filter(|one| one.resolved != resolved) {
            decision.settlements.push(Settlement { thread: thread.id.clone(), resolved });
        }
    }
    let kept = before.records.iter().filter(|record| !by_id.contains_key(record.id.as_str()));
    let all = stands.iter().map(|stand| &stand.record).chain(kept);
    let without = all.filter(|record| !with_comment.contains(record.id.as_str()));
    decision.state.records = without.cloned().collect();
    decision.state.records.sort_by(|a, b| {
        let order = |one: &FindingRecord| (one.status, std::cmp::Reverse(one.severity));
        order(a).cmp(&order(b)).then_with(|| a.id.cmp(&b.id))
    });
    let records = stands.iter().map(|stand| stand.record.clone());
    let everything = PullRequestState { records: records.collect(), last: before.last };
    decision.state.last = everything.last_numbers();
    decision
}

fn is_open(stand: &Stand<'_>) -> bool {
    stand.record.status == RecordStatus::Open
}

/// A comment on a finding, where the diff shows its lines.
fn comment(stand: &Stand<'_>, anchors: &Anchors, limits: Limits) -> Option<Comment> {
    let finding = stand.finding;
    let place = anchors.place(&finding.file, finding.line, finding.end_line)?;
    // A suggestion replaces exactly the lines that its comment stands on.
    let exact = finding.replacement.as_ref().filter(|replacement| {
        anchors.shows(&finding.file, replacement.start_line, replacement.end_line)
    });
    let (start_line, line) =
        exact.map_or((place.start_line, place.line), |exact| (exact.start_line, exact.end_line));
    let mut text = body::comment(finding, exact.map(|_| limits.dialect));
    if text.chars().count() > limits.characters {
        text = body::comment(finding, None);
    }
    Some(Comment {
        record: stand.record.clone(),
        path: finding.file.clone(),
        old_path: place.old_path,
        start_line,
        line,
        old_line: place.old_line,
        body: marked(&cut(text, limits.characters), &stand.record),
    })
}

/// The text of a comment that is there, for what its finding is now.
fn amended(
    body: &str,
    before: &FindingRecord,
    now: &FindingRecord,
    stand: Option<&Stand<'_>>,
    limits: Limits,
) -> String {
    let finding = stand.map(|stand| stand.finding);
    let said_anew = (&before.severity, &before.title) != (&now.severity, &now.title);
    let rendered = finding.filter(|_| said_anew && now.status == RecordStatus::Open);
    // A suggestion is for the lines that the comment was written on, which may be others now.
    let rendered = rendered.map(|finding| cut(body::comment(finding, None), limits.characters));
    let core = rendered.unwrap_or_else(|| body::core(body).to_owned());
    if stand.is_none() && before == now {
        return body.to_owned();
    }
    marked(&body::in_state(&core, now.status, finding), now)
}

fn marked(text: &str, record: &FindingRecord) -> String {
    format!("{text}\n\n{}", marker::of_finding(record))
}

fn cut(text: String, most: usize) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}…\n\n(cut)")
}

#[cfg(test)]
mod tests {
    use quorum_model::finding::Replacement;
    use quorum_model::severity::Severity;

    use super::*;
    use crate::post::{Note, PostedComment, Thread};
    use crate::tests::support::{finding, record};

    fn anchors() -> Anchors {
        let mut anchors = Anchors::default();
        anchors.add("a.go", "a.go", (10, 10), b" one\n+two\n+three\n four\n");
        anchors
    }

    fn stand(finding: &Finding, status: RecordStatus) -> Stand<'_> {
        let record = FindingRecord {
            status,
            line: finding.line,
            severity: finding.severity,
            ..record(&finding.id, &finding.file)
        };
        Stand { finding, record }
    }

    /// What the host shows after `decision` was carried out.
    fn after(decision: &Decision, mut posted: Posted) -> Posted {
        for (number, comment) in decision.comments.iter().enumerate() {
            let note = Note { id: format!("c{number}"), body: comment.body.clone() };
            let thread = Some(Thread { id: format!("t{number}"), resolved: false });
            let record = marker::finding_in(&comment.body).expect("a record");
            posted.comments.push(PostedComment { note, record, thread });
        }
        for amendment in &decision.amendments {
            let comment = posted.comments.iter_mut().find(|c| c.note.id == amendment.id).unwrap();
            comment.note.body.clone_from(&amendment.body);
            comment.record = marker::finding_in(&amendment.body).expect("a record");
        }
        for settlement in &decision.settlements {
            let threads = posted.comments.iter_mut().filter_map(|c| c.thread.as_mut());
            for thread in threads.filter(|thread| thread.id == settlement.thread) {
                thread.resolved = settlement.resolved;
            }
        }
        let body = marker::of_state(&decision.state);
        posted.summary = Some(Note { id: "s".to_owned(), body });
        posted
    }

    fn go(stands: &[Stand<'_>], posted: &Posted) -> Decision {
        decide(stands, &anchors(), posted, Limits::of(Dialect::GitHub))
    }

    #[test]
    fn a_finding_on_a_line_of_the_diff_becomes_a_comment_and_any_other_does_not() {
        let (a, b) =
            (finding("a", "a.go", 11, Severity::High), finding("b", "a.go", 90, Severity::Low));
        let stands = [stand(&a, RecordStatus::Open), stand(&b, RecordStatus::Open)];
        let decision = go(&stands, &Posted::default());
        assert_eq!(decision.comments.len(), 1);
        assert_eq!(decision.comments[0].line, 11);
        assert_eq!(decision.in_summary_only, std::slice::from_ref(&b.id));
        assert_eq!(decision.state.records, std::slice::from_ref(&stands[1].record));
    }

    #[test]
    fn what_is_posted_is_not_posted_again() {
        let a = finding("a", "a.go", 11, Severity::High);
        let b = finding("b", "a.go", 90, Severity::Low);
        let stands = [stand(&a, RecordStatus::Open), stand(&b, RecordStatus::Open)];
        let posted = after(&go(&stands, &Posted::default()), Posted::default());
        let again = go(&stands, &posted);
        assert!(again.comments.is_empty() && again.amendments.is_empty(), "{again:?}");
        assert!(again.settlements.is_empty());
    }

    #[test]
    fn a_finding_that_is_gone_is_closed_and_one_that_is_back_is_opened() {
        let a = finding("a", "a.go", 11, Severity::High);
        let open = [stand(&a, RecordStatus::Open)];
        let posted = after(&go(&open, &Posted::default()), Posted::default());
        let text = posted.comments[0].note.body.clone();
        for status in [RecordStatus::Resolved, RecordStatus::Dismissed, RecordStatus::Suppressed] {
            let closed = after(&go(&[stand(&a, status)], &posted), posted.clone());
            assert!(closed.comments[0].thread.as_ref().unwrap().resolved);
            assert_eq!(closed.comments[0].record.status, status);
            assert!(closed.comments[0].note.body.starts_with("**"), "{status:?}");
            // A review that says nothing about it changes nothing.
            assert_eq!(go(&[], &closed).amendments, []);
            let back = after(&go(&open, &closed), closed);
            assert_eq!(back.comments[0].note.body, text);
            assert!(!back.comments[0].thread.as_ref().unwrap().resolved);
        }
    }

    #[test]
    fn a_discussion_that_a_person_closed_is_opened_while_its_finding_stands() {
        let a = finding("a", "a.go", 11, Severity::High);
        let open = [stand(&a, RecordStatus::Open)];
        let mut posted = after(&go(&open, &Posted::default()), Posted::default());
        posted.comments[0].thread.as_mut().unwrap().resolved = true;
        let again = go(&open, &posted);
        assert_eq!(again.settlements.len(), 1);
        assert!(!again.settlements[0].resolved);
    }

    #[test]
    fn what_the_review_says_nothing_about_is_still_remembered() {
        let b = finding("b", "a.go", 90, Severity::Low);
        let posted =
            after(&go(&[stand(&b, RecordStatus::Resolved)], &Posted::default()), Posted::default());
        let next = go(&[], &posted);
        assert_eq!(next.state.records.len(), 1);
        assert_eq!(next.state.last, posted.state().last);
    }

    #[test]
    fn a_suggestion_stands_on_exactly_the_lines_that_it_replaces() {
        let mut found = finding("a", "a.go", 11, Severity::High);
        let replacement = |start_line, end_line| {
            Some(Replacement { start_line, end_line, text: "fixed".to_owned() })
        };
        found.replacement = replacement(11, 12);
        let decision = go(&[stand(&found, RecordStatus::Open)], &Posted::default());
        let comment = &decision.comments[0];
        assert_eq!((comment.start_line, comment.line), (11, 12));
        assert!(comment.body.contains("```suggestion\nfixed\n```"));
        // Lines that the diff does not show cannot be replaced from a comment.
        found.replacement = replacement(11, 80);
        let decision = go(&[stand(&found, RecordStatus::Open)], &Posted::default());
        assert!(!decision.comments[0].body.contains("suggestion"));
    }

    #[test]
    fn the_worst_findings_get_the_comments() {
        let (a, b) =
            (finding("a", "a.go", 11, Severity::Low), finding("b", "a.go", 12, Severity::Critical));
        let limits = Limits { comments: 1, ..Limits::of(Dialect::GitHub) };
        let stands = [stand(&a, RecordStatus::Open), stand(&b, RecordStatus::Open)];
        let decision = decide(&stands, &anchors(), &Posted::default(), limits);
        assert_eq!(decision.comments[0].record.id, b.id);
        assert_eq!(decision.in_summary_only.len(), 1);
    }
}
