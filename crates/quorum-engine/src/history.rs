//! A review in the light of the ones before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use quorum_consensus::{Names, Policy};
use quorum_model::finding::{Finding, FindingState};
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::record::{PullRequestState, RecordStatus, split_id};
use quorum_model::result::ReviewResult;
use quorum_scope::snapshot::Snapshot;
use quorum_store::ledger::Ledger;
use quorum_store::ledger::dismissal::{Dismissal, Dismissals};
use quorum_store::ledger::judge::{Entry, Judgement, Outside, Review, judge};
use quorum_store::ledger::order::changed_first;
use quorum_store::ledger::round;
use quorum_store::memory::Memories;
use quorum_store::{RunSummary, StoreError, page};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::error::EngineError;
use crate::kept;
use crate::record::Recorder;
use crate::rounds::{self, Round};
use crate::workspace::Workspace;

type Decide<'a> = dyn Fn(&[AgentOutcome], &Ruling) -> Result<ReviewResult, EngineError> + 'a;

/// What the past says to a decision: what people set aside, by fingerprint, and the ids that findings
/// have already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ruling {
    pub(crate) aside: BTreeSet<String>,
    pub(crate) names: Names,
}

impl Ruling {
    /// The rules for a verdict, with what the past says to it.
    pub(crate) fn into(self, policy: Policy) -> Policy {
        Policy { aside: self.aside, names: self.names, ..policy }
    }
}

/// A review that is decided, with what the agents returned and counts.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) result: ReviewResult,
    pub(crate) outcomes: Vec<AgentOutcome>,
}

/// Decides a review, without what was set aside, and says of each finding where it stands: by what a
/// pull request remembers, where one is reviewed, else by this clone's ledger. A ledger that cannot be
/// used sets nothing aside; the result says so.
pub(crate) fn settle(
    recorder: &Recorder,
    plan: &Plan,
    workspace: &Workspace,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<Settled, EngineError> {
    let first = decide(outcomes, &Ruling::default())?;
    let round = round_of(workspace);
    let as_it_is = |result| Settled { result, outcomes: outcomes.to_vec() };
    if recorder.root().is_none() && round.is_none() {
        return Ok(as_it_is(first));
    }
    let shared = workspace.policy().dismissals()?;
    let now = workspace.environment.clock.now();
    let mut around = Around::of(workspace.snapshot(), now);
    let all = all_of(&first);
    around.prepare(&all);
    let (text, outside) = (around.text(), around.outside());
    let review = Review {
        run: recorder.id(),
        at: now,
        scope: &plan.scope,
        findings: &all,
        outcomes,
        text: &text,
        outside: &outside,
    };
    let mut problems = Vec::new();
    let looked_up =
        recorder.root().map(|root| look_up(root, &review, shared.clone(), &workspace.environment));
    let (mut ledger, here, mut set_aside) = match looked_up {
        Some(Ok(found)) => (Some(found.0), found.1, found.2),
        Some(Err(error)) => {
            problems.push(unconsidered(&error));
            (None, Judgement::default(), Dismissals::default())
        }
        None => (None, Judgement::default(), Dismissals::default()),
    };
    problems.extend(unsealed(here.unsealed));
    set_aside.add(shared);
    let standing = match &round {
        Some(round) => {
            let known = round::entries(&round.state.records, &round.dismissed);
            let judgement = judge(&review, &known, &set_aside);
            Standing::of(&all, &judgement, Some((&round.state, &known)))
        }
        None if ledger.is_none() => {
            let mut result = first;
            result.notes.extend(problems);
            return Ok(as_it_is(result));
        }
        None => Standing::of(&all, &here, None),
    };
    let Settled { mut result, outcomes } = apply(first, &standing, outcomes, decide)?;
    if let (Some(ledger), Some(root)) = (&mut ledger, recorder.root()) {
        let recorded = ledger.record(&review, &here).and_then(|()| {
            Memories::open(root)?.record_review(&plan.scope.label, &result, now).map(drop)
        });
        problems.extend(recorded.err().map(|error| unconsidered(&error)));
    }
    result.notes.extend(problems);
    result.notes.extend(round.into_iter().flat_map(|round| round.notes));
    if let Ok(text) = serde_json::to_string(&standing) {
        recorder.keep(STANDING, &text)?;
    }
    Ok(Settled { result, outcomes })
}

/// The pull request that a workspace reviews, where it reviews one and the host can be asked what it
/// remembers. A review without an answer is still a review; it says what it does not know.
fn round_of(workspace: &Workspace) -> Option<Round> {
    let number = workspace.pull_request?;
    let config = &workspace.loaded.config.forge;
    let asked = rounds::connect(workspace.repository.as_ref(), config, &workspace.environment)
        .and_then(|forge| {
            let account = rounds::account(&*forge, config)?;
            let posted = forge.posted(number, &account)?;
            Ok(rounds::read(&*forge, &posted))
        });
    match asked {
        Ok(round) => Some(round),
        Err(error) => Some(Round {
            notes: vec![format!(
                "earlier reviews of pull request {number} are not considered, and ids are of this \
                 run alone: {error}"
            )],
            ..Round::default()
        }),
    }
}

/// The findings of a review, suppressed ones among them: those have a past, too.
fn all_of(result: &ReviewResult) -> Vec<Finding> {
    result.findings.iter().chain(&result.suppressed).cloned().collect()
}

/// The repository around a review, as the ledger asks for it.
pub(crate) struct Around<'a> {
    snapshot: &'a Snapshot,
    now: Timestamp,
    /// Files with findings, masked beforehand.
    known: BTreeMap<String, Option<String>>,
}

