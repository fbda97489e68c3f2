//! Who looked at what.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether an agent looked at a file; computed from what was sent to its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageState {
    /// All of its units.
    Reviewed,
    /// Some of its units.
    Partial,
    /// None of its units, though it is in the agent's domain.
    Skipped,
    /// Not this agent's to review.
    OutOfDomain,
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
