//! `quorum replay`.

use std::fs;

use quorum_consensus::{Input, Policy, decide};
use quorum_model::agent::Agent;
use quorum_model::plan::Protocol;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;
use quorum_store::{Run, RunSummary};

use super::review;
use crate::cli::{Cli, ReplayArgs};
use crate::failure::Failure;
use crate::kept::Kept;
use crate::reports;

/// The reviewers' definitions, as they were when a run began.
pub(crate) const ROSTER: &str = "roster.json";

/// Decides a recorded run again. Nothing is reviewed and nothing is written.
pub(super) fn run(cli: &Cli, arguments: &ReplayArgs) -> Result<u8, Failure> {
    let kept = Kept::open(cli)?;
    let found = Run::find(&kept.root, &arguments.run)?;
    let mut plan = found.plan()?;
    let recorded = found.result()?;
    if let Some(protocol) = &arguments.protocol {
        plan.protocol = protocol_named(protocol)?;
    }
    let agents = roster(&found)?;
    let outcomes = found.outcomes()?;
    let policy = Policy {
        protocol: plan.protocol,
        fail_on: fail_on(arguments.fail_on.as_deref()),
        strict: arguments.strict,
        ignore_vetos: ignored(arguments, recorded.as_ref()),
        ..Policy::default()
    };
    let gates = recorded.as_ref().map(|result| result.gates.clone()).unwrap_or_default();
    let input = Input {
        run: found.id(),
        plan: &plan,
        agents: &agents,
        outcomes: &outcomes,
        gates: &gates,
        policy,
    };
    let result = decide(&input)?;
    let report = reports::report(&result, &plan, Some(&kept.repository), Some(&found));
    review::print(&report, &arguments.output)
}

fn roster(run: &RunSummary) -> Result<Vec<Agent>, Failure> {
    let lost = |cause: &dyn std::fmt::Display| {
        Failure::new(format!("run {} does not say who its reviewers were: {cause}", run.id()))
            .with_hint("`quorum review` starts a new one")
    };
    let text = fs::read(run.directory().join(ROSTER)).map_err(|error| lost(&error))?;
    serde_json::from_slice(&text).map_err(|error| lost(&error))
}

fn protocol_named(name: &str) -> Result<Protocol, Failure> {
    serde_json::from_value(serde_json::Value::from(name))
        .map_err(|error| Failure::new(error.to_string()))
}

fn fail_on(name: Option<&str>) -> Option<Severity> {
    match name {
        Some("critical") => Some(Severity::Critical),
        Some("medium") => Some(Severity::Medium),
        Some("low") => Some(Severity::Low),
        Some("none") => None,
        _ => Some(Severity::High),
    }
}

/// What was ignored then is ignored now, unless another reason is given.
fn ignored(arguments: &ReplayArgs, recorded: Option<&ReviewResult>) -> Option<String> {
    let before = || recorded.and_then(|result| result.ignored_vetos.clone());
    arguments.ignore_vetos.clone().or_else(before)
}
