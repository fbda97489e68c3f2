//! What happens in a run, told in the words of events: from its journal, or while it is written.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use quorum_consensus::fingerprint;
use quorum_model::SCHEMA_VERSION;
use quorum_model::budget::Thresholds;
use quorum_model::event::{Event, EventKind};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Counts;
use quorum_model::verdict::AgentVerdict;
use quorum_store::journal::{self, Record};

/// Says in the words of events what a journal says in its own.
#[derive(Debug)]
pub(crate) struct Narrator {
    run: String,
    plan: Plan,
    begun: Option<Timestamp>,
    told: u64,
    started: BTreeSet<String>,
    spent: BTreeMap<String, u64>,
    seen: BTreeMap<(String, String), u64>,
    /// Agents that ended. Their verdicts are known when the run is decided.
    ended: Vec<(u64, AgentOutcome)>,
}

impl Narrator {
    pub(crate) fn new(run: &str, plan: &Plan) -> Self {
        Self {
            run: run.to_owned(),
            plan: plan.clone(),
            begun: None,
            told: 0,
            started: BTreeSet::new(),
            spent: BTreeMap::new(),
            seen: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// The events that follow from one record.
    pub(crate) fn tell(&mut self, record: &Record) -> Vec<Event> {
        let at = record.at.parse::<Timestamp>().ok();
        self.begun = self.begun.or(at);
        let since =
            at.zip(self.begun).map(|(at, begun)| at.as_millisecond() - begun.as_millisecond());
        let elapsed = since.and_then(|since| u64::try_from(since).ok()).unwrap_or_default();
        match &record.event {
            journal::Event::AgentFinished(outcome) => {
                self.ended.push((elapsed, (**outcome).clone()));
                Vec::new()
            }
            journal::Event::Decided(result) => {
                let mut events = self.end(result);
                let kind = EventKind::Decided {
                    verdict: result.verdict,
                    exit_code: result.exit_code,
                    reasons: result.reasons.clone(),
                    counts: Counts::of(result.findings.iter().map(|finding| finding.severity)),
                };
                events.push(self.event(elapsed, kind));
                events
            }
            other => {
                let kind = self.kind(&record.at, other);
                kind.map(|kind| self.event(elapsed, kind)).into_iter().collect()
            }
        }
    }

    /// The ends of agents that were not told yet, with the verdicts that they have in `result`.
    pub(crate) fn end(&mut self, result: &ReviewResult) -> Vec<Event> {
        let ended = std::mem::take(&mut self.ended);
        let told = ended.into_iter().map(|(elapsed, outcome)| {
            let mut executed = result.execution.agents.iter();
            let executed = executed.find(|agent| agent.name == outcome.agent);
            let kind = EventKind::AgentFinished {
                status: outcome.status,
                verdict: executed.map_or(AgentVerdict::Error, |agent| agent.verdict),
                counts: Counts::of(outcome.findings.iter().map(|finding| finding.severity)),
                usage: outcome.usage,
                cutoff_reason: outcome.cutoff_reason,
                error: outcome.error,
                agent: outcome.agent,
            };
            self.event(elapsed, kind)
        });
        told.collect()
    }

    fn event(&mut self, elapsed_ms: u64, kind: EventKind) -> Event {
        self.told += 1;
        Event {
            schema_version: SCHEMA_VERSION,
            run: self.run.clone(),
            sequence: self.told,
            elapsed_ms,
            kind,
        }
    }

    fn kind(&mut self, at: &str, event: &journal::Event) -> Option<EventKind> {
        Some(match event {
            journal::Event::RunStarted { label, .. } => EventKind::RunStarted {
                time: at.to_owned(),
                scope: label.clone(),
                files: self.plan.scope.files.len() as u64,
                total_tokens: self.plan.total_tokens,
                agents: self.plan.agents.iter().map(|agent| agent.name.clone()).collect(),
            },
            journal::Event::AgentStarted { agent, .. } => {
                // It starts once, with the first of its shards.
                if !self.started.insert(agent.clone()) {
                    return None;
                }
                let planned = self.plan.agents.iter().find(|planned| planned.name == *agent)?;
                EventKind::AgentStarted {
                    agent: agent.clone(),
                    engine: planned.engine.clone(),
                    model: planned.model.clone(),
                    budget: planned.budget,
                    files: planned.files.len() as u64,
                }
            }
            journal::Event::Finding { agent, finding } => self.finding(agent, finding),
            journal::Event::CallSettled(call) => {
                let spent = self.spent.entry(call.agent.clone()).or_default();
                *spent = spent.saturating_add(call.usage.budget_used);
                let planned = self.plan.agents.iter().find(|agent| agent.name == call.agent)?;
                EventKind::Charged {
                    agent: call.agent.clone(),
                    budget_used: *spent,
                    budget: planned.budget,
                    mode: Thresholds::default().mode(*spent, planned.budget),
                }
            }
            journal::Event::GateFinished(gate) => EventKind::GateFinished {
                gate: gate.name.clone(),
                status: gate.status,
                duration_ms: gate.duration_ms,
            },
            _ => return None,
        })
    }

    fn finding(&mut self, agent: &str, finding: &AgentFinding) -> EventKind {
        let (file, line) = finding.place().unwrap_or_default();
        let (file, line) = (file.to_owned(), line.unwrap_or_default());
        let first = (agent.to_owned(), fingerprint(finding, 0));
        let occurrence = self.seen.entry(first).and_modify(|times| *times += 1).or_default();
        EventKind::Finding {
            agent: agent.to_owned(),
            fingerprint: fingerprint(finding, *occurrence),
            severity: finding.severity,
            category: finding.category.clone(),
            file,
            line,
            issue: finding.issue.clone(),
        }
    }
}
