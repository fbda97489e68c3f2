//! One agent: its waves as sibling branches, and what came of them together.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use quorum_model::budget::Mode;
use quorum_model::outcome::{AgentOutcome, OutcomeStatus, Usage};
use quorum_model::plan::Shard;
use quorum_model::report::{CutoffReason, Pattern};
use quorum_model::result::{SopResult, SopStatus};
use quorum_model::unit::Unit;
use quorum_plan::sop::Sop;
use tokio::time::sleep_until;

use super::branch::{BranchId, BranchState};
use super::desk::Standing;
use super::session::{End, SHORTEST_ANSWER, Session, Worker};
use super::tally::Tally;
use crate::sops;

/// Waves after the planned ones; what is left then does not fit, and is said to be left.
const MOST_FOLLOW_UPS: u32 = 4;

/// Why a unit is not shown that would have been with a larger budget.
const BUDGET_USED_UP: &str = "its budget is used up; `--complete` adds others for what is left";

/// Why nothing of a file is shown.
pub(crate) const CANNOT_BE_SHOWN: &str =
    "it changed since the review began, or it cannot be shown without its secrets";

/// A wave's shards, each with its number within the agent.
type Wave<'s> = Vec<(usize, &'s Shard)>;

impl Worker<'_> {
    /// Runs all waves that may run, and what follows from what they left.
    pub(crate) async fn run(&self, parent: BranchId) -> AgentOutcome {
        let mut waves: BTreeMap<u32, Wave<'_>> = BTreeMap::new();
        for (number, shard) in self.planned.shards.iter().enumerate() {
            waves.entry(shard.wave).or_default().push((number, shard));
        }
        let mut tally = Tally::default();
        let mut runs = Vec::new();
        // Without `--complete` there is one budget: what it has left after the first wave is for what
        // comes next, in high-severity mode.
        if !self.desk.review.complete {
            let later: Wave<'_> = waves.split_off(&2).into_values().flatten().collect();
            if let Some(first) = waves.get_mut(&1) {
                first.extend(later);
            } else {
                waves.insert(1, later);
            }
        }
        for (wave, shards) in &waves {
            runs.push(self.wave(parent, *wave, shards));
        }
        let mut mode = Mode::FullAnalysis;
        for (ended, wave) in join_all(runs).await {
            mode = mode.max(ended);
            tally.absorb(wave);
        }
        if self.desk.review.complete {
            self.follow_up(parent, &mut tally).await;
        }
        let mut outcome = self.outcome(tally, mode);
        // One that the user stopped has not ended: the run can go on with it.
        if outcome.cutoff_reason != Some(CutoffReason::Interrupt)
            && let Err(cause) = self.desk.review.journal.ended(&outcome)
        {
            outcome.notes.push(cause);
        }
        self.stand(&outcome);
        outcome
    }

    /// One branch: shards one after the other under one budget.
    async fn wave(&self, parent: BranchId, wave: u32, shards: &Wave<'_>) -> (Mode, Tally) {
        let mut tally = Tally::default();
        let branches = &self.desk.branches;
        let made = branches.create(Some(parent), self.planned.budget);
        let branch = match made {
            Ok(branch) => branch,
            Err(error) => {
                for (_, shard) in shards {
                    tally.miss(&shard.units, CutoffReason::Error, error.to_string());
                }
                return (Mode::FullAnalysis, tally);
            }
        };
        if let Err(error) = branches.become_(branch, BranchState::Active) {
            tally.note(error.to_string());
        }
        let mut state = BranchState::Completed;
        let mut full = false;
        for (index, (number, shard)) in shards.iter().enumerate() {
            if full {
                tally.miss(&shard.units, CutoffReason::Budget, BUDGET_USED_UP);
                continue;
            }
            let missed = tally.missed.len();
            let turn = ShardTurn {
                label: format!("{} {wave} {number}", self.agent.name),
                number: *number,
                part: (index + 1, shards.len()),
            };
            state = self.shard(branch, shard, turn, &mut tally).await.or(state);
            // What the budget had left over is used up with the first that did not fit it.
            full = self.is_beyond_budget(shard) && tally.missed.len() > missed;
        }
        if let Err(error) = branches.become_(branch, state) {
            tally.note(error.to_string());
        }
        let account = branches.account(branch);
        tally.budget = account.budget;
        tally.used = account.used;
        (self.desk.review.thresholds.mode(account.used, account.budget), tally)
    }

    async fn shard(
        &self,
        branch: BranchId,
        shard: &Shard,
        turn: ShardTurn,
        tally: &mut Tally,
    ) -> Ended {
        let _seat = tokio::select! {
            seat = self.desk.seats.take(self.engine) => seat,
            () = self.desk.cancel.wanted() => {
                tally.miss(&shard.units, CutoffReason::Interrupt, "it was interrupted");
                return Ended(Some(BranchState::Cut));
            }
            () = sleep_until(self.desk.ledger.deadline()) => {
                tally.miss(&shard.units, CutoffReason::Timeout, "the run has no time left");
                return Ended(Some(BranchState::Timeout));
            }
        };
        let (shown, left) = self.fitting(branch, &shard.units);
        tally.miss(left, CutoffReason::Budget, BUDGET_USED_UP);
        let (shown, hidden): (Vec<Unit>, Vec<Unit>) =
            shown.iter().cloned().partition(|unit| self.can_be_shown(unit));
        tally.miss(&hidden, CutoffReason::Error, CANNOT_BE_SHOWN);
        if shown.is_empty() {
            return if left.is_empty() { Ended(None) } else { Ended(Some(BranchState::Cut)) };
        }
        if self.desk.cancel.is_wanted() {
            tally.miss(&shown, CutoffReason::Interrupt, "it was interrupted");
            return Ended(Some(BranchState::Cut));
        }
        if let Err(cause) = self.desk.review.journal.started(&self.agent.name, turn.number) {
            tally.miss(&shown, CutoffReason::Error, cause);
            return Ended(Some(BranchState::Failed));
        }
        tally.expected_sops.extend(shard.sops.iter().cloned());
        let mut session = Session::new(self, branch, turn.label);
        let end = session.run(shard, &shown, turn.part, tally).await;
        tally.unanswered_sops.extend(session.unanswered(shard, tally));
        let ended = match end {
            End::Done => {
                tally.cover(&shown);
                if let Some(path) = session.missed_canary() {
                    let cause = format!(
                        "it did not report a defect that was planted in its copy of {path}"
                    );
                    tally.cut_short = Some((CutoffReason::Canary, cause));
                }
                (!left.is_empty()).then_some(BranchState::Cut)
            }
            End::CutShort(reason, cause) => {
                tally.cover(&shown);
                tally.cut_short.get_or_insert((reason, cause));
                Some(BranchState::Cut)
            }
            // The ceilings are for what the budget covers; what came after it is left out by both.
            End::Lost(CutoffReason::Ceiling, _) if self.is_beyond_budget(shard) => {
                tally.miss(&shown, CutoffReason::Budget, BUDGET_USED_UP);
                Some(BranchState::Cut)
            }
            End::Lost(reason, cause) => {
                tally.miss(&shown, reason, cause);
                Some(match reason {
                    CutoffReason::Timeout => BranchState::Timeout,
                    CutoffReason::Error => BranchState::Failed,
                    _ => BranchState::Cut,
                })
            }
        };
        self.report_standing(branch, &session, tally);
        Ended(ended)
    }

    /// The units that still fit before nothing new may be shown, with an answer about them; all
    /// others are left.
    fn fitting<'u>(&self, branch: BranchId, units: &'u [Unit]) -> (&'u [Unit], &'u [Unit]) {
        let account = self.desk.branches.account(branch);
        let thresholds = self.desk.review.thresholds;
        let answer = SHORTEST_ANSWER.min(account.budget / 20);
        let mut used = account.used;
        let fits = units.iter().take_while(|unit| {
            used = used.saturating_add(unit.tokens);
            thresholds.mode(used, account.budget) < Mode::ForceReturn
                && used.saturating_add(answer) <= account.budget
        });
        units.split_at(fits.count())
    }

    /// Whether a shard is shown only because the budget has something left over.
    fn is_beyond_budget(&self, shard: &Shard) -> bool {
        shard.wave > 1 && !self.desk.review.complete
    }

    /// A file whose secrets cannot be told apart is not shown at all.
    pub(crate) fn can_be_shown(&self, unit: &Unit) -> bool {
        unit.kind == quorum_model::unit::UnitKind::Name
            || self.desk.library.changed(&unit.path).is_some()
    }

    /// Waves for what the budget left out, until all of it is covered or nothing moves.
    async fn follow_up(&self, parent: BranchId, tally: &mut Tally) {
        for round in 1..=MOST_FOLLOW_UPS {
            let (left, others): (Vec<_>, Vec<_>) = std::mem::take(&mut tally.missed)
                .into_iter()
                .partition(|missed| missed.reason == CutoffReason::Budget);
            tally.missed = others;
            let units: Vec<Unit> = left.into_iter().flat_map(|missed| missed.units).collect();
            if units.is_empty() {
                return;
            }
            let before = units.len();
            let limit = self.desk.review.thresholds.full_analysis.floor_of(self.planned.budget);
            let packed = quorum_plan::shards::pack(
                units.iter().cloned(),
                self.desk.review.sops,
                quorum_plan::shards::Limits::of_tokens(self.planned.shard_limit.min(limit)),
            );
            let shards = match packed {
                Ok(shards) => shards,
                Err(error) => {
                    tally.miss(&units, CutoffReason::Error, error.to_string());
                    return;
                }
            };
            for (index, shard) in shards.iter().enumerate() {
                let number = self.planned.shards.len() + index;
                let (_, more) = self.wave(parent, 1_000 + round, &vec![(number, shard)]).await;
                tally.absorb(more);
            }
            let still = tally.missed.iter().filter(|m| m.reason == CutoffReason::Budget);
            if still.map(|missed| missed.units.len()).sum::<usize>() >= before {
                return;
            }
        }
    }

    /// What came of the agent: what its branches gave, beside what the embedded reviewers found.
    pub(crate) fn outcome(&self, mut tally: Tally, mode: Mode) -> AgentOutcome {
        for finding in self.desk.review.builtin.get(&self.agent.name).into_iter().flatten() {
            tally.add_finding(finding.clone());
        }
        if self.desk.reports_attempts(&self.agent.name) {
            for finding in self.desk.attempts {
                tally.add_finding(finding.clone());
            }
        }
        let covered_nothing = tally.covered.is_empty() && !tally.missed.is_empty();
        let missed = tally.missed.iter().map(|missed| (missed.reason, missed.cause.clone()));
        let worst = missed.chain(tally.cut_short.clone()).max_by_key(|(reason, _)| weight(*reason));
        // Who was made to return has not had its say, even where it answered.
        let forced = (mode >= Mode::ForceReturn)
            .then(|| (CutoffReason::Budget, "its budget is used up".to_owned()));
        let worst = worst.or(forced);
        let (reason, error) = worst.unzip();
        let failed = covered_nothing && reason != Some(CutoffReason::Budget);
        let status = match reason {
            None => OutcomeStatus::Completed,
            Some(_) if failed => OutcomeStatus::Failed,
            Some(_) => OutcomeStatus::Partial,
        };
        // Parts of one long line have the same lines, and every one of them counts.
        tally.covered.sort();
        let sops = self.sops(&tally);
        let skipped = tally.skipped;
        let any_skipped = skipped.medium_count + skipped.low_count > 0;
        AgentOutcome {
            run: self.desk.review.run.to_owned(),
            agent: self.agent.name.clone(),
            engine: self.planned.engine.clone(),
            model: self.planned.model.clone(),
            status,
            cutoff_reason: reason,
            error,
            mode,
            usage: Usage {
                // Every wave is a branch with a budget of its own.
                budget: tally.budget.max(self.planned.budget),
                budget_used: tally.used,
                tokens: tally.tokens,
                usd: tally.usd,
                calls: tally.calls,
            },
            covered: tally.covered,
            bounded: Vec::new(),
            unreadable: Vec::new(),
            not_compared: None,
            findings: tally.findings,
            suppressed: Vec::new(),
            skipped: any_skipped.then_some(skipped),
            rejected: tally.rejected,
            reactions: Vec::new(),
            sops,
            patterns: distinct(tally.patterns),
            notes: tally.notes,
        }
    }

    /// An answer for every standing order that was shown or should have been; the worst of several
    /// counts, one without evidence is none, and one that is missing for some of the code is missing.
    fn sops(&self, tally: &Tally) -> Vec<SopResult> {
        let missed: BTreeSet<&str> =
            tally.missed.iter().flat_map(|missed| &missed.units).map(|unit| &*unit.path).collect();
        let unseen = |sop: &Sop| missed.iter().any(|path| sop.applies(path));
        let asked = self.desk.review.sops.iter();
        let asked = asked.filter(|sop| tally.expected_sops.contains(&sop.name) || unseen(sop));
        let result = |sop: &Sop| {
            let answers = tally.sops.iter().filter(|answer| answer.counts_for(&sop.name));
            let answers = answers.filter_map(|answer| Some((answer.status()?, answer)));
            let worst = answers.max_by_key(|(status, _)| badness(*status));
            let missing = tally.unanswered_sops.contains(&sop.name) || unseen(sop);
            let none = |why: &str| sops::answer(sop, SopStatus::NotReviewed, why.to_owned());
            match worst {
                Some((status, given)) if status == SopStatus::Violated || !missing => {
                    let (file, line) = given.place.clone().unzip();
                    let answer = sops::answer(sop, status, given.evidence.clone());
                    SopResult { file, line, ..answer }
                }
                Some(_) => none("no answer for all of the code"),
                None if unseen(sop) => none("not all of the code that it is about was shown"),
                None => none("no answer, or none with evidence"),
            }
        };
        asked.map(result).collect()
    }

    fn report_standing(&self, branch: BranchId, session: &Session<'_>, tally: &Tally) {
        let account = self.desk.branches.account(branch);
        let units = self.units.values().map(Vec::len).sum();
        self.desk.review.observer.standing(
            &self.agent.name,
            Standing {
                mode: session.mode(),
                used: account.used,
                budget: account.budget,
                shown: tally.covered.len(),
                units,
                findings: tally.findings.len(),
                usd: tally.usd,
                ended: false,
            },
        );
    }

    fn stand(&self, outcome: &AgentOutcome) {
        self.desk.review.observer.standing(
            &self.agent.name,
            Standing {
                mode: outcome.mode,
                used: outcome.usage.budget_used,
                budget: outcome.usage.budget,
                shown: outcome.covered.len(),
                units: self.units.values().map(Vec::len).sum(),
                findings: outcome.findings.len(),
                usd: outcome.usage.usd,
                ended: true,
            },
        );
    }
}