impl<'a> Around<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot, now: Timestamp) -> Self {
        Self { snapshot, now, known: BTreeMap::new() }
    }

    /// Reads the files of findings beforehand: masking reads each whole, so that every core takes some.
    fn prepare(&mut self, findings: &[Finding]) {
        let files: BTreeSet<&str> = findings.iter().map(|finding| finding.file.as_str()).collect();
        let read = files.into_par_iter().map(|path| (path.to_owned(), self.masked(path)));
        self.known = read.collect();
    }

    /// What is kept of the surroundings of a finding is kept without secrets, as its quote is.
    fn masked(&self, path: &str) -> Option<String> {
        let text = self.snapshot.head(path)?;
        Some(quorum_rules::secrets::redact_file(path, &text))
    }

    /// The text of a file after the change, masked.
    pub(crate) fn text(&self) -> impl Fn(&str) -> Option<String> {
        |path| self.known.get(path).cloned().unwrap_or_else(|| self.masked(path))
    }

    /// What became of a file that is not under review.
    fn outside(&self) -> impl Fn(&str) -> Outside {
        |path| match self.snapshot.has(path) {
            Some(false) => Outside::Gone,
            Some(true) => match (self.snapshot.base(path), self.snapshot.head(path)) {
                (Some(base), Some(head)) if base == head => Outside::Untouched,
                _ => Outside::Unknown,
            },
            None => Outside::Unknown,
        }
    }
}

/// Where findings stood when a run was decided, in its folder.
const STANDING: &str = "standing.json";

