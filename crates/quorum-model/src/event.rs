//! What happens during a run, as it happens: one event a line, for programs that watch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Mode;
use crate::gate::GateStatus;
use crate::outcome::{OutcomeStatus, Usage};
use crate::report::CutoffReason;
use crate::severity::{Counts, Severity};
use crate::verdict::{AgentVerdict, Verdict};

/// Something that happened during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The run that it belongs to.
    pub run: String,
    /// Its place in the run, from 1 on, without gaps.
    pub sequence: u64,
    /// When, in milliseconds since the run started.
    pub elapsed_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened. Readers should pass over events that they do not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// The plan is made and the reviewers are about to start.
    RunStarted {
        /// When, in UTC, RFC 3339.
        time: String,
        /// The scope, in words.
        scope: String,
        /// How many files are under review.
        files: u64,
        /// The tokens of these files.
        total_tokens: u64,
        /// The selected reviewers.
        agents: Vec<String>,
    },
    /// A build, test or lint command ended.
    GateFinished {
        /// The check's name.
        gate: String,
        /// How it ended.
        status: GateStatus,
        /// How long it took.
        duration_ms: u64,
    },
    /// A reviewer starts.
    AgentStarted {
        /// The agent.
        agent: String,
        /// What does its work.
        engine: String,
        /// The model, where the engine has one.
        model: Option<String>,
        /// Tokens that it is given.
        budget: u64,
        /// How many files it answers for.
        files: u64,
    },
    /// A reviewer was charged for a call.
    Charged {
        /// The agent.
        agent: String,
        /// Tokens charged so far.
        budget_used: u64,
        /// Tokens that it is given.
        budget: u64,
        /// What it may still do.
        mode: Mode,
    },
    /// A reviewer found something, and it was checked against the code.
    ///
    /// Ids are given when the run is decided: until then the fingerprint names a finding.
    Finding {
        /// The agent.
        agent: String,
        /// The same defect has the same fingerprint in every run.
        fingerprint: String,
        /// How bad the agent says it is.
        severity: Severity,
        /// What sort of defect.
        category: String,
        /// The file.
        file: String,
        /// The first line.
        line: u64,
        /// What is wrong.
        issue: String,
    },
    /// A reviewer ended.
    AgentFinished {
        /// The agent.
        agent: String,
        /// How it ended.
        status: OutcomeStatus,
        /// What follows from its findings.
        verdict: AgentVerdict,
        /// Its findings by severity.
        counts: Counts,
        /// What it cost.
        usage: Usage,
        /// Why it stopped before it was done.
        cutoff_reason: Option<CutoffReason>,
        /// What went wrong, for people.
        error: Option<String>,
    },
    /// The verdict stands: the last event of a run.
    Decided {
        /// The verdict.
        verdict: Verdict,
        /// The exit code that goes with it.
        exit_code: u8,
        /// Every reason that holds, the deciding one first.
        reasons: Vec<String>,
        /// The published findings by severity.
        counts: Counts,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_flat_object() {
        let kind = EventKind::Charged {
            agent: "go-reviewer".to_owned(),
            budget_used: 10,
            budget: 100,
            mode: Mode::FullAnalysis,
        };
        let event =
            Event { schema_version: 1, run: "r".to_owned(), sequence: 3, elapsed_ms: 7, kind };
        let value = serde_json::to_value(&event).expect("an event serialises");
        let expected = serde_json::json!({
            "schema_version": 1, "run": "r", "sequence": 3, "elapsed_ms": 7, "event": "charged",
            "agent": "go-reviewer", "budget_used": 10, "budget": 100, "mode": "full_analysis",
        });
        assert_eq!(value, expected);
        assert_eq!(serde_json::from_value::<Event>(value).expect("it parses"), event);
    }
}
