//! A review in the light of the ones before it.

use std::collections::BTreeMap;
use std::fs;

use jiff::Timestamp;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_store::ledger::Ledger;
use quorum_store::ledger::dismissal::Dismissal;
use quorum_store::ledger::judge::{Judgement, Review};
use quorum_store::ledger::order::changed_first;
use quorum_store::memory::Memories;
use quorum_store::{RunSummary, StoreError, page};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::record::Recorder;
use crate::workspace::Workspace;

type Decide<'a> = dyn Fn(&[AgentOutcome]) -> Result<ReviewResult, Failure> + 'a;

/// A review that is decided, with what the agents returned and counts.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) result: ReviewResult,
    pub(crate) outcomes: Vec<AgentOutcome>,
}

/// Decides a review, without what was set aside, and says of each finding where it stands. A ledger
/// that cannot be used sets nothing aside; the result says so.
pub(crate) fn settle(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<Settled, Failure> {
    let first = decide(outcomes)?;
    let as_it_is = |result| Settled { result, outcomes: outcomes.to_vec() };
    let Some(root) = recorder.root() else { return Ok(as_it_is(first)) };
    let shared = workspace.policy().dismissals()?;
    let snapshot = workspace.snapshot();
    // What is kept of the surroundings of a finding is kept without secrets, as its quote is.
    let text = |path: &str| {
        snapshot.head(path).map(|text| quorum_rules::secrets::redact_file(path, &text))
    };
    let now = Timestamp::now();
    let all: Vec<Finding> = first.findings.iter().chain(&first.suppressed).cloned().collect();
    let review = Review {
        run: recorder.id(),
        at: now,
        scope: &plan.scope,
        findings: &all,
        outcomes,
        text: &text,
    };
    let looked_up = look_up(root, &review, shared);
    let (mut ledger, judgement) = match looked_up {
        Ok(found) => found,
        Err(error) => return Ok(as_it_is(without_a_past(first, &error))),
    };
    let standing = Standing::of(&first, &judgement);
    let Settled { mut result, outcomes } = apply(&first, &standing, outcomes, decide)?;
    let recorded = ledger.record(&review, &judgement).and_then(|()| {
        Memories::open(root)?.record_review(&plan.scope.label, &result, now).map(drop)
    });
    if let Err(error) = recorded {
        result = without_a_past(result, &error);
    }
    if let Ok(text) = serde_json::to_string(&standing) {
        recorder.keep(STANDING, &text)?;
    }
    Ok(Settled { result, outcomes })
}

/// Where findings stood when a run was decided, in its folder.
const STANDING: &str = "standing.json";

/// Decides a recorded run again, in the light of the reviews that were before it then.
pub(crate) fn settle_again(
    run: &RunSummary,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<ReviewResult, Failure> {
    let first = decide(outcomes)?;
    let kept = fs::read(run.directory().join(STANDING)).ok();
    let kept = kept.and_then(|text| serde_json::from_slice::<Standing>(&text).ok());
    match kept {
        Some(standing) => Ok(apply(&first, &standing, outcomes, decide)?.result),
        None => Ok(first),
    }
}

/// Where the findings of a review stand in the light of the ones before it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Standing {
    /// Findings that were set aside.
    dismissed: Vec<Finding>,
    /// The others, by fingerprint.
    states: BTreeMap<String, FindingState>,
    /// Findings of earlier reviews.
    gone: Vec<Finding>,
}

impl Standing {
    fn of(first: &ReviewResult, judgement: &Judgement) -> Self {
        let mut standing = Self::default();
        for (finding, judged) in first.findings.iter().zip(&judgement.findings) {
            if judged.state == FindingState::Dismissed {
                let suppression = judged.dismissal.as_ref().map(Dismissal::suppression);
                standing.dismissed.push(Finding { suppression, ..finding.clone() });
            }
            standing.states.insert(finding.fingerprint.clone(), judged.state);
        }
        let gone = judgement.gone.iter().filter(|gone| !gone.dismissed);
        standing.gone = gone.map(|gone| gone.finding.clone()).collect();
        standing
    }
}

fn look_up(
    root: &std::path::Path,
    review: &Review<'_>,
    shared: Vec<Dismissal>,
) -> Result<(Ledger, Judgement), StoreError> {
    let ledger = Ledger::open(root)?;
    let judgement = ledger.judge(review, shared)?;
    Ok((ledger, judgement))
}

/// Decides again without what was set aside, and puts down where findings stand.
fn apply(
    first: &ReviewResult,
    standing: &Standing,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<Settled, Failure> {
    let Standing { dismissed, states, gone } = standing;
    let aside: Vec<&Finding> = dismissed.iter().collect();
    let outcomes = without(outcomes, &aside);
    let mut result = if aside.is_empty() { first.clone() } else { decide(&outcomes)? };
    for finding in &mut result.findings {
        if let Some(state) = states.get(&finding.fingerprint) {
            finding.state = *state;
        }
    }
    changed_first(&mut result.findings);
    if !dismissed.is_empty() {
        *result.rejected.entry("dismissed".to_owned()).or_default() += dismissed.len() as u64;
    }
    let dismissed = dismissed
        .iter()
        .map(|finding| Finding { state: FindingState::Dismissed, ..finding.clone() });
    let named = (1..).zip(gone.iter().cloned().chain(dismissed));
    result.history = named
        .map(|(number, finding)| Finding { id: format!("H-{number:03}"), ..finding })
        .collect();
    changed_first(&mut result.history);
    Ok(Settled { result, outcomes })
}

/// What the agents returned, without the findings that went into `aside`.
fn without(outcomes: &[AgentOutcome], aside: &[&Finding]) -> Vec<AgentOutcome> {
    let mut outcomes = outcomes.to_vec();
    for outcome in &mut outcomes {
        let agent = outcome.agent.clone();
        outcome.findings.retain(|finding| {
            !aside.iter().any(|published| page::is_part_of(finding, &agent, published))
        });
    }
    outcomes
}

fn without_a_past(mut result: ReviewResult, error: &StoreError) -> ReviewResult {
    result.notes.push(format!("earlier reviews are not considered: {error}"));
    result
}
