//! The review: gates, reviewers, consensus, record.

use std::collections::BTreeMap;

use quorum_consensus::{Input, Policy, blocking, decide, messages};
use quorum_dispatch::llm::Said;
use quorum_dispatch::{BUILTIN, Reviewed, react};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, Message};
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::verdict::Verdict;
use quorum_report::{Excerpt, Report, count, markdown};
use quorum_store::offers::{OfferState, Offers};
use tokio_util::sync::CancellationToken;

use crate::decided_by::DecidedBy;
use crate::error::EngineError;
use crate::gates::{self, PreparedGates};
use crate::history::{self, Ruling};
use crate::models::{self, Engines, Table, With};
use crate::observer::{Progress, SharedObserver, Stage};
use crate::plan::Prepared;
use crate::record::Recorder;
use crate::{embedded, events, reports};

/// What came of a review.
#[derive(Debug)]
pub struct Review {
    /// The verdict, with everything that it follows from.
    pub result: ReviewResult,
    /// Whether it was cancelled. Nothing is concluded from it on disk: it can be resumed.
    pub interrupted: bool,
    /// The plan that was followed.
    pub plan: Plan,
    excerpts: BTreeMap<String, Excerpt>,
    recorder: Recorder,
}

impl Review {
    /// What every output format is made of. What happened when is told on request: the journal has every
    /// exchange with a model in it, so it is read again only for those that show it.
    pub fn report(&self, with_timeline: bool) -> Report<'_> {
        let run = with_timeline.then(|| self.recorder.kept()).flatten();
        reports::assemble(&self.result, &self.plan, self.excerpts.clone(), run.as_ref())
    }

    /// Whether there is a run on disk.
    pub fn is_recorded(&self) -> bool {
        self.recorder.run().is_some()
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }
}

/// Reviews a prepared change: gates first where they are asked for, then the reviewers, then the verdict,
/// all of it recorded. It blocks, and must not be called from asynchronous code.
pub fn review(
    prepared: &Prepared,
    observer: &SharedObserver,
    cancel: &CancellationToken,
) -> Result<Review, EngineError> {
    let engines = models::engines(&prepared.plan, &prepared.workspace)?;
    if prepared.request.options.verify && engines.is_empty() {
        return Err(EngineError::invalid("a second look needs a model, and none is set")
            .with_hint("name one with `--provider`, or leave `--verify` out"));
    }
    let gates = wanted_gates(prepared, observer)?;
    let Prepared { workspace, plan, decided_by, request, .. } = prepared;
    let recorder = Recorder::start(workspace, plan, decided_by, Some(request))?;
    let work = Work { prepared, engines: &engines, gates: gates.as_ref(), observer, cancel };
    carry_on(&work, recorder)
}

/// What a review works with.
pub(crate) struct Work<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) engines: &'a Engines,
    /// The checks that come first, where they are asked for.
    pub(crate) gates: Option<&'a PreparedGates>,
    pub(crate) observer: &'a SharedObserver,
    pub(crate) cancel: &'a CancellationToken,
}

/// The gates that are asked for; refused where they need the user's word and do not have it.
pub(crate) fn wanted_gates(
    prepared: &Prepared,
    observer: &SharedObserver,
) -> Result<Option<PreparedGates>, EngineError> {
    let Prepared { workspace, request, .. } = prepared;
    let options = &request.options;
    if options.gates || options.trust_gates {
        gates::require_trust(&workspace.target, options.trust_gates)?;
    } else if !workspace.loaded.config.gates.run {
        return Ok(None);
    } else if gates::needs_trust(&workspace.target) {
        let text = "gates do not run: the change may be somebody else's (`--trust-gates`)";
        observer.observe(Progress::Notice(text));
        return Ok(None);
    }
    gates::prepare(workspace, observer).map(Some)
}

/// Does what is left to do of a run and decides it.
pub(crate) fn carry_on(work: &Work<'_>, recorder: Recorder) -> Result<Review, EngineError> {
    let Work { prepared, observer, .. } = work;
    observer.observe(Progress::RunStarted { run: recorder.id() });
    if observer.wants_events() {
        match recorder.run() {
            Some(run) => events::follow(run, prepared, observer)?,
            None => {
                observer.observe(Progress::Notice("there are no events of a run that is not kept"));
            }
        }
    }
    let Reviewers { outcomes, interrupted } = reviewers(work, &recorder)?;
    if interrupted {
        let result = conclude(&recorder, prepared, &outcomes, &Ruling::default())?;
        let repository = prepared.workspace.repository.as_ref();
        let excerpts = reports::excerpts(&result, &prepared.plan.scope, repository);
        let plan = prepared.plan.clone();
        return Ok(Review { result, interrupted, plan, excerpts, recorder });
    }
    let Ended { result, excerpts } = end(&recorder, prepared, outcomes, observer)?;
    Ok(Review { result, interrupted, plan: prepared.plan.clone(), excerpts, recorder })
}

