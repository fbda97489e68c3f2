//! The selected agents, each with what it returned in this run.

use std::collections::BTreeMap;

use quorum_model::agent::{Agent, VetoCriterion};
use quorum_model::coverage::CoverageEngine;
use quorum_model::finding::AgentFinding;
use quorum_model::gate::GateResult;
use quorum_model::outcome::{AgentOutcome, Covered, OutcomeStatus};
use quorum_model::plan::PlannedAgent;
use quorum_model::report::CutoffReason;
use quorum_model::severity::Severity;

use crate::decide::Input;
use crate::error::ConsensusError;

/// The agent whose coverage security-sensitive files need.
pub(crate) const SECURITY: &str = "security-reviewer";

/// The other agent whose findings are all about security.
const VULNERABILITY: &str = "vulnerability-reviewer";

/// Categories that are about security whoever names them.
const SECURITY_CATEGORIES: [&str; 14] = [
    "agentic",
    "auth",
    "code-execution",
    "crypto",
    "cve",
    "deserialization",
    "disclosure",
    "injection",
    "misconfig",
    "owasp",
    "path",
    "secrets",
    "ssrf",
    "supply-chain",
];

/// One selected agent.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    pub(crate) planned: &'a PlannedAgent,
    definition: Option<&'a Agent>,
    /// What it returned; only a report of this run gets here.
    pub(crate) outcome: Option<&'a AgentOutcome>,
    /// Why there is no report of this run.
    absence: Option<String>,
}

/// The seats in the plan's order, and what was returned that belongs to none of them.
pub(crate) fn fill<'a>(
    input: &Input<'a>,
) -> Result<(Vec<Seat<'a>>, Vec<&'a AgentOutcome>), ConsensusError> {
    let mut own: BTreeMap<&str, &AgentOutcome> = BTreeMap::new();
    let mut strangers = Vec::new();
    for outcome in input.outcomes {
        if outcome.run != input.run || !is_planned(input, &outcome.agent) {
            strangers.push(outcome);
        } else if own.insert(&outcome.agent, outcome).is_some() {
            return Err(ConsensusError::ReportedTwice {
                agent: outcome.agent.clone(),
                run: input.run.to_owned(),
            });
        }
    }
    strangers.sort_by(|a, b| (&a.agent, &a.run).cmp(&(&b.agent, &b.run)));
    let seats = input.plan.agents.iter().map(|planned| {
        let outcome = own.get(planned.name.as_str()).copied();
        let stale = strangers.iter().find(|stranger| stranger.agent == planned.name);
        let absence = match (outcome, stale) {
            (Some(_), _) => None,
            (None, Some(stale)) => Some(format!("its report is of run {}", stale.run)),
            (None, None) if input.gates.iter().any(GateResult::blocks) => {
                Some("it was not asked, because a required gate did not pass".to_owned())
            }
            (None, None) => Some("it returned no report".to_owned()),
        };
        let definition = input.agents.iter().find(|agent| agent.name == planned.name);
        Seat { planned, definition, outcome, absence }
    });
    Ok((seats.collect(), strangers))
}

fn is_planned(input: &Input<'_>, agent: &str) -> bool {
    input.plan.agents.iter().any(|planned| planned.name == agent)
}

impl<'a> Seat<'a> {
    pub(crate) fn name(&self) -> &'a str {
        &self.planned.name
    }

    /// The name in tables.
    pub(crate) fn title(&self) -> String {
        match self.definition {
            Some(definition) => definition.title.clone(),
            None => self.short_name().to_owned(),
        }
    }

    /// The name as the command line takes it.
    pub(crate) fn short_name(&self) -> &'a str {
        short_name(self.name())
    }

    /// The findings' severity is lowered to this.
    pub(crate) fn cap(&self, severity: Severity) -> Severity {
        let most = self.definition.and_then(|definition| definition.max_severity);
        most.map_or(severity, |most| severity.min(most))
    }

    /// Why a finding of this agent is a veto, where it is: the criterion that it meets.
    pub(crate) fn veto(&self, severity: Severity, finding: &AgentFinding) -> Option<&'a str> {
        if !self.planned.veto {
            return None;
        }
        let criteria = self.definition.map_or(&[][..], |definition| &definition.veto_criteria);
        criterion(criteria, severity, finding)
    }

    /// Whether a finding of this agent is about security.
    pub(crate) fn is_security(&self, finding: &AgentFinding) -> bool {
        matches!(self.name(), SECURITY | VULNERABILITY)
            || SECURITY_CATEGORIES.contains(&finding.category.as_str())
    }

    /// What looked at parts of a file for it; absent where nothing did.
    pub(crate) fn engine_of(&self, shown: &[&Covered]) -> Option<CoverageEngine> {
        let own = self.outcome.and_then(|outcome| engine_named(&outcome.engine));
        // Where a model and rules both looked, the model is what a reader asks for.
        shown.iter().filter_map(|covered| covered.by.or(own)).max()
    }

    /// Whether a model or a host's agent is to do its work.
    pub(crate) fn is_modelled(&self) -> bool {
        let engine = engine_named(&self.planned.engine);
        engine.is_some_and(|engine| engine != CoverageEngine::Rules)
    }

    /// What it was shown, if what it returned may count as coverage.
    pub(crate) fn shown(&self) -> Option<&'a AgentOutcome> {
        self.outcome.filter(|outcome| outcome.status != OutcomeStatus::Failed)
    }

    /// Why it did not finish, where it did not.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let Some(outcome) = self.outcome else { return self.absence.clone() };
        let missed_canary = outcome.cutoff_reason == Some(CutoffReason::Canary);
        if outcome.status == OutcomeStatus::Failed || missed_canary {
            return Some(outcome.error.clone().unwrap_or_else(|| "it failed".to_owned()));
        }
        if outcome.cutoff_reason == Some(CutoffReason::Interrupt) {
            return Some("it was interrupted".to_owned());
        }
        let saw_nothing = outcome.covered.is_empty() && outcome.unreadable.is_empty();
        if saw_nothing && !self.planned.files.is_empty() {
            return Some("it was shown none of its files".to_owned());
        }
        None
    }
}

/// Whether a finding of an agent that may veto is a veto.
pub fn is_veto(agent: &Agent, finding: &AgentFinding) -> bool {
    let most = agent.max_severity.unwrap_or(Severity::Critical);
    criterion(&agent.veto_criteria, finding.severity.min(most), finding).is_some()
}

fn criterion<'a>(
    criteria: &'a [VetoCriterion],
    severity: Severity,
    finding: &AgentFinding,
) -> Option<&'a str> {
    let met = criteria.iter().find(|criterion| {
        severity >= criterion.min_severity
            && (criterion.categories.is_empty() || criterion.categories.contains(&finding.category))
            && (!criterion.traced || !finding.trace.is_empty())
    });
    match met {
        Some(criterion) => Some(&criterion.id),
        None => (severity == Severity::Critical).then_some("critical"),
    }
}

/// What an engine's name stands for; nothing for what was taken in from elsewhere.
fn engine_named(name: &str) -> Option<CoverageEngine> {
    match name {
        "builtin" => Some(CoverageEngine::Rules),
        "host" => Some(CoverageEngine::Attested),
        "ingest" => None,
        _ => Some(CoverageEngine::Model),
    }
}

/// An agent's name without `-reviewer`.
pub(crate) fn short_name(name: &str) -> &str {
    name.strip_suffix("-reviewer").unwrap_or(name)
}
