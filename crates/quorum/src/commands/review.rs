//! `quorum review`.

use std::collections::BTreeMap;
use std::path::Path;

use indicatif::ProgressBar;
use jiff::Timestamp;
use quorum_consensus::{Input, Policy, blocking, decide, messages};
use quorum_dispatch::llm::Said;
use quorum_dispatch::{BUILTIN, Reviewed, react};
use quorum_index::Counter;
use quorum_model::config::Tokenizer;
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, Message};
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::verdict::Verdict;
use quorum_report::{Report, count, markdown, terminal};
use quorum_rules::RuleSet;
use quorum_store::offers::{OfferState, Offers};

use crate::cli::{Cli, LiveArgs, ResultArgs, ReviewArgs, RunArgs};
use crate::commands::plan::{self, Made};
use crate::decided_by::DecidedBy;
use crate::failure::Failure;
use crate::gates::{self, Prepared, Watcher};
use crate::gather::Purpose;
use crate::history::Ruling;
use crate::models::{self, Engines, Table, With};
use crate::record::{Recorder, UNRECORDED};
use crate::request::Request;
use crate::workspace::Workspace;
use crate::{embedded, history, live, output, progress, reports};

pub(super) fn run(cli: &Cli, arguments: &ReviewArgs) -> Result<u8, Failure> {
    warm_up(arguments.run.provider.as_deref().is_some_and(|provider| provider != BUILTIN));
    let made = plan::make(cli, &arguments.scope, &arguments.run, Purpose::Review)?;
    let engines = models::engines(&made.plan, &made.workspace)?;
    if arguments.run.verify && engines.is_empty() {
        return Err(Failure::new("a second look needs a model, and none is set")
            .with_hint("name one with `--provider`, or leave `--verify` out"));
    }
    let gates = gates(&made.workspace, &arguments.run)?;
    let request = Request::of_process();
    let recorder = Recorder::start(&made.workspace, &made.plan, request.as_ref())?;
    let ReviewArgs { run, output, live, .. } = arguments;
    let work = Work { cli, made: &made, engines: &engines, gates: gates.as_ref() };
    go_on(&work, &recorder, &Asked { run, output, live })
}

/// Loads what takes a tenth of a second to load while git is asked what changed: the rules, and the
/// vocabulary that prompts to models are counted with. The threads that review later do it, so that
/// what they free on the way is theirs to use again.
fn warm_up(for_models: bool) {
    rayon::spawn(|| {
        RuleSet::embedded();
    });
    if for_models {
        rayon::spawn(|| {
            Counter::new(Tokenizer::default()).count(b"word");
        });
    }
}

/// What a review works with.
pub(crate) struct Work<'a> {
    pub(crate) cli: &'a Cli,
    pub(crate) made: &'a Made,
    pub(crate) engines: &'a Engines,
    /// The checks that come first, where they are asked for.
    pub(crate) gates: Option<&'a Prepared>,
}

/// The gates that the user asks for; refused where they need the user's word and do not have it.
pub(super) fn gates(
    workspace: &Workspace,
    arguments: &RunArgs,
) -> Result<Option<Prepared>, Failure> {
    let asked = arguments.gates || arguments.trust_gates;
    if asked {
        gates::require_trust(&workspace.target, arguments.trust_gates)?;
    } else if !workspace.loaded.config.gates.run {
        return Ok(None);
    } else if gates::needs_trust(&workspace.target) {
        output::notice("gates do not run: the change may be somebody else's (`--trust-gates`)");
        return Ok(None);
    }
    gates::prepare(workspace).map(Some)
}

/// What the command line says about a review beside its scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) run: &'a RunArgs,
    pub(super) output: &'a ResultArgs,
    pub(super) live: &'a LiveArgs,
}

