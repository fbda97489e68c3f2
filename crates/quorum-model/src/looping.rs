//! A developer's command and the rounds that it took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// What came of letting a command work until reviewers are content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopReport {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// How it ended.
    pub outcome: LoopOutcome,
    /// Why the work was not taken, where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// In a sentence.
    pub reason: String,
    /// The exit code that goes with it.
    pub exit_code: u8,
    /// The rounds, in their order.
    pub rounds: Vec<Round>,
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopOutcome {
    /// Gates and reviewers are content.
    Approved,
    /// Another round would not mend it.
    Rejected,
    /// A person has to look: the rounds are used up, or no verdict could be reached.
    Escalated,
}

/// Why work was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The developer can mend it.
    Fixable,
    /// It touches what is not part of the task.
    Misscoped,
    /// Its design is wrong.
    Architectural,
    /// It is more than can be reviewed in one go.
    TooBig,
}

/// One round: the developer's command, gates, reviewers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// From 1 on.
    pub round: u64,
    /// The run that it left.
    pub run: String,
    /// The command's exit code; absent where it was ended.
    pub developer_exit_code: Option<i32>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it was not taken, where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// The gates that stopped it.
    pub failed_gates: Vec<String>,
    /// How many findings there were.
    pub findings: u64,
    /// The file with what the developer is told next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}
