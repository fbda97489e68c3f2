//! What happened when, from a run's journal.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use quorum_model::SCHEMA_VERSION;
use quorum_model::budget::Thresholds;
use quorum_model::event::{Event, EventKind};
use quorum_model::finding::AgentFinding;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Counts;
use quorum_model::verdict::AgentVerdict;
use quorum_store::RunSummary;
use quorum_store::journal::{self, Record};

/// What happened in a run, and when it started and ended.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) events: Vec<Event>,
    pub(super) started: Option<String>,
    pub(super) ended: Option<String>,
}

/// The timeline of `run`; empty where its journal cannot be read.
pub(super) fn of(run: &RunSummary, result: &ReviewResult, plan: &Plan) -> Timeline {
    let bytes = std::fs::read(run.directory().join("journal.jsonl")).unwrap_or_default();
    let records = journal::read(&bytes).records;
    let mut translator =
        Translator { result, plan, started: BTreeSet::new(), spent: BTreeMap::new() };
    let Some(first) = records.first() else { return Timeline::default() };
    let start = first.at.parse::<Timestamp>().ok();
    let elapsed = |record: &Record| {
        let at = record.at.parse::<Timestamp>().ok()?;
        u64::try_from(at.as_millisecond() - start?.as_millisecond()).ok()
    };
    let kinds = records.iter().filter_map(|record| {
        Some((elapsed(record).unwrap_or_default(), translator.translate(record)?))
    });
    let events = (1..).zip(kinds).map(|(sequence, (elapsed_ms, kind))| Event {
        schema_version: SCHEMA_VERSION,
        run: result.run.clone(),
        sequence,
        elapsed_ms,
        kind,
    });
    Timeline {
        events: events.collect(),
        started: Some(first.at.clone()),
        ended: records.last().map(|record| record.at.clone()),
    }
}

/// Says in the words of events what the journal says in its own.
struct Translator<'a> {
    result: &'a ReviewResult,
    plan: &'a Plan,
    started: BTreeSet<String>,
    spent: BTreeMap<String, u64>,
}

impl Translator<'_> {
    fn translate(&mut self, record: &Record) -> Option<EventKind> {
        Some(match &record.event {
            journal::Event::RunStarted { label, .. } => EventKind::RunStarted {
                time: record.at.clone(),
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
            journal::Event::AgentFinished(outcome) => {
                let executed =
                    self.result.execution.agents.iter().find(|agent| agent.name == outcome.agent);
                EventKind::AgentFinished {
                    agent: outcome.agent.clone(),
                    status: outcome.status,
                    verdict: executed.map_or(AgentVerdict::Error, |agent| agent.verdict),
                    counts: Counts::of(outcome.findings.iter().map(|finding| finding.severity)),
                    usage: outcome.usage,
                    cutoff_reason: outcome.cutoff_reason,
                    error: outcome.error.clone(),
                }
            }
            journal::Event::Decided(result) => EventKind::Decided {
                verdict: result.verdict,
                exit_code: result.exit_code,
                reasons: result.reasons.clone(),
                counts: Counts::of(result.findings.iter().map(|finding| finding.severity)),
            },
            journal::Event::GateFinished(gate) => EventKind::GateFinished {
                gate: gate.name.clone(),
                status: gate.status,
                duration_ms: gate.duration_ms,
            },
            journal::Event::RunResumed
            | journal::Event::GatesFinished(_)
            | journal::Event::Interrupted { .. } => return None,
        })
    }

    fn finding(&self, agent: &str, finding: &AgentFinding) -> EventKind {
        let (file, line) = finding.place().unwrap_or_default();
        let line = line.unwrap_or_default();
        let published = self.result.findings.iter().find(|published| {
            published.file == file
                && (published.line..=published.end_line).contains(&line)
                && published.agents.iter().any(|other| other == agent)
        });
        EventKind::Finding {
            agent: agent.to_owned(),
            fingerprint: published.map(|finding| finding.fingerprint.clone()).unwrap_or_default(),
            severity: finding.severity,
            category: finding.category.clone(),
            file: file.to_owned(),
            line,
            issue: finding.issue.clone(),
        }
    }
}