impl Asked<'_> {
    /// Starts to tell what happens, where that is wanted.
    fn follow(&self, recorder: &Recorder, plan: &Plan) -> Result<(), Failure> {
        match (&self.live.events, recorder.run()) {
            (Some(to), Some(run)) => live::follow(run, plan, to),
            (Some(_), None) => {
                output::notice("there are no events of a run that is not kept");
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// Prints a report, unless events have standard output for themselves; returns the exit code.
    fn print(&self, report: &Report<'_>) -> Result<u8, Failure> {
        let to_events = self.live.events.as_deref() == Some(Path::new(live::STANDARD_OUTPUT));
        if to_events && self.output.output.is_none() {
            return Ok(report.result.exit_code);
        }
        print(report, self.output)
    }
}

/// Does what is left to do of a run, and prints its result.
pub(super) fn go_on(
    work: &Work<'_>,
    recorder: &Recorder,
    asked: &Asked<'_>,
) -> Result<u8, Failure> {
    let Made { plan, workspace, .. } = work.made;
    asked.follow(recorder, plan)?;
    let how = How { bar: progress::files(work.made.files.len(), work.cli.quiet), stop: &|| false };
    match perform(work, recorder, asked.run, &how)? {
        Performed::Stopped(outcomes) => interrupted(work.made, recorder, &outcomes, asked),
        Performed::Decided(result) => {
            // Its journal has every exchange in it, so it is read again only for those that show it.
            let run = reports::tell_when(asked.output.format).then(|| recorder.kept()).flatten();
            let repository = workspace.repository.as_ref();
            asked.print(&reports::report(&result, plan, repository, run.as_ref()))
        }
    }
}

/// How a review is watched and stopped.
pub(crate) struct How<'a> {
    pub(crate) bar: ProgressBar,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

/// What came of a run.
pub(crate) enum Performed {
    Decided(Box<ReviewResult>),
    /// It was stopped; what agents had returned by then.
    Stopped(Vec<AgentOutcome>),
}

/// Does what is left to do of a run and decides it.
pub(crate) fn perform(
    work: &Work<'_>,
    recorder: &Recorder,
    arguments: &RunArgs,
    how: &How<'_>,
) -> Result<Performed, Failure> {
    match gather(work, recorder, arguments, how)? {
        Gathered { outcomes, stopped: true } => Ok(Performed::Stopped(outcomes)),
        Gathered { outcomes, stopped: false } => {
            let Made { plan, workspace, .. } = work.made;
            let result = end(recorder, plan, workspace, outcomes, arguments)?;
            Ok(Performed::Decided(Box::new(result)))
        }
    }
}

/// What agents returned, and whether they were stopped.
pub(super) struct Gathered {
    pub(super) outcomes: Vec<AgentOutcome>,
    pub(super) stopped: bool,
}

/// Gates first, then reviewers, where the gates let them.
pub(super) fn gather(
    work: &Work<'_>,
    recorder: &Recorder,
    arguments: &RunArgs,
    how: &How<'_>,
) -> Result<Gathered, Failure> {
    let Work { cli, made, engines, gates } = *work;
    let Made { plan, workspace, files } = made;
    if let (Some(gates), None) = (gates, recorder.gates()) {
        let watcher = Watcher { quiet: cli.quiet, run: recorder.run() };
        recorder.gated(gates.run(workspace, &plan.scope, &watcher)?)?;
    }
    if recorder.gates().is_some_and(|report| !report.passed) {
        return Ok(Gathered { outcomes: Vec::new(), stopped: false });
    }
    let bar = &how.bar;
    bar.set_message("Reviewing");
    let asked = plan.protocol.requirements();
    let together = asked.exchange || asked.ballot || workspace.loaded.config.verify;
    let left = recorder.left_of(plan, together);
    recorder.begun(left.agents.iter().filter(|agent| agent.engine == BUILTIN))?;
    let (by_rules, beside) = if left.agents.is_empty() {
        (Reviewed::default(), BTreeMap::new())
    } else {
        embedded::review_all(recorder.id(), &left, files, workspace, bar)?
    };
    bar.finish_and_clear();
    let mut outcomes = by_rules.outcomes;
    recorder.found(&outcomes)?;
    if (how.stop)() {
        return Ok(Gathered { outcomes, stopped: true });
    }
    let hints = &by_rules.hints;
    let mut stopped = false;
    if left.agents.iter().any(|agent| agent.engine != BUILTIN) {
        let with = With {
            engines,
            beside: &beside,
            violated: &by_rules.violated,
            suppressed: &by_rules.suppressed,
            looked_at: &by_rules.beside,
            plan,
            together,
            stop: how.stop,
        };
        // They are done, and need not wait for the models.
        for outcome in outcomes.iter().cloned() {
            if together { recorder.sketched(outcome)? } else { recorder.ended(outcome)? }
        }
        stopped = models::convene(cli, &left, made, recorder, &with, |table| {
            outcomes.extend(table.review().into_iter().map(|outcome| with.checked(outcome)));
            confer(recorder.id(), plan, workspace, &mut outcomes, hints, Some(table))?;
            verify(recorder.id(), made, &mut outcomes, arguments, table)?;
            Ok(table.is_interrupted())
        })?;
    } else {
        confer(recorder.id(), plan, workspace, &mut outcomes, hints, None)?;
    }
    Ok(Gathered { outcomes, stopped })
}

/// Decides a run from what its agents returned, and writes it out with its report.
pub(crate) fn end(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: Vec<AgentOutcome>,
    arguments: &RunArgs,
) -> Result<ReviewResult, Failure> {
    let outcomes = recorder.finished(outcomes)?;
    let result = settle(recorder, plan, workspace, &outcomes, arguments)?;
    offer_conventions(recorder, &result, &outcomes)?;
    let report = reports::report(&result, plan, workspace.repository.as_ref(), None);
    recorder.keep(FULL_REPORT, &markdown::render(&report))?;
    Ok(result)
}

/// Offers what reviewers saw the code follow as conventions, where the code was approved.
fn offer_conventions(
    recorder: &Recorder,
    result: &ReviewResult,
    outcomes: &[AgentOutcome],
) -> Result<(), Failure> {
    let Some(root) = recorder.root() else { return Ok(()) };
    let seen = || outcomes.iter().filter(|outcome| !outcome.patterns.is_empty());
    if result.verdict != Verdict::Approved || seen().next().is_none() {
        return Ok(());
    }
    let mut offers = Offers::open(root)?;
    for outcome in seen() {
        offers.offer(recorder.id(), &outcome.agent, &outcome.patterns, Timestamp::now())?;
    }
    let waiting = offers.list()?;
    let waiting = waiting.iter().filter(|offer| offer.state == OfferState::Offered).count();
    if waiting > 0 {
        let what = count(waiting, "convention is", "conventions are");
        output::notice(&format!("{what} offered; see `quorum conventions list`"));
    }
    Ok(())
}

/// Prints what there is of a run that was stopped. Nothing is concluded from it on disk: it can go on.
fn interrupted(
    made: &Made,
    recorder: &Recorder,
    outcomes: &[AgentOutcome],
    asked: &Asked<'_>,
) -> Result<u8, Failure> {
    const INTERRUPTED: u8 = 130;
    let Made { plan, workspace, .. } = made;
    let ruling = Ruling::default();
    let result = conclude(recorder, plan, workspace, outcomes, asked.run, &ruling)?;
    asked.print(&reports::report(&result, plan, workspace.repository.as_ref(), None))?;
    if recorder.run().is_some() {
        output::notice(&format!("interrupted; `quorum resume {}` goes on", recorder.id()));
    }
    Ok(INTERRUPTED)
}

/// Decides a run, in the light of the ones before it, and writes it out.
pub(super) fn settle(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
) -> Result<ReviewResult, Failure> {
    let decide = |outcomes: &[AgentOutcome], ruling: &Ruling| {
        conclude(recorder, plan, workspace, outcomes, arguments, ruling)
    };
    let settled = history::settle(recorder, plan, workspace, outcomes, &decide)?;
    recorder.decided(&settled.outcomes, &settled.result)?;
    Ok(settled.result)
}

/// Prints a report and returns the exit code of its result.
pub(super) fn print(report: &Report<'_>, output: &ResultArgs) -> Result<u8, Failure> {
    let file = output.output.as_deref();
    if let Some(written) = reports::write(report, output.format, file) {
        written?;
    } else {
        let full = full_report(report.result);
        let options = terminal::Options {
            width: output::width(),
            // What cannot show colours gets the text without them.
            color: true,
            unicode: output::is_unicode(),
            full_report: full.as_deref(),
        };
        output::text(&terminal::render(report, &options), file)?;
    }
    Ok(report.result.exit_code)
}

/// Lets the reviewers react to each other's findings, where the protocol has them do so.
fn confer(
    run: &str,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &mut [AgentOutcome],
    hints: &BTreeMap<String, Vec<AgentFinding>>,
    table: Option<&Table<'_>>,
) -> Result<(), Failure> {
    if table.is_some_and(Table::is_interrupted) {
        return Ok(());
    }
    let agents = DecidedBy::of(workspace).agents;
    let mut told_to = told(run, plan, workspace, outcomes)?;
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
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
) -> Result<BTreeMap<String, Vec<Message>>, Failure> {
    let asked = plan.protocol.requirements();
    if !asked.exchange && !asked.ballot {
        return Ok(BTreeMap::new());
    }
    let agents = DecidedBy::of(workspace).agents;
    let policy = Policy { protocol: plan.protocol, ..Policy::default() };
    let input = Input { run, plan, agents: &agents, outcomes, gates: &[], policy };
    let one =
        |outcome: &AgentOutcome| Ok((outcome.agent.clone(), messages(&input, &outcome.agent)?));
    outcomes.iter().map(one).collect()
}

/// Has what blocks the change looked at a second time, where the user wants that.
fn verify(
    run: &str,
    made: &Made,
    outcomes: &mut [AgentOutcome],
    arguments: &RunArgs,
    table: &Table<'_>,
) -> Result<(), Failure> {
    let Made { plan, workspace, .. } = made;
    if !workspace.loaded.config.verify || table.is_interrupted() {
        return Ok(());
    }
    let decided_by = DecidedBy::of(workspace);
    let policy = decided_by.policy(plan.protocol, arguments.ignore_vetos.clone())?;
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
pub(super) fn conclude(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
    ruling: &Ruling,
) -> Result<ReviewResult, Failure> {
    let decided_by = DecidedBy::of(workspace);
    let policy = decided_by.policy(plan.protocol, arguments.ignore_vetos.clone())?;
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
const FULL_REPORT: &str = "report.md";

/// Where the report is in full, for people; absent where the run is not kept.
fn full_report(result: &ReviewResult) -> Option<String> {
    let kept = result.run != UNRECORDED;
    kept.then(|| format!(".quorum/runs/{}/{FULL_REPORT}", result.run))
}
