//! What running one agent gave: the value between dispatch, the store and consensus.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Mode;
use crate::coverage::CoverageEngine;
use crate::finding::{AgentFinding, SuppressedFinding};
use crate::report::{CutoffReason, Pattern, SkippedFindings};
use crate::result::SopResult;
use crate::severity::Severity;

/// What running one agent gave. Findings were checked against the code before they got here, and
/// coverage is what the engine was really shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentOutcome {
    /// The run that it belongs to; one of another run is never counted.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// What did its work.
    pub engine: String,
    /// The model, where the engine has one.
    pub model: Option<String>,
    /// How it ended.
    pub status: OutcomeStatus,
    /// Why it stopped before it was done.
    pub cutoff_reason: Option<CutoffReason>,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// The mode in which it ended.
    pub mode: Mode,
    /// What it cost.
    pub usage: Usage,
    /// What it was shown.
    pub covered: Vec<Covered>,
    /// Lines of what it was shown that met a bound of its engine: nobody looked at all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounded: Vec<Bounded>,
    /// Files of which its engine could read nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
    /// Why dependencies were not compared with known vulnerabilities, where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
    /// What it found.
    pub findings: Vec<AgentFinding>,
    /// What it found and a comment in the code suppresses. One that is under review is among the
    /// findings as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedFinding>,
    /// Findings that it saw and left out for lack of budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkippedFindings>,
    /// Findings that were not taken, counted by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected: BTreeMap<String, u64>,
    /// What it says about its peers' findings, under `ci` and `vote`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
    /// How it answers for the SOPs that it was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sops: Vec<SopResult>,
    /// Conventions that it saw the code follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<Pattern>,
    /// What a reader should know, such as a file that was searched as text because it does not parse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It saw everything that it was given.
    Completed,
    /// It stopped before it had; its findings stand.
    Partial,
    /// It did not finish; its findings stand, and it approves nothing.
    Failed,
}

/// What an agent cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens that it was given.
    pub budget: u64,
    /// Tokens that it was charged.
    pub budget_used: u64,
    /// Tokens sent and received, resent context included.
    pub tokens: u64,
    /// US dollars.
    pub usd: f64,
    /// Requests to its engine.
    pub calls: u64,
}

/// A part of a file that an agent was shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Covered {
    /// The file.
    pub path: String,
    /// First line; 0 for a name alone.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// How closely it was looked at.
    #[serde(default, skip_serializing_if = "Depth::is_reviewed")]
    pub depth: Depth,
    /// What looked at it, where that is not the agent's own engine: rules beside a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<CoverageEngine>,
}

impl Covered {
    /// Lines that were reviewed by the agent's own engine.
    pub fn reviewed(path: impl Into<String>, start_line: u64, end_line: u64) -> Self {
        Self { path: path.into(), start_line, end_line, depth: Depth::Reviewed, by: None }
    }

    /// Lines that were searched for secrets, hidden characters and injections alone.
    pub fn read(path: impl Into<String>, start_line: u64, end_line: u64) -> Self {
        Self { depth: Depth::Read, ..Self::reviewed(path, start_line, end_line) }
    }
}

/// How closely a part of a file was looked at.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// Rules for this kind of file ran, or a model was shown it.
    #[default]
    Reviewed,
    /// It was searched for secrets, hidden characters and injections alone.
    Read,
}

impl Depth {
    /// Whether it was reviewed, which needs no mention.
    pub fn is_reviewed(&self) -> bool {
        *self == Self::Reviewed
    }
}

/// Lines that met a bound of the engine, such as the most steps that values are followed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Bounded {
    /// The file.
    pub path: String,
    /// First and last lines.
    pub lines: Vec<(u64, u64)>,
    /// The bound, for people.
    pub reason: String,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unreadable {
    /// The file.
    pub path: String,
    /// Why, for people.
    pub reason: String,
}

/// All that an agent is told about a finding when findings are exchanged or voted on: no
/// rationale, no evidence and no author, so that it has to look for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// The finding's fingerprint, for the [`Reaction`].
    pub fingerprint: String,
    /// How bad it is said to be.
    pub severity: Severity,
    /// The file.
    pub file: String,
    /// The first line; 0 for the file as a whole.
    pub line: u64,
    /// What is wrong, in one line.
    pub title: String,
    /// Whether it is the reader's own, which it may withdraw or rate anew.
    pub own: bool,
}

/// What an agent says about a finding of a peer, or in a second round about one of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// What it says.
    pub stance: Stance,
    /// Its own evidence; a confirmation or a refutation without any weighs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The severity that it now gives its own finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Why, where it was asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an agent says about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// It sees the same defect.
    Confirm,
    /// It looked and does not see it.
    Dispute,
    /// It takes its own finding back.
    Withdraw,
    /// It gives its own finding another severity.
    ReRate,
    /// It took a second look, and code that it quotes disproves the finding.
    Refute,
}
