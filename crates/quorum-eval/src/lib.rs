//! Reviewers against labelled code.
//!
//! [`labels`] reads what the authors of a corpus say about its lines, [`foreign`] reads what other
//! tools found, and [`score`] turns labels and findings into precision, recall and F1. All of it is
//! pure; reading files and running reviewers is the caller's.

pub mod foreign;
pub mod labels;
pub mod score;

/// One finding of one tool, reduced to what is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The file, relative to the corpus.
    pub file: String,
    /// First line.
    pub line: u64,
    /// Last line.
    pub end_line: u64,
    /// The rule.
    pub rule: String,
    /// Who reports it, where the tool has several reviewers.
    pub agent: String,
    /// The weakness class as a number, where it is known.
    pub cwe: Option<u32>,
}
