//! What a pull request remembers of a finding between two reviews.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::severity::Severity;

/// A finding as an earlier review of a pull request left it. It travels in a hidden marker of a
/// comment, so it holds no code: lines are digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// Its id in this pull request, such as `SEC-003`; it never means another finding.
    pub id: String,
    /// Where it stands.
    pub status: RecordStatus,
    /// Its fingerprint, and those of the agents' findings that went into it.
    pub fingerprints: Vec<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What sort of defect.
    pub category: String,
    /// The rule that found it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Who saw it.
    pub agents: Vec<String>,
    /// The file.
    pub file: String,
    /// The first line.
    pub line: u64,
    /// The last line.
    pub end_line: u64,
    /// What is wrong, in a sentence.
    pub title: String,
    /// Digests of its lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<String>,
    /// Digests of the lines before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Digests of the lines after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// Where a finding of a pull request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordStatus {
    /// It stands.
    Open,
    /// Its code is gone or changed, and somebody looked.
    Resolved,
    /// A person set it aside.
    Dismissed,
    /// A comment in the code sets it aside.
    Suppressed,
}

/// What a pull request remembers of all its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestState {
    /// The findings.
    pub records: Vec<FindingRecord>,
    /// The last number that was given with each prefix.
    #[serde(default)]
    pub last: BTreeMap<String, u64>,
}

impl PullRequestState {
    /// The last number that was given with each prefix, whatever became of its record.
    pub fn last_numbers(&self) -> BTreeMap<String, u64> {
        let mut last = self.last.clone();
        for record in &self.records {
            if let Some((prefix, number)) = split_id(&record.id) {
                let known = last.entry(prefix.to_owned()).or_default();
                *known = number.max(*known);
            }
        }
        last
    }
}

/// The prefix and the number of an id such as `SEC-003`.
pub fn split_id(id: &str) -> Option<(&str, u64)> {
    let (prefix, number) = id.rsplit_once('-')?;
    Some((prefix, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_records_that_are_gone_are_not_given_again() {
        let last = BTreeMap::from([("SEC".to_owned(), 7), ("PYT".to_owned(), 1)]);
        let state = PullRequestState { records: Vec::new(), last: last.clone() };
        assert_eq!(state.last_numbers(), last);
        assert_eq!(split_id("SEC-012"), Some(("SEC", 12)));
        assert_eq!(split_id("A-B-2"), Some(("A-B", 2)));
        assert_eq!(split_id("SEC"), None);
    }
}
