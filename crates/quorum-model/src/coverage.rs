//! Who looked at what.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether an agent looked at a file; computed from what was sent to its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageState {
    /// All of its units: rules for this kind of file ran over them, or a model was shown them.
    Reviewed,
    /// Some of its units.
    Partial,
    /// Searched for secrets, hidden characters and injections alone: no rule knows this kind of file,
    /// or no parser could read it.
    Read,
    /// None of its units, though it is in the agent's domain.
    Skipped,
    /// Nobody can read it: it is no text, or its content is not at hand.
    Unreadable,
    /// Not this agent's to review.
    OutOfDomain,
}

/// What looked at a file for an agent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CoverageEngine {
    /// The embedded rules.
    Rules,
    /// A language model.
    Model,
    /// A coding assistant's own agent, which proved with a receipt that it read its brief.
    Attested,
}

impl CoverageEngine {
    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Model => "model",
            Self::Attested => "attested",
        }
    }
}

/// Who looked at what, for all files in scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// One row for each file.
    pub files: Vec<FileCoverage>,
    /// Files that no agent looked at.
    pub uncovered: Vec<String>,
    /// Files that an agent should have looked at and did not, with the command that would.
    pub gaps: Vec<Gap>,
}

/// Who looked at one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileCoverage {
    /// The file.
    pub path: String,
    /// The state for each selected agent.
    pub agents: BTreeMap<String, CoverageState>,
    /// What looked at it for each agent that saw any of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, CoverageEngine>,
    /// Where an agent saw a part: the lines that it saw, first and last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<String, Vec<(u64, u64)>>,
}

/// A file that an agent should have looked at and did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The file.
    pub path: String,
    /// The agent.
    pub agent: String,
    /// Why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The command that would close the gap.
    pub command: String,
}
