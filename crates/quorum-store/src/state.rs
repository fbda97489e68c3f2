//! What a journal says about a run: what is finished, what was found, what was paid for.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::AgentFinding;
use quorum_model::gate::GateReport;
use quorum_model::outcome::AgentOutcome;
use quorum_model::result::ReviewResult;

use crate::journal::{Damage, Event, Reading, SettledCall};

/// Where a run stands, worked out from its journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunState {
    /// What is reviewed, for people.
    pub label: String,
    /// When it began, in UTC, RFC 3339.
    pub started: String,
    /// When it was last heard of.
    pub last: String,
    /// How often it was resumed.
    pub resumed: u64,
    /// Why it was stopped, if that is the last that happened to it.
    pub interrupted: Option<String>,
    /// The result, once it is decided.
    pub result: Option<Box<ReviewResult>>,
    /// What all gates came to, once they ended.
    pub gates: Option<Box<GateReport>>,
    /// Records that were changed after they were written.
    pub damage: Vec<Damage>,
    agents: BTreeMap<String, AgentState>,
    settled: BTreeMap<(String, String), SettledCall>,
}

/// Where one agent stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentState {
    /// The shards that it began.
    pub shards: BTreeSet<usize>,
    /// What it reported, each finding once.
    pub findings: Vec<AgentFinding>,
    /// What came of it, once it ended.
    pub outcome: Option<AgentOutcome>,
    seen: BTreeSet<[u8; 32]>,
}

impl AgentState {
    /// How many findings it reported.
    pub fn reported(&self) -> usize {
        self.outcome.as_ref().map_or(self.findings.len(), |outcome| outcome.findings.len())
    }
}

/// The same for findings that are the same in every field.
fn digest(finding: &AgentFinding) -> [u8; 32] {
    // A finding has only strings for keys, so it always has a JSON form.
    *blake3::hash(&serde_json::to_vec(finding).unwrap_or_default()).as_bytes()
}

impl RunState {
    /// Works out where the run stands.
    pub fn of(reading: Reading) -> Self {
        let mut state = Self { damage: reading.damage, ..Self::default() };
        for record in reading.records {
            if state.started.is_empty() {
                state.started.clone_from(&record.at);
            }
            state.last = record.at;
            state.take(record.event);
        }
        state
    }

    fn take(&mut self, event: Event) {
        if !matches!(event, Event::Interrupted { .. }) {
            self.interrupted = None;
        }
        match event {
            Event::RunStarted { label, .. } => self.label = label,
            Event::RunResumed => self.resumed += 1,
            // Checks build on each other's work, which is gone: those of a run stand together.
            Event::GateFinished(_) => {}
            Event::GatesFinished(report) => self.gates = Some(report),
            Event::AgentStarted { agent, shard } => {
                self.agent_mut(agent).shards.insert(shard);
            }
            Event::Finding { agent, finding } => {
                // A call that was not settled runs again and reports again.
                let state = self.agent_mut(agent);
                if state.seen.insert(digest(&finding)) {
                    state.findings.push(*finding);
                }
            }
            Event::CallSettled(call) => {
                // The first answer was the one that was worked with.
                let key = (call.agent.clone(), call.key.clone());
                self.settled.entry(key).or_insert(*call);
            }
            Event::AgentFinished(outcome) => {
                let agent = outcome.agent.clone();
                self.agent_mut(agent).outcome = Some(*outcome);
            }
            Event::Decided(result) => self.result = Some(result),
            Event::Interrupted { reason } => self.interrupted = Some(reason),
        }
    }

    fn agent_mut(&mut self, agent: String) -> &mut AgentState {
        self.agents.entry(agent).or_default()
    }

    /// The agents that were heard of, by name.
    pub fn agents(&self) -> &BTreeMap<String, AgentState> {
        &self.agents
    }

    /// What came of an agent, if it ended. It need not run again.
    pub fn finished(&self, agent: &str) -> Option<&AgentOutcome> {
        self.agents.get(agent)?.outcome.as_ref()
    }

    /// What came of every agent that ended, by name.
    pub fn outcomes(&self) -> impl Iterator<Item = &AgentOutcome> {
        self.agents.values().filter_map(|agent| agent.outcome.as_ref())
    }

    /// A call that was answered and charged, and must not be made again.
    pub fn settled(&self, agent: &str, key: &str) -> Option<&SettledCall> {
        self.settled.get(&(agent.to_owned(), key.to_owned()))
    }

    /// Every call that was answered and charged.
    pub fn settled_calls(&self) -> impl Iterator<Item = &SettledCall> {
        self.settled.values()
    }

    /// `outcome` with every finding that the agent reported before it was killed and did not report
    /// again. What was reported once is never lost.
    pub fn complete(&self, mut outcome: AgentOutcome) -> AgentOutcome {
        if let Some(agent) = self.agents.get(&outcome.agent) {
            let there: BTreeSet<_> = outcome.findings.iter().map(digest).collect();
            let missing = agent.findings.iter().filter(|finding| !there.contains(&digest(finding)));
            outcome.findings.extend(missing.cloned());
        }
        outcome
    }
}
