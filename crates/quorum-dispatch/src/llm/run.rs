//! All reviewers of a plan at once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use futures_util::future::join_all;
use quorum_model::agent::Agent;
use quorum_model::finding::{AgentFinding, Finding};
use quorum_model::outcome::{AgentOutcome, Message};
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::scope::FileEntry;
use quorum_model::severity::Severity;
use quorum_model::unit::Unit;

use super::branch::{BranchId, BranchLimits, BranchState, Branches};
use super::desk::{AgentEngine, Cancel, Desk, LlmReview};
use super::ground::Ground;
use super::ledger::Ledger;
use super::prompt::Prompts;
use super::said::Said;
use super::seats::Seats;
use super::session::{Session, Worker};
use super::shown::{Library, ShownFile};
use super::verify::assign;

/// The run, its agents, and their waves.
const DEPTH: usize = 3;

/// More branches than this are never at work at once.
const MOST_ACTIVE: usize = 4_096;

/// Reviewers that are models, at one table: under one set of ceilings they review, say what they
/// think of each other's findings, and look at findings a second time.
pub struct Panel<'a> {
    review: LlmReview<'a>,
    library: Library<'a>,
    prompts: Prompts,
    ledger: Ledger,
    branches: Branches,
    seats: Seats,
    cancel: Cancel,
    attempts: OnceLock<Vec<AgentFinding>>,
}

impl std::fmt::Debug for Panel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Panel").field("review", &self.review).finish_non_exhaustive()
    }
}

impl<'a> Panel<'a> {
    /// The reviewers of a plan. Time runs from here on.
    pub fn new(review: LlmReview<'a>, cancel: Cancel) -> Self {
        Self {
            review,
            seats: Seats::new(&review),
            library: Library::new(review.material, review.redactor),
            prompts: Prompts::new(review.fence),
            ledger: Ledger::new(review.plan, review.complete, review.spent),
            branches: Branches::new(BranchLimits { depth: DEPTH, active: MOST_ACTIVE }),
            cancel,
            attempts: OnceLock::new(),
        }
    }

    /// Looks for places where the change talks to its reviewers, and has them on record.
    pub(super) fn look_for_attempts(&self) -> Result<(), String> {
        let Some(reporter) = self.review.reporter else { return Ok(()) };
        if self.review.plan.agents.iter().all(|agent| agent.name != reporter) {
            // It ended before the run went on, and has reported them.
            return Ok(());
        }
        let found = attempts(&self.review, &self.library);
        let recorded =
            found.iter().try_for_each(|finding| self.review.journal.found(reporter, finding));
        self.attempts.get_or_init(|| found);
        recorded
    }

    /// What all reviewers of the run work with.
    pub(super) fn desk(&self) -> Desk<'_> {
        Desk {
            review: self.review,
            library: &self.library,
            ground: Ground::new(self.review.plan, &self.library),
            prompts: &self.prompts,
            ledger: &self.ledger,
            branches: &self.branches,
            seats: &self.seats,
            cancel: &self.cancel,
            attempts: self.attempts.get().map(Vec::as_slice).unwrap_or_default(),
        }
    }

    /// Runs every agent of the plan that an engine is given for, all at once. What they found by
    /// then is returned when it is cancelled; nothing that goes wrong with one of them stops another.
    pub async fn review(&self) -> Vec<AgentOutcome> {
        // Before anything is asked: a run that is killed has it on record.
        let recorded = self.look_for_attempts();
        let desk = self.desk();
        let workers: Vec<Worker<'_>> = workers(&desk);
        let Some(parent) = self.parent(&workers) else { return Vec::new() };
        let mut outcomes = join_all(workers.iter().map(|worker| worker.run(parent))).await;
        drop(self.branches.become_(parent, BranchState::Completed));
        if let (Err(cause), Some(first)) = (recorded, outcomes.first_mut()) {
            first.notes.push(cause);
        }
        outcomes
    }

    /// Tells agents what others found, and returns what they say to it.
    pub async fn confer(&self, told: &BTreeMap<String, Vec<Message>>) -> Vec<Said> {
        let desk = self.desk();
        let workers: Vec<Worker<'_>> = workers(&desk);
        let Some(parent) = self.parent(&workers) else { return Vec::new() };
        let asked = workers.iter().filter_map(|worker| {
            let messages = told.get(&worker.agent.name).filter(|messages| !messages.is_empty())?;
            Some(worker.confer(parent, messages))
        });
        let said = join_all(asked).await;
        drop(self.branches.become_(parent, BranchState::Completed));
        said
    }

    /// Has findings looked at a second time, and returns what speaks against them.
    pub async fn verify(&self, findings: &[Finding]) -> Vec<Said> {
        let desk = self.desk();
        let workers: Vec<Worker<'_>> = workers(&desk);
        let Some(parent) = self.parent(&workers) else { return Vec::new() };
        let names: Vec<&str> = workers.iter().map(|worker| worker.agent.name.as_str()).collect();
        let assigned = assign(self.review.plan, &names, findings);
        let looks = workers.iter().filter_map(|worker| {
            let findings = assigned.get(&worker.agent.name)?;
            Some(worker.verify(parent, findings))
        });
        let said = join_all(looks).await;
        drop(self.branches.become_(parent, BranchState::Completed));
        said
    }

    /// The branch that those of `workers` are children of.
    fn parent(&self, workers: &[Worker<'_>]) -> Option<BranchId> {
        let budget = workers.iter().map(|worker| worker.planned.budget).sum();
        let parent = self.branches.create(None, budget).ok()?;
        self.branches.become_(parent, BranchState::Active).ok()?;
        Some(parent)
    }

    /// What every shard's first request would be, by agent and number; nothing is sent.
    pub fn prompts(&self) -> Vec<RenderedPrompt> {
        let desk = self.desk();
        let mut rendered = Vec::new();
        for worker in workers(&desk) {
            for (number, shard) in worker.planned.shards.iter().enumerate() {
                let Ok(branch) = self.branches.create(None, worker.planned.budget) else {
                    continue;
                };
                let mut session = Session::new(&worker, branch, String::new());
                let request = session.first_request(shard);
                rendered.push(RenderedPrompt {
                    agent: worker.agent.name.clone(),
                    shard: number,
                    wave: shard.wave,
                    request,
                });
            }
        }
        rendered
    }
}

