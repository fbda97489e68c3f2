//! All reviewers of a plan at once.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use quorum_model::agent::Agent;
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::scope::{Change, FileEntry};
use quorum_model::severity::Severity;
use quorum_model::unit::Unit;

use super::branch::{BranchLimits, BranchState, Branches};
use super::desk::{AgentEngine, Cancel, Desk, LlmReview};
use super::ground::Ground;
use super::injection;
use super::ledger::Ledger;
use super::prompt::Prompts;
use super::session::Worker;
use super::shown::{Library, Mark, ShownFile};

/// The run, its agents, and their waves.
const DEPTH: usize = 3;

/// More branches than this are never at work at once.
const MOST_ACTIVE: usize = 4_096;

/// Runs every agent of the plan that an engine is given for, all at once. What they found by then is
/// returned when `cancel` is asked for; nothing that goes wrong with one of them stops another.
pub async fn run(review: LlmReview<'_>, cancel: Cancel) -> Vec<AgentOutcome> {
    let library = Library::new(review.material, review.redactor);
    let desk = desk(review, &library, review.complete, cancel);
    let workers: Vec<Worker<'_>> = workers(&desk);
    let budget = workers.iter().map(|worker| worker.planned.budget).sum();
    let Ok(parent) = desk.branches.create(None, budget) else { return Vec::new() };
    drop(desk.branches.become_(parent, BranchState::Active));
    let mut outcomes = join_all(workers.iter().map(|worker| worker.run(parent))).await;
    drop(desk.branches.become_(parent, BranchState::Completed));
    report_attempts(&desk, &mut outcomes);
    outcomes
}

/// What all reviewers of a run work with.
pub(super) fn desk<'a>(
    review: LlmReview<'a>,
    library: &'a Library<'a>,
    complete: bool,
    cancel: Cancel,
) -> Desk<'a> {
    Desk {
        review,
        library,
        ground: Ground::new(review.plan, library),
        prompts: Prompts::new(review.fence),
        ledger: Ledger::new(review.plan, complete),
        branches: Branches::new(BranchLimits { depth: DEPTH, active: MOST_ACTIVE }),
        cancel,
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

/// What every shard's first request would be, by agent and number; nothing is sent.
pub fn prompts(review: LlmReview<'_>) -> Vec<RenderedPrompt> {
    let (_stop, cancel) = Cancel::new();
    let library = Library::new(review.material, review.redactor);
    let desk = desk(review, &library, true, cancel);
    let mut rendered = Vec::new();
    for worker in workers(&desk) {
        for (number, shard) in worker.planned.shards.iter().enumerate() {
            let Ok(branch) = desk.branches.create(None, worker.planned.budget) else { continue };
            let mut session = super::session::Session::new(&worker, branch, String::new());
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

/// Reports where the change talks to its reviewers: to the security reviewer, else to the first.
pub(super) fn report_attempts(desk: &Desk<'_>, outcomes: &mut [AgentOutcome]) {
    const SECURITY: &str = "security-reviewer";
    let reporter = outcomes.iter().position(|outcome| outcome.agent == SECURITY);
    let Some(outcome) = outcomes.get_mut(reporter.unwrap_or(0)) else { return };
    for finding in attempts(desk.review.plan, desk.library) {
        // It is found again after a crash, so that it is enough to report it at the end.
        if desk.review.journal.found(&outcome.agent, &finding).is_ok() {
            outcome.findings.push(finding);
        }
    }
}

fn attempts(plan: &Plan, library: &Library<'_>) -> Vec<AgentFinding> {
    let mut findings = Vec::new();
    for entry in &plan.scope.files {
        let shown = library.changed(&entry.path);
        if let Some(what) = injection::scan_name(&entry.path) {
            let text = first_line(shown.as_deref()).unwrap_or_else(|| entry.path.to_string());
            findings.push(attempt(entry, 1, &text, &format!("the file's name {what}")));
        }
        let Some(file) = shown else { continue };
        let lines = added_lines(entry, &file);
        let texts: BTreeMap<u64, &str> =
            lines.iter().map(|(number, text)| (*number, text.as_str())).collect();
        for found in injection::scan(lines.iter().map(|(number, text)| (*number, text.as_str()))) {
            let text = texts.get(&found.line).copied().unwrap_or_default();
            let text = super::visible::visible(text);
            findings.push(attempt(entry, found.line, &text, &format!("the text {}", found.what)));
        }
    }
    findings
}

/// The lines that a change brings, or all of a file that is reviewed as a whole; as they are, hidden
/// characters included.
fn added_lines(entry: &FileEntry, file: &ShownFile) -> Vec<(u64, String)> {
    if entry.change == Change::Deleted {
        return Vec::new();
    }
    if entry.hunks.is_empty() {
        let lines = file.head.iter().flat_map(super::shown::Shown::raw_lines);
        return lines.map(|(number, text)| (number, text.to_owned())).collect();
    }
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let added = lines.filter(|line| line.mark == Mark::Added);
    added.map(|line| (line.number, line.text.clone())).collect()
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
        rule: Some("llm.reviewer-injection".to_owned()),
        effort: None,
        confidence: Some(0.8),
        dependency: None,
        user_impact: None,
        trace: Vec::new(),
        replacement: None,
    }
}
