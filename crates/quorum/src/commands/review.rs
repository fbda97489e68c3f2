//! `quorum review`.

use std::collections::BTreeMap;

use quorum_consensus::{Input, Policy, decide};
use quorum_dispatch::BUILTIN;
use quorum_model::agent::Agent;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;

use crate::cli::{ChangeArgs, Cli, Format, OutputArgs, RunArgs};
use crate::commands::plan::{self, Made};
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::models::{self, Engines};
use crate::record::Recorder;
use crate::workspace::Workspace;
use crate::{embedded, history, output, progress, render};

pub(super) fn run(cli: &Cli, arguments: &ChangeArgs) -> Result<u8, Failure> {
    let made = plan::make(cli, &arguments.scope, &arguments.run, Purpose::Review)?;
    let engines = models::engines(&made.plan, &made.workspace)?;
    let recorder = Recorder::start(&made.workspace, &made.plan)?;
    go_on(cli, &made, &engines, &recorder, (&arguments.run, &arguments.output))
}

/// Does what is left to do of a run, and prints its result.
pub(super) fn go_on(
    cli: &Cli,
    made: &Made,
    engines: &Engines,
    recorder: &Recorder,
    (arguments, output): (&RunArgs, &OutputArgs),
) -> Result<u8, Failure> {
    let Made { plan, workspace, files } = made;
    let bar = progress::files(files.len(), cli.quiet);
    bar.set_message("Reviewing");
    let left = recorder.left_of(plan);
    let (mut outcomes, beside) = if left.agents.is_empty() {
        (Vec::new(), BTreeMap::new())
    } else {
        embedded::review_all(recorder.id(), &left, files, workspace, &bar)
    };
    bar.finish_and_clear();
    if left.agents.iter().any(|agent| agent.engine != BUILTIN) {
        let reviewed = models::review(cli, &left, made, engines, recorder, &beside)?;
        outcomes.extend(reviewed.outcomes);
        if reviewed.interrupted {
            return interrupted(made, recorder, &outcomes, arguments, output);
        }
    }
    let outcomes = recorder.finished(outcomes)?;
    let result = settle(recorder, plan, workspace, &outcomes, arguments)?;
    print(&result, output)
}

/// Prints what there is of a run that was stopped. Nothing is concluded from it on disk: it can go on.
fn interrupted(
    made: &Made,
    recorder: &Recorder,
    outcomes: &[AgentOutcome],
    arguments: &RunArgs,
    output: &OutputArgs,
) -> Result<u8, Failure> {
    const INTERRUPTED: u8 = 130;
    let result = conclude(recorder.id(), &made.plan, &made.workspace, outcomes, arguments)?;
    print(&result, output)?;
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
        |outcomes: &[AgentOutcome]| conclude(recorder.id(), plan, workspace, outcomes, arguments);
    let result = history::settle(recorder, plan, workspace, outcomes, &decide)?;
    recorder.decided(outcomes, &result)?;
    Ok(result)
}

/// Prints a result and returns its exit code.
pub(super) fn print(result: &ReviewResult, output: &OutputArgs) -> Result<u8, Failure> {
    let file = output.output.as_deref();
    match output.format {
        Format::Json => output::json(result, file)?,
        Format::Terminal => output::text(&page(result), file)?,
    }
    Ok(result.exit_code)
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
    let agents: Vec<Agent> =
        workspace.roster.members().iter().map(|member| member.agent.clone()).collect();
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

/// The verdict, why, and every finding on a line of its own.
fn page(result: &ReviewResult) -> String {
    let mut page = format!("{}\n", render::verdict::word(result.verdict));
    for reason in &result.reasons {
        page.extend(["  ", reason, "\n"]);
    }
    for finding in &result.findings {
        let place = format!("{}:{}", finding.file, finding.line);
        page.extend(["\n", finding.severity.as_str(), " ", &place, " (", &finding.id, ")\n"]);
        page.extend(["  ", &finding.issue, "\n  fix: ", &finding.recommendation, "\n"]);
    }
    page
}
