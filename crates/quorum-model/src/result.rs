//! The outcome of a review.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Mode;
use crate::coverage::Coverage;
use crate::finding::Finding;
use crate::gate::GateResult;
use crate::plan::Protocol;
use crate::report::CutoffReason;
use crate::severity::{Counts, Severity};
use crate::verdict::{AgentVerdict, Verdict};

/// The outcome of a review: execution, coverage, findings and delivery, kept apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewResult {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The run's id.
    pub run: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The exit code that goes with it.
    pub exit_code: u8,
    /// Every reason that holds, the deciding one first.
    pub reasons: Vec<String>,
    /// Who looked, for people: `rules alone`, or `rules and claude-opus-5-5`; empty where nobody did.
    #[serde(default)]
    pub reviewed_by: String,
    /// What was under review, for people, such as `main...HEAD`.
    #[serde(default)]
    pub scope: String,
    /// How findings became a verdict.
    #[serde(default)]
    pub protocol: Protocol,
    /// Why vetoes were ignored, where the user chose to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored_vetos: Option<String>,
    /// What a reader should know that decides nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the agents ran.
    pub execution: Execution,
    /// Who looked at what.
    pub coverage: Coverage,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What too few agents agreed on, under the `vote` protocol.
    #[serde(default)]
    pub not_agreed: Vec<Finding>,
    /// What earlier reviews found and this one does not count: resolved, not reviewed, or dismissed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Finding>,
    /// What comments in the code suppress: it counts for nothing, and is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Finding>,
    /// Findings that were not published, counted by reason.
    #[serde(default)]
    pub rejected: BTreeMap<String, u64>,
    /// The checks that ran before the reviewers.
    #[serde(default)]
    pub gates: Vec<GateResult>,
    /// How the change stands against each SOP that applies.
    #[serde(default)]
    pub sops: Vec<SopResult>,
    /// Where the result was sent.
    #[serde(default)]
    pub delivery: Vec<Delivery>,
}

/// How the agents ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// One entry for each selected agent.
    pub agents: Vec<AgentExecution>,
}

/// How one agent ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentExecution {
    /// The agent.
    pub name: String,
    /// Its name in tables, such as `Security`.
    #[serde(default)]
    pub title: String,
    /// What follows from its findings.
    pub verdict: AgentVerdict,
    /// What did its work.
    pub engine: String,
    /// The model, where the engine has one.
    pub model: Option<String>,
    /// Whether it stopped before it was done.
    pub partial: bool,
    /// Why it stopped.
    pub cutoff_reason: Option<CutoffReason>,
    /// What went wrong, where it did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The mode in which it ended.
    pub mode: Mode,
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
    /// Files of which it saw everything.
    pub files_reviewed: u64,
    /// Files that it searched for secrets, hidden characters and injections alone.
    #[serde(default)]
    pub files_read: u64,
    /// Files of which it did not see everything.
    pub files_skipped: u64,
    /// Their names.
    pub skipped_files: Vec<String>,
    /// Why it vetoes.
    pub veto_reasons: Vec<String>,
    /// Its findings by severity.
    pub counts: Counts,
    /// Findings that it saw and left out, because its budget was short.
    #[serde(default)]
    pub skipped: SkippedCounts,
    /// Why dependencies were not compared with known vulnerabilities, where they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// Findings that an agent saw and left out, because its budget was short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedCounts {
    /// MEDIUM findings.
    #[serde(default)]
    pub medium: u64,
    /// LOW findings.
    #[serde(default)]
    pub low: u64,
}

impl AgentExecution {
    /// The share of its files that it reviewed whole, in percent: 100 for all of them only, and 0
    /// for none only. What was only read is not reviewed.
    pub fn coverage_percent(&self) -> u64 {
        let rest = self.files_skipped + self.files_read;
        if rest == 0 {
            return 100;
        }
        let whole = self.files_reviewed + rest;
        let rounded = (self.files_reviewed * 200 + whole) / (2 * whole);
        rounded.clamp(u64::from(self.files_reviewed > 0), 99)
    }

    /// Its coverage in a few words: `100%`, `50%, 3 read`, `read`, `not compared`.
    pub fn coverage_in_words(&self) -> String {
        if self.not_compared.is_some() {
            return "not compared".to_owned();
        }
        match (self.files_reviewed + self.files_skipped, self.files_read) {
            (0, 0) => "–".to_owned(),
            (0, _) => "read".to_owned(),
            (_, 0) => format!("{}%", self.coverage_percent()),
            (_, read) => format!("{}%, {read} read", self.coverage_percent()),
        }
    }
}

/// How the change stands against one SOP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SopResult {
    /// The SOP.
    pub sop: String,
    /// What a violation means.
    pub severity: SopSeverity,
    /// The outcome.
    pub status: SopStatus,
    /// What it rests on.
    pub evidence: String,
    /// The file that shows a violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of that file, where one line shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The worst finding behind a violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_severity: Option<Severity>,
}

/// What a violation of an SOP means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SopSeverity {
    /// It blocks.
    Error,
    /// It is reported.
    Warning,
    /// It is mentioned.
    #[default]
    Info,
}

/// The outcome for one SOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SopStatus {
    /// The change keeps to it.
    Passed,
    /// The change breaks it.
    Violated,
    /// It has nothing to say about the change.
    NotApplicable,
    /// No reviewer answered for it.
    NotReviewed,
    /// The embedded reviewers have no check for it, and no model was asked.
    NotChecked,
}

/// Where a result was sent, and whether it arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// The sink, such as a file or a pull request.
    pub target: String,
    /// Whether it arrived.
    pub delivered: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
