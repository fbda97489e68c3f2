//! Plans and reports, made of few words.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorum_consensus::{ConsensusError, Input, Policy, decide};
use quorum_model::SCHEMA_VERSION;
use quorum_model::agent::{Agent, AgentOrigin, Domain, VetoCriterion};
use quorum_model::budget::Mode;
use quorum_model::finding::AgentFinding;
use quorum_model::gate::GateResult;
use quorum_model::outcome::{
    AgentOutcome, Bounded, Covered, Depth, OutcomeStatus, Unreadable, Usage,
};
use quorum_model::plan::{Ceilings, Isolation, Plan, PlannedAgent, Protocol, Shard};
use quorum_model::report::CutoffReason;
use quorum_model::result::ReviewResult;
use quorum_model::scope::{Change, FileEntry, FileKind, Flag, Scope, ScopeKind};
use quorum_model::severity::Severity;
use quorum_model::tier::{Tier, TierAssessment};
use quorum_model::unit::{Unit, UnitKind};

pub(crate) const RUN: &str = "run-1";
/// Every file has this many lines, in two units.
pub(crate) const LINES: u64 = 100;

/// A review whose reports are being written.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    pub(crate) plan: Plan,
    pub(crate) agents: Vec<Agent>,
    pub(crate) outcomes: Vec<AgentOutcome>,
    pub(crate) gates: Vec<GateResult>,
    pub(crate) policy: Policy,
}

impl Review {
    /// A review of `files`; none of them is security-sensitive.
    pub(crate) fn of(files: &[&str]) -> Self {
        Self {
            plan: plan(files),
            agents: Vec::new(),
            outcomes: Vec::new(),
            gates: Vec::new(),
            policy: Policy { fail_on: Some(Severity::High), ..Policy::default() },
        }
    }

    pub(crate) fn sensitive(mut self, path: &str) -> Self {
        let file = self.plan.scope.files.iter_mut().find(|file| &*file.path == path);
        file.expect("a file of the plan").flags.push(Flag::SecuritySensitive);
        self
    }

    pub(crate) fn protocol(mut self, protocol: Protocol) -> Self {
        self.policy.protocol = protocol;
        self
    }

    /// Adds an agent for all files with its veto, and its report: all files seen, nothing found.
    pub(crate) fn agent(self, name: &str) -> Self {
        let files: Vec<String> =
            self.plan.scope.files.iter().map(|file| file.path.to_string()).collect();
        self.agent_for(name, true, &files)
    }

    /// The same without a veto.
    pub(crate) fn adviser(self, name: &str) -> Self {
        let files: Vec<String> =
            self.plan.scope.files.iter().map(|file| file.path.to_string()).collect();
        self.agent_for(name, false, &files)
    }

    pub(crate) fn agent_for(mut self, name: &str, veto: bool, files: &[String]) -> Self {
        self.agents.push(definition(name, veto));
        self.plan.agents.push(planned(name, veto, files));
        self.outcomes.push(outcome(name, files));
        self
    }

    pub(crate) fn outcome_of(&mut self, name: &str) -> &mut AgentOutcome {
        self.outcomes.iter_mut().find(|outcome| outcome.agent == name).expect("an outcome")
    }

    pub(crate) fn finds(mut self, name: &str, finding: AgentFinding) -> Self {
        self.outcome_of(name).findings.push(finding);
        self
    }

    pub(crate) fn fails(mut self, name: &str) -> Self {
        let outcome = self.outcome_of(name);
        outcome.status = OutcomeStatus::Failed;
        outcome.error = Some("the provider answered 500".to_owned());
        outcome.covered.clear();
        self
    }

    /// `name` was not shown `path`, for lack of budget.
    pub(crate) fn skips(mut self, name: &str, path: &str) -> Self {
        let outcome = self.outcome_of(name);
        outcome.status = OutcomeStatus::Partial;
        outcome.cutoff_reason = Some(CutoffReason::Budget);
        outcome.covered.retain(|covered| covered.path != path);
        self
    }

    /// `name` was shown the first half of `path` only.
    pub(crate) fn half(mut self, name: &str, path: &str) -> Self {
        let outcome = self.outcome_of(name);
        outcome.status = OutcomeStatus::Partial;
        outcome.cutoff_reason = Some(CutoffReason::Budget);
        outcome.covered.retain(|covered| covered.path != path || covered.start_line == 1);
        self
    }

    /// `name` has no rules for `path` and only read it.
    pub(crate) fn reads(mut self, name: &str, path: &str) -> Self {
        let covered = self.outcome_of(name).covered.iter_mut();
        covered.filter(|c| c.path == path).for_each(|c| c.depth = Depth::Read);
        self
    }

    /// Rules of `name` met a bound on lines 10 to 20 of `path`, and no model looked at them.
    pub(crate) fn bounds(mut self, name: &str, path: &str) -> Self {
        let outcome = self.outcome_of(name);
        "builtin".clone_into(&mut outcome.engine);
        let reason = "too involved".to_owned();
        outcome.bounded.push(Bounded { path: path.to_owned(), lines: vec![(10, 20)], reason });
        self
    }

    /// Nobody can read `path`, and `name` is the one who tried.
    pub(crate) fn cannot_read(mut self, name: &str, path: &str) -> Self {
        let outcome = self.outcome_of(name);
        outcome.covered.retain(|covered| covered.path != path);
        let reason = "it is not text".to_owned();
        outcome.unreadable.push(Unreadable { path: path.to_owned(), reason });
        self
    }