/// When it is a shard's turn.
struct ShardTurn {
    /// What tells its calls from those of others.
    label: String,
    /// Its number within the agent.
    number: usize,
    /// Its place among the shards of the branch.
    part: (usize, usize),
}

/// How a shard leaves its branch; absent where it goes on.
struct Ended(Option<BranchState>);

impl Ended {
    fn or(self, state: BranchState) -> BranchState {
        self.0.unwrap_or(state)
    }
}

/// Each convention once, whoever of the agent's branches saw it.
fn distinct(patterns: Vec<Pattern>) -> Vec<Pattern> {
    let mut kept: Vec<Pattern> = Vec::new();
    for pattern in patterns {
        if !kept.iter().any(|known| known.name.eq_ignore_ascii_case(&pattern.name)) {
            kept.push(pattern);
        }
    }
    kept
}

/// A failure says more than a limit, a missed defect more than that, and an interruption more than
/// all of them.
fn weight(reason: CutoffReason) -> u8 {
    match reason {
        CutoffReason::Budget => 0,
        CutoffReason::Ceiling => 1,
        CutoffReason::Timeout => 2,
        CutoffReason::Absent => 3,
        CutoffReason::Error => 4,
        CutoffReason::Canary => 5,
        CutoffReason::Interrupt => 6,
    }
}

fn badness(status: SopStatus) -> u8 {
    match status {
        SopStatus::NotChecked | SopStatus::NotReviewed => 0,
        SopStatus::NotApplicable => 1,
        SopStatus::Passed => 2,
        SopStatus::Violated => 3,
    }
}
