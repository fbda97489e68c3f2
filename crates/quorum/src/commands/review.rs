//! `quorum review`.

use std::collections::BTreeMap;

use quorum_consensus::{Input, Policy, decide, messages};
use quorum_dispatch::{BUILTIN, Reviewed, react};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_report::{Report, markdown, terminal};

use crate::cli::{Cli, ResultArgs, ReviewArgs, RunArgs};
use crate::commands::plan::{self, Made};
use crate::decided_by::DecidedBy;
use crate::failure::Failure;
use crate::gates::{self, Prepared, Watcher};
use crate::gather::Purpose;
use crate::models::{self, Engines};
use crate::record::{Recorder, UNRECORDED};
use crate::workspace::Workspace;
use crate::{embedded, history, output, progress, reports};

pub(super) fn run(cli: &Cli, arguments: &ReviewArgs) -> Result<u8, Failure> {
    refuse_unknown(&arguments.run)?;
    let made = plan::make(cli, &arguments.scope, &arguments.run, Purpose::Review)?;
    let engines = models::engines(&made.plan, &made.workspace)?;
    let gates = gates(&made.workspace, &arguments.run)?;
    let recorder = Recorder::start(&made.workspace, &made.plan)?;
    let work = Work { cli, made: &made, engines: &engines, gates: gates.as_ref() };
    go_on(&work, &recorder, (&arguments.run, &arguments.output))
}

/// What a review works with.
pub(super) struct Work<'a> {
    pub(super) cli: &'a Cli,
    pub(super) made: &'a Made,
    pub(super) engines: &'a Engines,
    /// The checks that come first, where they are asked for.
    pub(super) gates: Option<&'a Prepared>,
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

/// What is asked for and cannot be done is not passed over: a verdict would seem to rest on it.
fn refuse_unknown(arguments: &RunArgs) -> Result<(), Failure> {
    if arguments.verify {
        return Err(Failure::new("this version cannot do what `--verify` asks for")
            .with_hint("leave `--verify` out"));
    }
    Ok(())
}

/// Does what is left to do of a run, and prints its result.
pub(super) fn go_on(
    work: &Work<'_>,
    recorder: &Recorder,
    (arguments, output): (&RunArgs, &ResultArgs),
) -> Result<u8, Failure> {
    let Made { plan, workspace, .. } = work.made;
    let result = match review(work, recorder, arguments)? {
        Came::Decided(result) => result,
        Came::Interrupted(outcomes) => {
            return interrupted(work.made, recorder, &outcomes, arguments, output);
        }
    };
    let run = recorder.kept();
    let report = reports::report(&result, plan, workspace.repository.as_ref(), run.as_ref());
    print(&report, output)
}

/// What came of a run.
pub(super) enum Came {
    /// It was decided, and is on disk.
    Decided(Box<ReviewResult>),
    /// The user stopped it, when this much was there.
    Interrupted(Vec<AgentOutcome>),
}

/// Does what is left to do of a run: gates first, then reviewers, where the gates let them.
pub(super) fn review(
    work: &Work<'_>,
    recorder: &Recorder,
    arguments: &RunArgs,
) -> Result<Came, Failure> {
    let Work { cli, made, engines, gates } = work;
    let Made { plan, workspace, files } = made;
    if let (Some(gates), None) = (gates, recorder.gates()) {
        let watcher = Watcher { quiet: cli.quiet, run: recorder.run() };
        recorder.gated(gates.run(workspace, &plan.scope, &watcher)?)?;
    }
    if recorder.gates().is_some_and(|report| !report.passed) {
        let outcomes = recorder.finished(Vec::new())?;
        return decided(recorder, plan, workspace, &outcomes, arguments);
    }
    let bar = progress::files(files.len(), cli.quiet);
    bar.set_message("Reviewing");
    let left = recorder.left_of(plan);
    let (by_rules, beside) = if left.agents.is_empty() {
        (Reviewed::default(), BTreeMap::new())
    } else {
        embedded::review_all(recorder.id(), &left, files, workspace, &bar)?
    };
    bar.finish_and_clear();
    let mut outcomes = by_rules.outcomes;
    if left.agents.iter().any(|agent| agent.engine != BUILTIN) {
        let reviewed = models::review(cli, &left, made, engines, recorder, &beside)?;
        outcomes.extend(reviewed.outcomes);
        if reviewed.interrupted {
            return Ok(Came::Interrupted(outcomes));
        }
    }
    confer(recorder.id(), plan, workspace, &mut outcomes, &by_rules.hints)?;
    let outcomes = recorder.finished(outcomes)?;
    decided(recorder, plan, workspace, &outcomes, arguments)
}

