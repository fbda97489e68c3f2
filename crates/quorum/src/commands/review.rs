//! `quorum review`.

use std::collections::BTreeMap;

use quorum_consensus::{Input, Policy, decide, messages};
use quorum_dispatch::{BUILTIN, Reviewed, react};
use quorum_model::agent::Agent;
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_report::{Report, markdown, terminal};

use crate::cli::{Cli, ResultArgs, ReviewArgs, RunArgs};
use crate::commands::plan::{self, Made};
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::record::{Recorder, UNRECORDED};
use crate::workspace::Workspace;
use crate::{embedded, history, output, progress, reports};

pub(super) fn run(cli: &Cli, arguments: &ReviewArgs) -> Result<u8, Failure> {
    let made = plan::make(cli, &arguments.scope, &arguments.run, Purpose::Review)?;
    refuse_providers(&made.plan)?;
    let recorder = Recorder::start(&made.workspace, &made.plan)?;
    go_on(cli, &made, &recorder, &arguments.run, &arguments.output)
}

/// Does what is left to do of a run, and prints its result.
pub(super) fn go_on(
    cli: &Cli,
    made: &Made,
    recorder: &Recorder,
    arguments: &RunArgs,
    output: &ResultArgs,
) -> Result<u8, Failure> {
    let Made { plan, workspace, files } = made;
    let bar = progress::files(files.len(), cli.quiet);
    bar.set_message("Reviewing");
    let left = recorder.left_of(plan);
    let reviewed = if left.agents.is_empty() {
        Reviewed::default()
    } else {
        embedded::review(recorder.id(), &left, files, workspace, &bar)?
    };
    bar.finish_and_clear();
    let mut outcomes = reviewed.outcomes;
    confer(recorder.id(), plan, workspace, &mut outcomes, &reviewed.hints)?;
    let outcomes = recorder.finished(outcomes)?;
    let result = settle(recorder, plan, workspace, &outcomes, arguments)?;
    let run = recorder.kept();
    let report = reports::report(&result, plan, workspace.repository.as_ref(), run.as_ref());
    recorder.keep(FULL_REPORT, &markdown::render(&report))?;
    print(&report, output)
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
        |outcomes: &[AgentOutcome]| conclude(recorder.id(), plan, workspace, outcomes, arguments);
    let settled = history::settle(recorder, plan, workspace, outcomes, &decide)?;
    recorder.decided(&settled.outcomes, &settled.result)?;
    Ok(settled.result)
}

/// Prints a report and returns the exit code of its result.
pub(super) fn print(report: &Report<'_>, output: &ResultArgs) -> Result<u8, Failure> {
    let file = output.output.as_deref();
    match reports::write(report, output.format, file) {
        Some(written) => written?,
        None => {
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
    }
    Ok(report.result.exit_code)
}

/// Only the embedded reviewers are there; another engine is not silently replaced by them.
fn refuse_providers(plan: &Plan) -> Result<(), Failure> {
    let Some(agent) = plan.agents.iter().find(|agent| agent.engine != BUILTIN) else {
        return Ok(());
    };
    Err(Failure::new(format!("{}: this version has no provider `{}`", agent.name, agent.engine))
        .with_hint("`--provider builtin` reviews offline with the embedded rules"))
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
    let agents = definitions(workspace);
    let policy = Policy { protocol: plan.protocol, ..Policy::default() };
    let input = Input { run, plan, agents: &agents, outcomes, gates: &[], policy };
    let mut reactions = Vec::new();
    for outcome in &*outcomes {
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

/// The definitions of all reviewers.
pub(super) fn definitions(workspace: &Workspace) -> Vec<Agent> {
    workspace.roster.members().iter().map(|member| member.agent.clone()).collect()
}

/// The verdict, from what the agents returned.
pub(super) fn conclude(
    run: &str,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
) -> Result<ReviewResult, Failure> {
    let config = &workspace.loaded.config;
    let agents = definitions(workspace);
    let policy = Policy {
        protocol: plan.protocol,
        fail_on: config.fail_on.severity(),
        strict: config.strict,
        ignore_vetos: arguments.ignore_vetos.clone(),
        ..Policy::default()
    };
    let input = Input { run, plan, agents: &agents, outcomes, gates: &[], policy };
    Ok(decide(&input)?)
}

/// The report in full, in a run's folder.
const FULL_REPORT: &str = "report.md";

/// Where the report is in full, for people; absent where the run is not kept.
fn full_report(result: &ReviewResult) -> Option<String> {
    let kept = result.run != UNRECORDED;
    kept.then(|| format!(".quorum/runs/{}/{FULL_REPORT}", result.run))
}