/// What is kept of it; absent for a run without a past. A damaged file is an error: without it, what was
/// set aside would stand again.
fn kept_standing(run: &RunSummary) -> Result<Option<Standing>, EngineError> {
    let path = run.directory().join(STANDING);
    let failed = |cause: &dyn std::fmt::Display| {
        EngineError::failed(format!("{}: {cause}", path.display()))
            .with_hint("`quorum review` starts a new run")
    };
    match fs::read(&path) {
        Ok(kept) => {
            let plain = |error: serde_json::Error| {
                failed(&quorum_model::wording::plain(&error.to_string()))
            };
            serde_json::from_slice(&kept).map(Some).map_err(plain)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

/// Decides a recorded run again, in the light of the reviews that were before it then.
pub(crate) fn settle_again(
    run: &RunSummary,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<ReviewResult, EngineError> {
    let first = decide(outcomes, &Ruling::default())?;
    match kept_standing(run)? {
        Some(standing) => Ok(apply(first, &standing, outcomes, decide)?.result),
        None => Ok(first),
    }
}

/// Decides a recorded run again in the light of what a pull request remembers now, for posting it: the
/// run may have been made before another posting, or without asking the host. What was set aside then
/// is set aside, and nothing else, so that the verdict is the run's.
pub(crate) fn settle_for(
    run: &RunSummary,
    plan: &Plan,
    round: &Round,
    around: &Around<'_>,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<ReviewResult, EngineError> {
    let first = decide(outcomes, &Ruling::default())?;
    let then = kept_standing(run)?.unwrap_or_default();
    let all = all_of(&first);
    let (text, outside) = (around.text(), around.outside());
    let review = Review {
        run: run.id(),
        at: around.now,
        scope: &plan.scope,
        findings: &all,
        outcomes,
        text: &text,
        outside: &outside,
    };
    let known = round::entries(&round.state.records, &round.dismissed);
    let mut judgement = judge(&review, &known, &Dismissals::default());
    for (finding, judged) in all.iter().zip(&mut judgement.findings) {
        let aside = then.dismissed.iter().find(|one| one.fingerprint == finding.fingerprint);
        judged.dismissal = None;
        if aside.is_some() {
            judged.state = FindingState::Dismissed;
        } else if judged.state == FindingState::Dismissed {
            judged.state = FindingState::Persisting;
        }
        // What was new to a review of the pull request is new on its page, however often it is posted.
        let was_new = then.states.get(&finding.fingerprint) == Some(&FindingState::New);
        if judged.state == FindingState::Persisting && was_new && then.names != Names::default() {
            judged.state = FindingState::New;
        }
    }
    let mut standing = Standing::of(&all, &judgement, Some((&round.state, &known)));
    for finding in &mut standing.dismissed {
        let aside = then.dismissed.iter().find(|one| one.fingerprint == finding.fingerprint);
        finding.suppression = aside.and_then(|one| one.suppression.clone());
    }
    Ok(apply(first, &standing, outcomes, decide)?.result)
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
    /// The ids of a pull request's findings; empty where this clone's ledger is all there is.
    #[serde(default)]
    names: Names,
}

impl Standing {
    fn of(
        all: &[Finding],
        judgement: &Judgement,
        remembered: Option<(&PullRequestState, &[Entry])>,
    ) -> Self {
        let mut standing = Self::default();
        if let Some((state, known)) = remembered {
            standing.names = names(all, judgement, state, known);
        }
        for (finding, judged) in all.iter().zip(&judgement.findings) {
            if judged.state == FindingState::Dismissed {
                let suppression = judged.dismissal.as_ref().map(Dismissal::suppression);
                let id = standing.names.ids.get(&finding.fingerprint).unwrap_or(&finding.id);
                let id = id.clone();
                standing.dismissed.push(Finding { id, suppression, ..finding.clone() });
            }
            standing.states.insert(finding.fingerprint.clone(), judged.state);
        }
        standing.gone = if let Some((state, known)) = remembered {
            earlier(judgement, state, known)
        } else {
            let gone = judgement.gone.iter().filter(|gone| !gone.dismissed);
            gone.map(|gone| gone.finding.clone()).collect()
        };
        standing
    }
}

/// The ids of a review's findings: those that the pull request knows them by, else the next numbers.
fn names(
    all: &[Finding],
    judgement: &Judgement,
    state: &PullRequestState,
    known: &[Entry],
) -> Names {
    let mut names = Names { ids: BTreeMap::new(), last: state.last_numbers() };
    for (finding, judged) in all.iter().zip(&judgement.findings) {
        let entry = judged.entry.and_then(|id| known.get(usize::try_from(id).ok()?));
        let id = if let Some(entry) = entry {
            entry.finding.id.clone()
        } else {
            let prefix = split_id(&finding.id).map_or(finding.id.as_str(), |(prefix, _)| prefix);
            let number = names.last.entry(prefix.to_owned()).or_default();
            *number += 1;
            format!("{prefix}-{number:03}")
        };
        names.ids.insert(finding.fingerprint.clone(), id);
    }
    names
}

/// What a pull request remembers and this review did not find, each in its state.
fn earlier(judgement: &Judgement, state: &PullRequestState, known: &[Entry]) -> Vec<Finding> {
    let matched: BTreeSet<i64> = judgement.findings.iter().filter_map(|one| one.entry).collect();
    let gone: BTreeMap<i64, FindingState> =
        judgement.gone.iter().map(|gone| (gone.entry, gone.finding.state)).collect();
    let rest = known.iter().zip(&state.records).filter(|(entry, _)| !matched.contains(&entry.id));
    rest.map(|(entry, record)| {
        // Its quote is digests, which nobody can read.
        let mut finding = Finding { evidence: String::new(), ..entry.finding.clone() };
        finding.suppression = entry.dismissal.as_ref().map(Dismissal::suppression);
        finding.state = match (gone.get(&entry.id), record.status) {
            (Some(FindingState::Resolved), _) | (None, RecordStatus::Resolved) => {
                FindingState::Resolved
            }
            _ if entry.dismissal.is_some() => FindingState::Dismissed,
            (_, RecordStatus::Suppressed) => FindingState::Suppressed,
            _ => FindingState::NotReviewed,
        };
        if finding.state != FindingState::Dismissed {
            finding.suppression = None;
        }
        finding
    })
    .collect()
}

fn look_up(
    root: &Path,
    review: &Review<'_>,
    shared: Vec<Dismissal>,
    environment: &Environment,
) -> Result<(Ledger, Judgement, Dismissals), StoreError> {
    let ledger = Ledger::open(root, kept::present_seal(root, environment)?)?;
    let judgement = ledger.judge(review, shared)?;
    let dismissals = ledger.dismissals()?;
    Ok((ledger, judgement, dismissals))
}

/// Decides again without what was set aside and with the ids that findings have, and puts down where
/// findings stand.
fn apply(
    first: ReviewResult,
    standing: &Standing,
    outcomes: &[AgentOutcome],
    decide: &Decide<'_>,
) -> Result<Settled, EngineError> {
    let Standing { dismissed, states, gone, names } = standing;
    let aside: BTreeSet<String> = dismissed.iter().map(|one| one.fingerprint.clone()).collect();
    let of_pull_request = *names != Names::default();
    let mut result = if aside.is_empty() && !of_pull_request {
        first
    } else {
        decide(outcomes, &Ruling { aside, names: names.clone() })?
    };
    for finding in &mut result.findings {
        if let Some(state) = states.get(&finding.fingerprint) {
            finding.state = *state;
        }
    }
    changed_first(&mut result.findings);
    if !dismissed.is_empty() {
        *result.rejected.entry("dismissed".to_owned()).or_default() += dismissed.len() as u64;
    }
    let aside: Vec<&Finding> = dismissed.iter().collect();
    let outcomes = without(outcomes, &aside);
    let dismissed = dismissed
        .iter()
        .map(|finding| Finding { state: FindingState::Dismissed, ..finding.clone() });
    let mut history: Vec<Finding> = gone.iter().cloned().chain(dismissed).collect();
    if !of_pull_request {
        for (number, finding) in (1..).zip(&mut history) {
            finding.id = format!("H-{number:03}");
        }
    }
    result.history = history;
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

/// What is said where a ledger sets findings aside without the user's mark.
fn unsealed(count: usize) -> Option<String> {
    let stand = match count {
        0 => return None,
        1 => "1 finding stands although".to_owned(),
        more => format!("{more} findings stand although"),
    };
    Some(format!(
        "{stand} this clone's ledger sets it aside: the dismissal lacks the mark of your key, so somebody \
         else wrote it, or a version of Quorum that left no marks. `quorum dismiss --list` shows such \
         dismissals; dismiss again what you agree with"
    ))
}

fn unconsidered(error: &StoreError) -> String {
    format!("earlier reviews are not considered: {error}")
}
