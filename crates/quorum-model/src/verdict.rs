//! What is decided, by an agent's findings and overall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What follows from one agent's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum AgentVerdict {
    /// Nothing that matters.
    Ok,
    /// A HIGH finding, or a CRITICAL one without a veto.
    Warn,
    /// A finding that blocks.
    Veto,
    /// It did not finish; that is never an approval.
    Error,
}

/// What follows from the whole review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Nothing stands in the way.
    Approved,
    /// Vetoes stand, and the user chose to ignore them.
    Advisory,
    /// A finding at or above the limit.
    ChangesRequested,
    /// A veto, a failed gate, a violated SOP, or a sensitive file that nobody checked.
    Blocked,
    /// Too little was reviewed to say anything.
    Incomplete,
    /// Nothing is in scope.
    NothingToReview,
}

impl Verdict {
    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Advisory => "ADVISORY",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Blocked => "BLOCKED",
            Self::Incomplete => "INCOMPLETE",
            Self::NothingToReview => "NOTHING_TO_REVIEW",
        }
    }

    /// The exit code of the command line.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Approved | Self::Advisory | Self::NothingToReview => 0,
            Self::ChangesRequested | Self::Blocked => 1,
            Self::Incomplete => 2,
        }
    }
}

/// The one line that an orchestrator reads about an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictFile {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// What sort of line it is.
    #[serde(rename = "type")]
    pub kind: VerdictFileKind,
    /// The agent.
    pub agent: String,
    /// Whether it needs a look.
    pub status: AgentStatus,
    /// The model, where there was one.
    pub model: Option<String>,
    /// Tokens sent and received: preambles, resent context and answers that could not be used included.
    pub tokens_spent: u64,
    /// Files that the agent changed; reviewers change none.
    pub files_changed: Vec<String>,
    /// How many findings.
    pub findings_count: u64,
    /// One line.
    pub summary: String,
    /// Where the findings are in full.
    pub detail_path: String,
    /// When, in UTC, RFC 3339.
    pub timestamp: String,
    /// The run that it belongs to.
    pub run: String,
}

/// What sort of work a verdict line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictFileKind {
    /// A review.
    Verdict,
}

/// Whether an agent's result needs a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AgentStatus {
    /// Nothing to look at.
    Clean,
    /// Findings that matter.
    NeedsAttention,
    /// A veto.
    Blocked,
    /// It did not cover everything.
    Partial,
    /// It failed.
    Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_that_lets_pass_exits_with_zero() {
        let exits = [
            (Verdict::Approved, 0),
            (Verdict::Advisory, 0),
            (Verdict::ChangesRequested, 1),
            (Verdict::Blocked, 1),
            (Verdict::Incomplete, 2),
            (Verdict::NothingToReview, 0),
        ];
        for (verdict, exit) in exits {
            assert_eq!(verdict.exit_code(), exit, "{verdict:?}");
        }
    }
}