    /// `name` does its work by rules.
    pub(crate) fn by_rules(mut self, name: &str) -> Self {
        let planned = self.plan.agents.iter_mut().find(|agent| agent.name == name);
        let planned = planned.expect("an agent");
        "builtin".clone_into(&mut planned.engine);
        planned.model = None;
        let outcome = self.outcome_of(name);
        "builtin".clone_into(&mut outcome.engine);
        outcome.model = None;
        self
    }

    pub(crate) fn decide(&self) -> ReviewResult {
        self.try_decide().expect("a decision")
    }

    pub(crate) fn try_decide(&self) -> Result<ReviewResult, ConsensusError> {
        decide(&self.input())
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input {
            run: RUN,
            plan: &self.plan,
            agents: &self.agents,
            outcomes: &self.outcomes,
            gates: &self.gates,
            policy: self.policy.clone(),
        }
    }
}

/// A finding with a quote of its line.
pub(crate) fn finding(severity: Severity, file: &str, line: u64, issue: &str) -> AgentFinding {
    AgentFinding {
        severity,
        category: "logic".to_owned(),
        file: Some(file.to_owned()),
        line: Some(line),
        end_line: None,
        location: None,
        evidence: Some(format!("line_{line}();")),
        issue: issue.to_owned(),
        recommendation: "Change it.".to_owned(),
        cwe: None,
        references: Vec::new(),
        rule: None,
        effort: None,
        confidence: Some(0.9),
        dependency: None,
        user_impact: None,
        trace: Vec::new(),
        replacement: None,
    }
}

fn units(path: &str) -> Vec<Unit> {
    let unit = |start_line, end_line| Unit {
        path: Arc::from(path),
        kind: UnitKind::Span,
        start_line,
        end_line,
        bytes: None,
        tokens: 500,
    };
    vec![unit(1, LINES / 2), unit(LINES / 2 + 1, LINES)]
}

fn planned(name: &str, veto: bool, files: &[String]) -> PlannedAgent {
    PlannedAgent {
        name: name.to_owned(),
        budget: 8192,
        base_budget: 8192,
        veto,
        engine: "openai".to_owned(),
        model: Some("small".to_owned()),
        reason: "chosen".to_owned(),
        files: files.to_vec(),
        shard_limit: 8192,
        depth: quorum_model::outcome::Depth::Reviewed,
        beside_models: false,
        shards: vec![Shard {
            wave: 1,
            tokens: 1000,
            sops: Vec::new(),
            notes: Vec::new(),
            units: files.iter().flat_map(|path| units(path)).collect(),
        }],
    }
}

fn outcome(name: &str, files: &[String]) -> AgentOutcome {
    let units = files.iter().flat_map(|path| units(path));
    let covered = units.map(|unit| Covered::reviewed(&*unit.path, unit.start_line, unit.end_line));
    AgentOutcome {
        run: RUN.to_owned(),
        agent: name.to_owned(),
        engine: "openai".to_owned(),
        model: Some("small".to_owned()),
        status: OutcomeStatus::Completed,
        cutoff_reason: None,
        error: None,
        mode: Mode::FullAnalysis,
        usage: Usage { budget: 8192, budget_used: 4000, tokens: 5000, usd: 0.01, calls: 2 },
        covered: covered.collect(),
        bounded: Vec::new(),
        unreadable: Vec::new(),
        not_compared: None,
        findings: Vec::new(),
        suppressed: Vec::new(),
        skipped: None,
        rejected: BTreeMap::new(),
        reactions: Vec::new(),
        sops: Vec::new(),
        patterns: Vec::new(),
        notes: Vec::new(),
    }
}

fn definition(name: &str, veto: bool) -> Agent {
    Agent {
        name: name.to_owned(),
        title: name.strip_suffix("-reviewer").unwrap_or(name).to_owned(),
        focus: "everything".to_owned(),
        base_budget: 8192,
        veto,
        max_severity: (name == "user-persona-reviewer").then_some(Severity::Medium),
        domain: Domain::default(),
        catch_all: false,
        categories: vec!["logic".to_owned(), "secrets".to_owned()],
        veto_criteria: vec![VetoCriterion {
            id: "secret-in-code".to_owned(),
            min_severity: Severity::High,
            categories: vec!["secrets".to_owned()],
            traced: false,
            when: "A credential is in the code.".to_owned(),
        }],
        model: None,
        instructions: String::new(),
        origin: AgentOrigin::Embedded,
    }
}

fn plan(files: &[&str]) -> Plan {
    let files = files.iter().map(|path| FileEntry {
        path: Arc::from(*path),
        old_path: None,
        change: Change::Modified,
        language: None,
        kind: FileKind::Code,
        tokens: 1000,
        flags: Vec::new(),
        flag_reasons: BTreeMap::new(),
        hunks: Vec::new(),
        digest: None,
    });
    Plan {
        schema_version: SCHEMA_VERSION,
        scope: Scope {
            kind: ScopeKind::Paths,
            label: "src/".to_owned(),
            base: None,
            head: None,
            files: files.collect(),
            ignored: Vec::new(),
        },
        tokenizer: "o200k".to_owned(),
        total_tokens: 1000,
        tier: TierAssessment {
            name: Tier::Standard,
            base_score: 12,
            adjusted_score: 12.0,
            overridden: None,
            dimensions: BTreeMap::new(),
            multipliers: Vec::new(),
        },
        isolation: Isolation::Shared,
        protocol: Protocol::Veto,
        agents: Vec::new(),
        unassigned: Vec::new(),
        ceilings: Ceilings { calls: 1, tokens: 1, seconds: 1, usd: None, first_wave: None },
        warnings: Vec::new(),
    }
}