/// What reviewers returned, and whether they were stopped.
pub(crate) struct Reviewers {
    pub(crate) outcomes: Vec<AgentOutcome>,
    pub(crate) interrupted: bool,
}

/// Gates first, then reviewers, where the gates let them.
pub(crate) fn reviewers(work: &Work<'_>, recorder: &Recorder) -> Result<Reviewers, EngineError> {
    let Work { prepared, engines, gates, observer, cancel } = *work;
    let Prepared { plan, workspace, files, sops, decided_by, .. } = prepared;
    if let (Some(gates), None) = (gates, recorder.gates()) {
        recorder.gated(gates.run(workspace, &plan.scope, &**observer, recorder.run())?)?;
    }
    if recorder.gates().is_some_and(|report| !report.passed) {
        return Ok(Reviewers { outcomes: Vec::new(), interrupted: false });
    }
    let total = files.len() as u64;
    observer.observe(Progress::StageStarted { stage: Stage::Reviewing, total });
    let asked = plan.protocol.requirements();
    let together = asked.exchange || asked.ballot || workspace.loaded.config.verify;
    let left = recorder.left_of(plan, together);
    recorder.begun(left.agents.iter().filter(|agent| agent.engine == BUILTIN))?;
    let (by_rules, beside) = if left.agents.is_empty() {
        (Reviewed::default(), BTreeMap::new())
    } else {
        embedded::review_all(recorder.id(), &left, files, workspace, sops, &**observer)?
    };
    observer.observe(Progress::StageEnded { stage: Stage::Reviewing });
    let mut outcomes = by_rules.outcomes;
    recorder.found(&outcomes)?;
    if cancel.is_cancelled() {
        return Ok(Reviewers { outcomes, interrupted: true });
    }
    let hints = &by_rules.hints;
    let mut interrupted = false;
    if left.agents.iter().any(|agent| agent.engine != BUILTIN) {
        let with = With {
            engines,
            beside: &beside,
            violated: &by_rules.violated,
            suppressed: &by_rules.suppressed,
            looked_at: &by_rules.beside,
            plan,
            together,
            cancel,
        };
        // They are done, and need not wait for the models.
        for outcome in outcomes.iter().cloned() {
            if together { recorder.sketched(outcome)? } else { recorder.ended(outcome)? }
        }
        interrupted = models::convene(&left, prepared, recorder, &with, &**observer, |table| {
            outcomes.extend(table.review().into_iter().map(|outcome| with.checked(outcome)));
            confer(recorder.id(), plan, decided_by, &mut outcomes, hints, Some(table))?;
            verify(recorder.id(), prepared, &mut outcomes, table)?;
            Ok(table.is_interrupted())
        })?;
    } else {
        confer(recorder.id(), plan, decided_by, &mut outcomes, hints, None)?;
    }
    Ok(Reviewers { outcomes, interrupted })
}

/// A decided review, with the code around its findings.
pub(crate) struct Ended {
    pub(crate) result: ReviewResult,
    pub(crate) excerpts: BTreeMap<String, Excerpt>,
}

/// Decides a run from what its agents returned, and writes it out with its report.
pub(crate) fn end(
    recorder: &Recorder,
    prepared: &Prepared,
    outcomes: Vec<AgentOutcome>,
    observer: &SharedObserver,
) -> Result<Ended, EngineError> {
    let outcomes = recorder.finished(outcomes)?;
    let result = settle(recorder, prepared, &outcomes)?;
    offer_conventions(recorder, prepared, &result, &outcomes, observer)?;
    let repository = prepared.workspace.repository.as_ref();
    // They are read and masked once, for this report and for every format that follows.
    let excerpts = reports::excerpts(&result, &prepared.plan.scope, repository);
    let report = reports::assemble(&result, &prepared.plan, excerpts, None);
    recorder.keep(FULL_REPORT, &markdown::render(&report))?;
    let excerpts = report.excerpts;
    Ok(Ended { result, excerpts })
}

/// Offers what reviewers saw the code follow as conventions, where the code was approved.
fn offer_conventions(
    recorder: &Recorder,
    prepared: &Prepared,
    result: &ReviewResult,
    outcomes: &[AgentOutcome],
    observer: &SharedObserver,
) -> Result<(), EngineError> {
    let Some(root) = recorder.root() else { return Ok(()) };
    let seen = || outcomes.iter().filter(|outcome| !outcome.patterns.is_empty());
    if result.verdict != Verdict::Approved || seen().next().is_none() {
        return Ok(());
    }
    let mut offers = Offers::open(root)?;
    let now = prepared.workspace.environment.clock.now();
    for outcome in seen() {
        offers.offer(recorder.id(), &outcome.agent, &outcome.patterns, now)?;
    }
    let waiting = offers.list()?;
    let waiting = waiting.iter().filter(|offer| offer.state == OfferState::Offered).count();
    if waiting > 0 {
        let what = count(waiting, "convention is", "conventions are");
        let text = format!("{what} offered; see `quorum conventions list`");
        observer.observe(Progress::Notice(&text));
    }
    Ok(())
}

