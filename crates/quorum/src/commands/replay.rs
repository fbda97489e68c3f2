//! `quorum replay`.

use std::path::Path;

use indicatif::ProgressBar;
use quorum_consensus::{Input, decide};
use quorum_model::outcome::AgentOutcome;
use quorum_model::result::ReviewResult;
use quorum_store::{Run, RunSummary};
use serde::de::DeserializeOwned;

use super::plan;
use super::review::{self, How};
use crate::cli::{Cli, ReplayArgs};
use crate::decided_by::DecidedBy;
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::kept::Kept;
use crate::record::Recorder;
use crate::{history, kept, models, output, reports, request};

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
    let outcomes = if arguments.calls { again(&kept.root, &found)? } else { found.outcomes()? };
    let gates = recorded.as_ref().map(|result| result.gates.clone()).unwrap_or_default();
    let result = history::settle_again(&found, &outcomes, &|outcomes, ruling| {
        let (run, agents) = (found.id(), &decided_by.agents);
        let policy = ruling.clone().into(policy.clone());
        Ok(decide(&Input { run, plan: &plan, agents, outcomes, gates: &gates, policy })?)
    })?;
    let report = reports::report(&result, &plan, Some(&kept.repository), Some(&found));
    review::print(&report, &arguments.output)
}

/// What agents return when they get the recorded answers again. Where that is not what they returned
/// then, because rules or checks are others now, it says so.
fn again(root: &Path, found: &RunSummary) -> Result<Vec<AgentOutcome>, Failure> {
    let own = kept::own(root, found.clone())?;
    let (mut asked, arguments) = request::load(&own)?;
    asked.quiet = true;
    let mut made = plan::make(&asked, &arguments.scope, &arguments.run, Purpose::Review)?;
    let planned = found.plan()?;
    if let Some(what) = request::what_changed(&planned.scope, &made.plan.scope) {
        let text = format!("run {} cannot be gone through again: {what}", found.id());
        return Err(Failure::new(text)
            .with_hint("without `--calls` it is decided from what its agents returned"));
    }
    made.plan = planned;
    let engines = models::recorded(&made.plan, &made.workspace);
    let work = review::Work { cli: &asked, made: &made, engines: &engines, gates: None };
    let how = How { bar: ProgressBar::hidden(), stop: &|| false };
    let recorder = Recorder::recall(&own)?;
    let gathered = review::gather(&work, &recorder, &arguments.run, &how)?;
    if gathered.stopped {
        return Err(Failure::new("it was interrupted"));
    }
    let then = found.outcomes()?;
    let is_other = |outcome: &&AgentOutcome| !then.contains(outcome);
    let others: Vec<&str> =
        gathered.outcomes.iter().filter(is_other).map(|outcome| &*outcome.agent).collect();
    if !others.is_empty() {
        output::notice(&format!("not as it was then: {}", others.join(", ")));
    }
    Ok(gathered.outcomes)
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
