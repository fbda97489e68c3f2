//! `quorum replay`.

use std::fs;

use quorum_consensus::{Input, Policy, Quorum, decide};
use quorum_model::agent::Agent;
use quorum_model::budget::Share;
use quorum_model::config::{Config, FailOn};
use quorum_model::plan::Protocol;
use quorum_model::result::ReviewResult;
use quorum_store::{Run, RunSummary, StoreError};
use serde::{Deserialize, Serialize};

use super::review;
use crate::cli::{Cli, ReplayArgs};
use crate::failure::Failure;
use crate::kept::Kept;
use crate::{history, reports};

/// The reviewers' definitions, as they were when a run began.
pub(crate) const ROSTER: &str = "roster.json";

/// What decided a run beside its reviewers, in its folder.
const POLICY: &str = "policy.json";

/// The policy that a run was decided by, as far as its plan does not say it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeptPolicy {
    fail_on: FailOn,
    strict: bool,
    quorum_share: Option<f64>,
}

impl KeptPolicy {
    /// Keeps the policy of `config` with a run.
    pub(crate) fn save(run: &Run, config: &Config) -> Result<(), StoreError> {
        let Config { fail_on, strict, quorum_share, .. } = *config;
        match serde_json::to_vec_pretty(&Self { fail_on, strict, quorum_share }) {
            Ok(text) => run.write(POLICY, &text).map(drop),
            Err(_) => Ok(()),
        }
    }

    /// The policy of a run; the usual one where it says none.
    fn load(run: &RunSummary) -> Self {
        let text = fs::read(run.directory().join(POLICY)).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }
}

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
    let then = KeptPolicy::load(&found);
    let policy = Policy {
        protocol: plan.protocol,
        fail_on: match arguments.fail_on.as_deref() {
            Some(name) => fail_on_named(name)?.severity(),
            None => then.fail_on.severity(),
        },
        strict: arguments.strict || then.strict,
        ignore_vetos: ignored(arguments, recorded.as_ref()),
        quorum: then
            .quorum_share
            .and_then(Share::from_fraction)
            .map_or_else(Quorum::default, Quorum::Share),
    };
    let gates = recorded.as_ref().map(|result| result.gates.clone()).unwrap_or_default();
    let result = history::settle_again(&found, &outcomes, &|outcomes| {
        let (run, policy) = (found.id(), policy.clone());
        Ok(decide(&Input { run, plan: &plan, agents: &agents, outcomes, gates: &gates, policy })?)
    })?;
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

fn fail_on_named(name: &str) -> Result<FailOn, Failure> {
    serde_json::from_value(serde_json::Value::from(name))
        .map_err(|error| Failure::new(error.to_string()))
}

/// What was ignored then is ignored now, unless another reason is given.
fn ignored(arguments: &ReplayArgs, recorded: Option<&ReviewResult>) -> Option<String> {
    let before = || recorded.and_then(|result| result.ignored_vetos.clone());
    arguments.ignore_vetos.clone().or_else(before)
}
