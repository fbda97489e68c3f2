//! `quorum replay`.

use quorum_consensus::{Input, decide};
use quorum_model::result::ReviewResult;
use quorum_store::Run;
use serde::de::DeserializeOwned;

use super::review;
use crate::cli::{Cli, ReplayArgs};
use crate::decided_by::DecidedBy;
use crate::failure::Failure;
use crate::kept::Kept;
use crate::{history, reports};

/// Decides a recorded run again. Nothing is reviewed and nothing is written.
pub(super) fn run(cli: &Cli, arguments: &ReplayArgs) -> Result<u8, Failure> {
    let kept = Kept::open(cli)?;
    let found = Run::find(&kept.root, &arguments.run)?;
    let mut plan = found.plan()?;
    let recorded = found.result()?;
    if let Some(protocol) = &arguments.protocol {
        plan.protocol = named(protocol)?;
    }
    let mut decided_by = DecidedBy::load(&found)?;
    if let Some(name) = &arguments.fail_on {
        decided_by.fail_on = named(name)?;
    }
    decided_by.strict |= arguments.strict;
    let policy = decided_by.policy(plan.protocol, ignored(arguments, recorded.as_ref()))?;
    let outcomes = found.outcomes()?;
    let gates = recorded.as_ref().map(|result| result.gates.clone()).unwrap_or_default();
    let result = history::settle_again(&found, &outcomes, &|outcomes| {
        let (run, agents, policy) = (found.id(), &decided_by.agents, policy.clone());
        Ok(decide(&Input { run, plan: &plan, agents, outcomes, gates: &gates, policy })?)
    })?;
    let report = reports::report(&result, &plan, Some(&kept.repository), Some(&found));
    review::print(&report, &arguments.output)
}

/// The value that a word on the command line stands for.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, Failure> {
    serde_json::from_value(serde_json::Value::from(name))
        .map_err(|error| Failure::new(error.to_string()))
}

/// What was ignored then is ignored now, unless another reason is given.
fn ignored(arguments: &ReplayArgs, recorded: Option<&ReviewResult>) -> Option<String> {
    let before = || recorded.and_then(|result| result.ignored_vetos.clone());
    arguments.ignore_vetos.clone().or_else(before)
}