/// Decides a run, in the light of the ones before it, and writes it out.
pub(crate) fn settle(
    recorder: &Recorder,
    prepared: &Prepared,
    outcomes: &[AgentOutcome],
) -> Result<ReviewResult, EngineError> {
    let decide =
        |outcomes: &[AgentOutcome], ruling: &Ruling| conclude(recorder, prepared, outcomes, ruling);
    let Prepared { plan, workspace, .. } = prepared;
    let settled = history::settle(recorder, plan, workspace, outcomes, &decide)?;
    recorder.decided(&settled.outcomes, &settled.result)?;
    Ok(settled.result)
}

/// Lets the reviewers react to each other's findings, where the protocol has them do so.
fn confer(
    run: &str,
    plan: &Plan,
    decided_by: &DecidedBy,
    outcomes: &mut [AgentOutcome],
    hints: &BTreeMap<String, Vec<AgentFinding>>,
    table: Option<&Table<'_>>,
) -> Result<(), EngineError> {
    if table.is_some_and(Table::is_interrupted) {
        return Ok(());
    }
    let agents = &decided_by.agents;
    let mut told_to = told(run, plan, decided_by, outcomes)?;
    if told_to.is_empty() {
        return Ok(());
    }
    let mut reactions = Vec::new();
    for outcome in &*outcomes {
        if outcome.engine != BUILTIN {
            reactions.push(Vec::new());
            continue;
        }
        let told = told_to.remove(&outcome.agent).unwrap_or_default();
        let own = hints.get(&outcome.agent).map(Vec::as_slice).unwrap_or_default();
        let agent = agents.iter().find(|agent| agent.name == outcome.agent);
        reactions.push(agent.map(|agent| react(agent, &told, outcomes, own)).unwrap_or_default());
    }
    for (outcome, reactions) in outcomes.iter_mut().zip(reactions) {
        outcome.reactions = reactions;
    }
    if let Some(table) = table {
        join(outcomes, table.confer(&told_to));
    }
    Ok(())
}

/// What each agent is told about the findings of others; nothing where the protocol has them decided
/// without.
pub(crate) fn told(
    run: &str,
    plan: &Plan,
    decided_by: &DecidedBy,
    outcomes: &[AgentOutcome],
) -> Result<BTreeMap<String, Vec<Message>>, EngineError> {
    let asked = plan.protocol.requirements();
    if !asked.exchange && !asked.ballot {
        return Ok(BTreeMap::new());
    }
    let policy = Policy { protocol: plan.protocol, ..Policy::default() };
    let input = Input { run, plan, agents: &decided_by.agents, outcomes, gates: &[], policy };
    let one =
        |outcome: &AgentOutcome| Ok((outcome.agent.clone(), messages(&input, &outcome.agent)?));
    outcomes.iter().map(one).collect()
}

/// Has what blocks the change looked at a second time, where the user wants that.
fn verify(
    run: &str,
    prepared: &Prepared,
    outcomes: &mut [AgentOutcome],
    table: &Table<'_>,
) -> Result<(), EngineError> {
    let Prepared { plan, workspace, decided_by, .. } = prepared;
    if !workspace.loaded.config.verify || table.is_interrupted() {
        return Ok(());
    }
    let policy = decided_by.policy(plan.protocol, prepared.ignore_vetos())?;
    let input = Input { run, plan, agents: &decided_by.agents, outcomes, gates: &[], policy };
    let findings = blocking(&input)?;
    join(outcomes, table.verify(&findings));
    Ok(())
}

/// Adds what agents said later to what they returned.
fn join(outcomes: &mut [AgentOutcome], said: Vec<Said>) {
    for said in said {
        if let Some(outcome) = outcomes.iter_mut().find(|outcome| outcome.agent == said.agent) {
            said.join(outcome);
        }
    }
}

/// The verdict, from what the agents returned.
fn conclude(
    recorder: &Recorder,
    prepared: &Prepared,
    outcomes: &[AgentOutcome],
    ruling: &Ruling,
) -> Result<ReviewResult, EngineError> {
    let Prepared { plan, workspace, decided_by, .. } = prepared;
    let policy = decided_by.policy(plan.protocol, prepared.ignore_vetos())?;
    let policy = ruling.clone().into(policy);
    let report = recorder.gates();
    let gates = report.map(|report| report.gates.as_slice()).unwrap_or_default();
    let run = recorder.id();
    let input = Input { run, plan, agents: &decided_by.agents, outcomes, gates, policy };
    let mut result = decide(&input)?;
    if let Some(report) = report {
        let missing = report.isolation.missing.iter();
        result.notes.extend(missing.map(|what| format!("gates ran with less isolation: {what}")));
    }
    result.notes.extend(workspace.loaded.warning(""));
    Ok(result)
}

/// The report in full, in a run's folder.
pub const FULL_REPORT: &str = "report.md";