/// Decides a run and writes its full report beside it.
fn decided(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
) -> Result<Came, Failure> {
    let result = settle(recorder, plan, workspace, outcomes, arguments)?;
    let run = recorder.kept();
    let report = reports::report(&result, plan, workspace.repository.as_ref(), run.as_ref());
    recorder.keep(FULL_REPORT, &markdown::render(&report))?;
    Ok(Came::Decided(Box::new(result)))
}

/// Prints what there is of a run that was stopped. Nothing is concluded from it on disk: it can go on.
fn interrupted(
    made: &Made,
    recorder: &Recorder,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
    output: &ResultArgs,
) -> Result<u8, Failure> {
    const INTERRUPTED: u8 = 130;
    let Made { plan, workspace, .. } = made;
    let result = conclude(recorder, plan, workspace, outcomes, arguments)?;
    print(&reports::report(&result, plan, workspace.repository.as_ref(), None), output)?;
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
    let decide =
        |outcomes: &[AgentOutcome]| conclude(recorder, plan, workspace, outcomes, arguments);
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
) -> Result<(), Failure> {
    let asked = plan.protocol.requirements();
    if !asked.exchange && !asked.ballot {
        return Ok(());
    }
    let agents = DecidedBy::of(workspace).agents;
    let policy = Policy { protocol: plan.protocol, ..Policy::default() };
    let input = Input { run, plan, agents: &agents, outcomes, gates: &[], policy };
    let mut reactions = Vec::new();
    for outcome in &*outcomes {
        // A model reacts in a call of its own.
        if outcome.engine != BUILTIN {
            reactions.push(outcome.reactions.clone());
            continue;
        }
        let told = messages(&input, &outcome.agent)?;
        let own = hints.get(&outcome.agent).map(Vec::as_slice).unwrap_or_default();
        let agent = agents.iter().find(|agent| agent.name == outcome.agent);
        reactions.push(agent.map(|agent| react(agent, &told, outcomes, own)).unwrap_or_default());
    }
    for (outcome, reactions) in outcomes.iter_mut().zip(reactions) {
        outcome.reactions = reactions;
    }
    Ok(())
}

/// The verdict, from what the agents returned.
pub(super) fn conclude(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
) -> Result<ReviewResult, Failure> {
    let decided_by = DecidedBy::of(workspace);
    let policy = decided_by.policy(plan.protocol, arguments.ignore_vetos.clone())?;
    let report = recorder.gates();
    let gates = report.map(|report| report.gates.as_slice()).unwrap_or_default();
    let run = recorder.id();
    let input = Input { run, plan, agents: &decided_by.agents, outcomes, gates, policy };
    let mut result = decide(&input)?;
    if let Some(report) = report {
        let missing = report.isolation.missing.iter();
        result.notes.extend(missing.map(|what| format!("gates ran with less isolation: {what}")));
    }
    Ok(result)
}

/// The report in full, in a run's folder.
const FULL_REPORT: &str = "report.md";

/// Where the report is in full, for people; absent where the run is not kept.
fn full_report(result: &ReviewResult) -> Option<String> {
    let kept = result.run != UNRECORDED;
    kept.then(|| format!(".quorum/runs/{}/{FULL_REPORT}", result.run))
}