/// The agents of the plan that have an engine, ready to work.
pub(super) fn workers<'a>(desk: &'a Desk<'a>) -> Vec<Worker<'a>> {
    let review = &desk.review;
    let ready = |planned: &'a PlannedAgent| -> Option<(&'a Agent, &'a AgentEngine)> {
        let agent = review.agents.iter().find(|agent| agent.name == planned.name)?;
        Some((agent, review.engines.get(&planned.name)?))
    };
    let planned = review.plan.agents.iter();
    planned
        .filter_map(|planned| {
            let (agent, engine) = ready(planned)?;
            let mut units: BTreeMap<&str, Vec<&Unit>> = BTreeMap::new();
            for unit in planned.shards.iter().flat_map(|shard| &shard.units) {
                units.entry(&unit.path).or_default().push(unit);
            }
            Some(Worker { desk, agent, planned, engine, units })
        })
        .collect()
}

/// A request that would be sent.
#[derive(Clone, Debug)]
pub struct RenderedPrompt {
    /// The agent.
    pub agent: String,
    /// The shard, counted from 0 within the agent.
    pub shard: usize,
    /// Its wave.
    pub wave: u32,
    /// The request.
    pub request: quorum_llm::Request,
}

/// The agent that reports where a change talks to its reviewers: the one for security, else the first
/// that is no set of rules. It follows from the whole plan, so that a run that goes on has the same.
pub fn reporter(plan: &Plan) -> Option<&str> {
    const SECURITY: &str = "security-reviewer";
    let mut modelled = plan.agents.iter().filter(|agent| agent.engine != crate::BUILTIN);
    let security = modelled.clone().find(|agent| agent.name == SECURITY);
    security.or_else(|| modelled.next()).map(|agent| agent.name.as_str())
}

/// What the name of the change and the names of its files say. The rules search the files themselves.
fn attempts(review: &LlmReview<'_>, library: &Library<'_>) -> Vec<AgentFinding> {
    let plan = review.plan;
    let mut findings = Vec::new();
    if let Some(what) = quorum_rules::injection::scan_name(&plan.scope.label)
        && let Some(entry) = plan.scope.files.first()
    {
        let label = library.name(&plan.scope.label);
        let text = super::visible::visible(&label);
        findings.push(attempt(entry, 1, &text, &format!("what the change is called {what}")));
    }
    for entry in &plan.scope.files {
        if let Some(what) = quorum_rules::injection::scan_name(&entry.path) {
            let shown = library.changed(&entry.path);
            let text = first_line(shown.as_deref()).unwrap_or_else(|| entry.path.to_string());
            findings.push(attempt(entry, 1, &text, &format!("the file's name {what}")));
        }
    }
    findings
}

fn first_line(file: Option<&ShownFile>) -> Option<String> {
    let (_, line) = file?.head.as_ref()?.lines().find(|(_, line)| !line.trim().is_empty())?;
    Some(line.to_owned())
}

fn attempt(entry: &FileEntry, line: u64, evidence: &str, what: &str) -> AgentFinding {
    AgentFinding {
        severity: Severity::Medium,
        category: "agentic".to_owned(),
        file: Some(entry.path.to_string()),
        line: Some(line),
        end_line: Some(line),
        location: None,
        evidence: Some(evidence.chars().take(400).collect()),
        issue: format!("The change talks to its reviewers: {what}"),
        recommendation: "Remove it, or say why it is there; reviewers were not given it as an \
                         instruction"
            .to_owned(),
        cwe: Some("CWE-1427".to_owned()),
        references: Vec::new(),
        rule: Some("text.addresses-ai-reviewer".to_owned()),
        effort: None,
        confidence: Some(0.8),
        dependency: None,
        user_impact: None,
        trace: Vec::new(),
        replacement: None,
    }
}
