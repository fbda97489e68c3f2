//! Reviewers' calls and findings in the run's journal.

use quorum_dispatch::llm::{Journal, Recording};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_store::{CallOutcome, Event, Run, RunState, SettledCall};

use super::With;
use crate::record::Recorder;

/// The journal of a run.
pub(super) struct OnDisk<'a> {
    pub(super) run: &'a Run,
    pub(super) recorder: &'a Recorder,
    pub(super) with: &'a With<'a>,
}

impl OnDisk<'_> {
    fn append(&self, event: &Event) -> Result<(), String> {
        self.run.journal().append(event).map_err(|error| error.to_string())
    }

    /// The user stopped it; what cannot be written down here is not worth more words.
    pub(super) fn interrupted(&self) {
        drop(self.append(&Event::Interrupted { reason: "interrupted".to_owned() }));
    }
}

impl Journal for OnDisk<'_> {
    fn started(&self, agent: &str, shard: usize) -> Result<(), String> {
        self.append(&Event::AgentStarted { agent: agent.to_owned(), shard })
    }

    fn settled(
        &self,
        agent: &str,
        key: &str,
        usage: Usage,
        recording: &Recording,
    ) -> Result<(), String> {
        let answer = serde_json::to_value(recording).map_err(|error| error.to_string())?;
        self.append(&Event::CallSettled(Box::new(SettledCall {
            agent: agent.to_owned(),
            key: key.to_owned(),
            usage,
            outcome: CallOutcome::Answered(answer),
        })))
    }

    fn found(&self, agent: &str, finding: &AgentFinding) -> Result<(), String> {
        let finding = Box::new(finding.clone());
        self.append(&Event::Finding { agent: agent.to_owned(), finding })
    }

    fn recall(&self, agent: &str, key: &str) -> Option<Recording> {
        recall(self.run.before(), agent, key)
    }

    fn ended(&self, outcome: &AgentOutcome) -> Result<(), String> {
        let outcome = self.with.checked(outcome.clone());
        let written = if self.with.together {
            self.recorder.sketched(outcome)
        } else {
            self.recorder.ended(outcome)
        };
        written.map_err(|error| error.to_string())
    }
}

/// What a run that is gone through again has on record.
pub(super) struct Recalled<'a>(pub(super) &'a RunState);

impl Journal for Recalled<'_> {
    fn recall(&self, agent: &str, key: &str) -> Option<Recording> {
        recall(self.0, agent, key)
    }
}

fn recall(state: &RunState, agent: &str, key: &str) -> Option<Recording> {
    match &state.settled(agent, key)?.outcome {
        CallOutcome::Answered(value) => serde_json::from_value(value.clone()).ok(),
        CallOutcome::Failed(_) => None,
    }
}
