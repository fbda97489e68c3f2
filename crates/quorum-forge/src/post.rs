//! What is written to a pull or merge request, decided before anything is sent.
//!
//! Every comment carries a hidden marker with a record of its finding, and the summary carries the
//! records of findings without a comment. What a host already shows is recognised by them, so that
//! posting twice changes nothing, a posting that broke off is finished by the next, and a runner that
//! starts from a fresh clone knows what the reviews before it found. Only markers in comments of the
//! posting account count: in anybody else's text they are data.

mod anchor;
mod body;
mod command;
mod decide;
mod marker;
mod pages;

pub use anchor::Anchors;
pub use command::{Command, DISMISS, commands};
pub use decide::{Decision, Limits, Stand, decide};
pub use marker::{PAGE_MARKER, SUMMARY_MARKER, finding_in, state_in};
pub use pages::{Pages, paginate};

use quorum_model::finding::Finding;
use quorum_model::record::{FindingRecord, PullRequestState};

/// How a host writes a suggestion that the reader can apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `suggestion`, for the lines that the comment stands on.
    GitHub,
    /// `suggestion:-2+0`, counted from the line that the note stands on.
    GitLab,
}

/// What a host already shows of earlier postings by one account, and what people say to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Posted {
    /// The one summary.
    pub summary: Option<Note>,
    /// Comments that continue the summary's memory.
    pub pages: Vec<Note>,
    /// Comments on lines.
    pub comments: Vec<PostedComment>,
    /// Comments that were written and not published yet, because a posting broke off.
    pub unpublished: bool,
    /// What other accounts wrote that speaks to Quorum, in the order in which it was written.
    pub remarks: Vec<Remark>,
    /// What could not be read of it, in words.
    pub problems: Vec<String>,
}

impl Posted {
    /// What the pull request remembers of its findings. Of two records with one id, the comment's
    /// own counts.
    pub fn state(&self) -> PullRequestState {
        let mut state = PullRequestState::default();
        let own = self.comments.iter().map(|comment| &comment.record);
        for record in own {
            add(&mut state.records, record.clone());
        }
        let notes = self.summary.iter().chain(&self.pages);
        for kept in notes.filter_map(|note| state_in(&note.body)) {
            for (prefix, number) in kept.last {
                let known = state.last.entry(prefix).or_default();
                *known = number.max(*known);
            }
            for record in kept.records {
                add(&mut state.records, record);
            }
        }
        state.last = state.last_numbers();
        state
    }

    /// Takes a note of the posting account, where it is the summary or continues it.
    pub(crate) fn take(&mut self, note: Note) {
        if note.body.contains(PAGE_MARKER) {
            self.pages.push(note);
        } else if self.summary.is_none() && note.body.contains(SUMMARY_MARKER) {
            self.summary = Some(note);
        }
    }
}

fn add(records: &mut Vec<FindingRecord>, record: FindingRecord) {
    if records.iter().all(|known| known.id != record.id) {
        records.push(record);
    }
}

/// A text on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The host's id for it.
    pub id: String,
    /// Its text.
    pub body: String,
}

/// A comment on a line that an earlier posting made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedComment {
    /// The text.
    pub note: Note,
    /// The finding that it is about.
    pub record: FindingRecord,
    /// The discussion that it opened, where the host says which.
    pub thread: Option<Thread>,
}

/// A discussion of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The host's id for it.
    pub id: String,
    /// Whether it is closed.
    pub resolved: bool,
}

/// What somebody wrote that speaks to Quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Who.
    pub author: Person,
    /// The text.
    pub text: String,
    /// Its page, or another name for it that people understand.
    pub place: String,
    /// When it was written, RFC 3339 as the host gives it.
    pub at: String,
}

/// An account on a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Person {
    /// The name.
    pub login: String,
    /// The host's number for it.
    pub id: u64,
    /// Whether the host calls it a program.
    pub is_program: bool,
}

/// A comment on lines of the diff, new side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The finding, as the pull request is to remember it.
    pub record: FindingRecord,
    /// The file.
    pub path: String,
    /// Where the file was before, as the diff has it.
    pub old_path: String,
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub line: u64,
    /// The number of the last line before the change, where the change does not touch it.
    pub old_line: Option<u64>,
    /// The text.
    pub body: String,
}

/// A discussion that is to be closed or opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The discussion.
    pub thread: String,
    /// Whether it is to be closed.
    pub resolved: bool,
}

/// A comment whose text is to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amendment {
    /// The comment on the host.
    pub id: String,
    /// The new text.
    pub body: String,
}

/// The light beside the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Light {
    /// Whether the change may be merged.
    pub passed: bool,
    /// One line.
    pub title: String,
    /// Markdown.
    pub summary: String,
    /// Findings to mark in the diff, worst first.
    pub annotations: Vec<Annotation>,
}

/// A mark beside a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file.
    pub path: String,
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// Whether it fails the review.
    pub failure: bool,
    /// A heading.
    pub title: String,
    /// The text.
    pub message: String,
}

/// A request that a rehearsal did not send.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsed {
    /// The method.
    pub method: String,
    /// The address.
    pub url: String,
    /// The body.
    pub body: serde_json::Value,
}

/// The first sentence of what is wrong, as a heading.
pub(crate) fn title(finding: &Finding) -> String {
    let issue = finding.issue.trim();
    let end = issue.find(". ").or_else(|| issue.find('\n')).unwrap_or(issue.len());
    let sentence = issue.get(..end).unwrap_or(issue).trim_end_matches('.');
    if sentence.chars().count() <= 120 {
        return sentence.to_owned();
    }
    let cut: String = sentence.chars().take(119).collect();
    format!("{cut}…")
}
