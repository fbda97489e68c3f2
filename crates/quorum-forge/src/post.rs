//! What is written to a pull or merge request, decided before anything is sent.
//!
//! Every comment carries a hidden marker with the fingerprint of its finding, and the summary
//! carries one of its own. What a host already shows is recognised by them, so that posting twice
//! changes nothing and a posting that broke off is finished by the next.

mod anchor;
mod body;
mod decide;

pub use anchor::Anchors;
pub use body::{FINDING_MARKER, SUMMARY_MARKER, fingerprint_in};
pub use decide::{Decision, Limits, decide};

use quorum_model::finding::Finding;

/// How a host writes a suggestion that the reader can apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `suggestion`, for the lines that the comment stands on.
    GitHub,
    /// `suggestion:-2+0`, counted from the line that the note stands on.
    GitLab,
}

/// What a host already shows of earlier postings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Posted {
    /// The one summary.
    pub summary: Option<Note>,
    /// Comments on lines.
    pub comments: Vec<PostedComment>,
    /// Comments that were written and not published yet, because a posting broke off.
    pub unpublished: bool,
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
    pub fingerprint: String,
    /// The file that it stands in.
    pub path: String,
}

/// A comment on lines of the diff, new side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The finding's fingerprint.
    pub fingerprint: String,
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
