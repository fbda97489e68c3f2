//! Pull and merge requests on code hosts: what they say about themselves, and their diff.
//!
//! The interface is blocking: a small runtime runs inside, so nothing here may be called from
//! within an asynchronous task. The environment comes in as a function, because only the command
//! line reads the real one.
//!
//! What a host answers is data from strangers. The commit names in a [`PullRequest`] are checked
//! to be commit names; everything else in it is text as somebody typed it.

mod address;
mod connect;
mod credential;
mod download;
mod error;
mod github;
mod gitlab;
mod hint;
mod http;
mod patch;
pub mod post;
mod quote;
mod remote;
mod repository;
mod status;
#[cfg(test)]
mod tests;

use std::fmt;

use post::{Amendment, Comment, Dialect, Light, Note, Person, Posted, Rehearsed, Settlement};

pub use connect::connect;
pub use download::{DownloadError, download};
pub use error::{Access, ForgeError, Peer, Reset};

/// A code host, seen from one repository.
pub trait Forge: Write {
    /// What the host knows about a pull or merge request.
    fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeError>;

    /// What it changes, as text that `git diff` could have written.
    fn diff(&self, number: u64) -> Result<PullRequestDiff, ForgeError>;
}

/// The half of the conversation that leaves something there.
pub trait Write: fmt::Debug {
    /// How it writes suggestions.
    fn dialect(&self) -> Dialect;

    /// The account that the token belongs to, by the host's own word.
    fn account(&self) -> Result<String, ForgeError>;

    /// What earlier postings by `account` left there, and what others say to them.
    fn posted(&self, number: u64, account: &str) -> Result<Posted, ForgeError>;

    /// Whether somebody may write to the repository.
    fn may_write(&self, person: &Person) -> Result<bool, ForgeError>;

    /// Writes comments on lines, as one review; returns which of them the host refuses because
    /// it does not show their lines.
    fn comment(
        &self,
        request: &PullRequest,
        comments: &[Comment],
    ) -> Result<Vec<usize>, ForgeError>;

    /// Replaces the text of a comment on a line.
    fn amend(&self, request: &PullRequest, amendment: &Amendment) -> Result<(), ForgeError>;

    /// Closes a discussion of a line, or opens it again.
    fn settle(&self, request: &PullRequest, settlement: &Settlement) -> Result<(), ForgeError>;

    /// Writes the summary, or what continues it: a new one, or in place of the known one.
    fn summarise(
        &self,
        request: &PullRequest,
        known: Option<&Note>,
        body: &str,
    ) -> Result<(), ForgeError>;

    /// Sets the light beside the commit.
    fn light(&self, request: &PullRequest, light: &Light) -> Result<(), ForgeError>;

    /// From here on nothing is written: what would be sent is kept for [`Write::rehearsed`].
    fn rehearse(&self);

    /// What a rehearsal did not send.
    fn rehearsed(&self) -> Vec<Rehearsed>;
}

/// A pull or merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number within the repository.
    pub number: u64,
    /// The title.
    pub title: String,
    /// The description, empty where there is none.
    pub description: String,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// The account that opened it, empty where the host no longer knows it.
    pub author: String,
    /// The branch that it is to be merged into.
    pub base_ref: String,
    /// A commit to compare with: the tip of that branch on GitHub, the merge base on GitLab.
    pub base_sha: String,
    /// The branch that it comes from.
    pub head_ref: String,
    /// The commit that it proposes.
    pub head_sha: String,
    /// It comes from another repository, or from one that is no longer there.
    pub from_fork: bool,
    /// The page for people.
    pub url: String,
    /// The commit from which GitLab counts the diff; the same as `base_sha` elsewhere.
    pub start_sha: String,
}

/// The diff of a pull or merge request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequestDiff {
    /// A unified diff with `diff --git` headers.
    pub text: Vec<u8>,
    /// Files that changed and whose text the host left out, or may have left out. Each of them
    /// has at least its header in `text`.
    pub withheld: Vec<String>,
}
