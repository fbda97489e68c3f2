//! A recorded run is decided again.

use std::path::Path;

use quorum_consensus::{Input, decide};
use quorum_model::config::FailOn;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::{Plan, Protocol};
use quorum_model::result::ReviewResult;
use quorum_store::RunSummary;
use tokio_util::sync::CancellationToken;

use crate::decided_by::DecidedBy;
use crate::environment::Environment;
use crate::error::{EngineError, ErrorCode};
use crate::observer::{Progress, SharedObserver, silent};
use crate::record::Recorder;
use crate::review::{self, Reviewers, Work};
use crate::{history, kept, models, resume};

/// By which rules a run is decided again. What is absent is as the run had it.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// How findings become a verdict.
    pub protocol: Option<Protocol>,
    /// The least severity that fails a review.
    pub fail_on: Option<FailOn>,
    /// Any finding fails a review.
    pub strict: bool,
    /// Why vetoes do not block.
    pub ignore_vetos: Option<String>,
    /// Begin with the recorded answers of models: review, check quotes and exchange findings again.
    pub calls: bool,
}

/// Decides a recorded run below `root` again. Nothing is asked of a model and nothing is written.
pub fn replay(
    root: &Path,
    run: &RunSummary,
    options: &ReplayOptions,
    environment: &Environment,
    observer: &SharedObserver,
) -> Result<(ReviewResult, Plan), EngineError> {
    let mut plan = run.plan()?;
    let recorded = run.result()?;
    if let Some(protocol) = options.protocol {
        plan.protocol = protocol;
    }
    let mut decided_by = DecidedBy::load(run)?;
    if let Some(fail_on) = options.fail_on {
        decided_by.fail_on = fail_on;
    }
    decided_by.strict |= options.strict;
    // What was ignored then is ignored now, unless another reason is given.
    let ignored = || recorded.as_ref().and_then(|result| result.ignored_vetos.clone());
    let policy = decided_by.policy(plan.protocol, options.ignore_vetos.clone().or_else(ignored))?;
    let outcomes =
        if options.calls { again(root, run, environment, observer)? } else { run.outcomes()? };
    let gates = recorded.as_ref().map(|result| result.gates.clone()).unwrap_or_default();
    let result = history::settle_again(run, &outcomes, &|outcomes, ruling| {
        let (run, agents) = (run.id(), &decided_by.agents);
        let policy = ruling.clone().into(policy.clone());
        Ok(decide(&Input { run, plan: &plan, agents, outcomes, gates: &gates, policy })?)
    })?;
    Ok((result, plan))
}

/// What agents return when they get the recorded answers again. Where that is not what they returned
/// then, because rules or checks are others now, it says so.
fn again(
    root: &Path,
    run: &RunSummary,
    environment: &Environment,
    observer: &SharedObserver,
) -> Result<Vec<AgentOutcome>, EngineError> {
    let own = kept::own(root, run.clone(), environment)?;
    let prepared = resume::again(&own, environment, &*silent()).map_err(|error| {
        if error.code() != ErrorCode::Changed {
            return error;
        }
        let text = error.to_string().replacen("cannot resume", "cannot replay", 1);
        EngineError::new(ErrorCode::Changed, text)
            .with_hint("without `--calls` it is decided from what its agents returned")
    })?;
    let engines = models::recorded(&prepared.plan, &prepared.workspace);
    let recorder = Recorder::recall(&own)?;
    let (silence, never) = (silent(), CancellationToken::new());
    let work = Work {
        prepared: &prepared,
        engines: &engines,
        gates: None,
        observer: &silence,
        cancel: &never,
    };
    let Reviewers { outcomes, .. } = review::reviewers(&work, &recorder)?;
    let then = run.outcomes()?;
    let is_other = |outcome: &&AgentOutcome| !then.contains(outcome);
    let others: Vec<&str> =
        outcomes.iter().filter(is_other).map(|outcome| &*outcome.agent).collect();
    if !others.is_empty() {
        let text = format!("not as it was then: {}", others.join(", "));
        observer.observe(Progress::Notice(&text));
    }
    Ok(outcomes)
}
