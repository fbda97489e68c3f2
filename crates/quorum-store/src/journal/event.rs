//! What is recorded.

use quorum_model::finding::AgentFinding;
use quorum_model::gate::{GateReport, GateResult};
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_model::result::ReviewResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run began; its plan is in `plan.json`.
    RunStarted {
        /// The run.
        run: String,
        /// What is reviewed, for people.
        label: String,
    },
    /// The run goes on after it was killed or interrupted.
    RunResumed,
    /// A gate ended.
    GateFinished(Box<GateResult>),
    /// All gates ended, with what kept them apart from the machine. They need not run again.
    GatesFinished(Box<GateReport>),
    /// An agent began with one of its shards.
    AgentStarted {
        /// The agent.
        agent: String,
        /// The shard, counted from 0 within the agent.
        shard: usize,
    },
    /// An agent reported a finding that was checked against the code.
    Finding {
        /// The agent.
        agent: String,
        /// What it found.
        finding: Box<AgentFinding>,
    },
    /// A call to an engine was answered and charged.
    CallSettled(Box<SettledCall>),
    /// An agent ended.
    AgentFinished(Box<AgentOutcome>),
    /// The review was decided.
    Decided(Box<ReviewResult>),
    /// The user or the system stopped the run.
    Interrupted {
        /// Why.
        reason: String,
    },
}

impl Event {
    /// Whether it must be on the disk before anything else happens. What is left is repeated or
    /// worked out again after a crash, at no cost.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::AgentStarted { .. } | Self::RunResumed | Self::GateFinished(_))
    }
}

/// A call to an engine that was answered and charged. It is never made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettledCall {
    /// The agent that it was made for.
    pub agent: String,
    /// What the call was, such as a digest of the request; the same call has the same key.
    pub key: String,
    /// What it cost.
    pub usage: Usage,
    /// What came of it.
    pub outcome: CallOutcome,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The engine's answer, in the engine's own form.
    Answered(Value),
    /// It failed for good and was charged all the same.
    Failed(String),
}
