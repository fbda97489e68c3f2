//! A conversation's line to its model: what tells its calls from those of others, and what they cost.

use quorum_llm::{Finish, Request};
use quorum_model::budget::Mode;
use quorum_model::severity::Severity;

use super::ask::Asked;
use super::branch::{Account, BranchId};
use super::contract::Reported;
use super::desk::Desk;
use super::ledger::Held;
use super::prompt::Style;
use super::session::Worker;
use super::tally::Tally;

/// The line of one conversation of one branch.
pub(crate) struct Line<'a> {
    pub(crate) worker: &'a Worker<'a>,
    pub(crate) branch: BranchId,
    /// What tells this conversation's calls from those of others.
    pub(crate) label: String,
    pub(crate) style: Style,
    /// Answers so far, of any kind.
    pub(crate) answered: u64,
    /// What is set aside for the call under way: of the run's ceilings, and of the budget.
    held: Option<(Held, u64)>,
}

impl<'a> Line<'a> {
    pub(crate) fn new(worker: &'a Worker<'a>, branch: BranchId, label: String) -> Self {
        Self { worker, branch, label, style: worker.engine.style, answered: 0, held: None }
    }

    /// The same for the same call of the same conversation, and for no other.
    pub(crate) fn key(&self, request: &Request) -> String {
        let text = format!("{} {} {}", self.label, self.answered, request.digest());
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    pub(crate) fn hold(&mut self, held: Held, reserved: u64) {
        self.held = Some((held, reserved));
    }

    /// What was set aside for the call that was just answered; nothing for one that was recorded.
    pub(crate) fn take_held(&mut self) -> Option<(Held, u64)> {
        self.held.take()
    }

    pub(crate) fn desk(&self) -> &'a Desk<'a> {
        self.worker.desk
    }

    pub(crate) fn account(&self) -> Account {
        self.desk().branches.account(self.branch)
    }

    /// The mode that the branch is in.
    pub(crate) fn mode(&self) -> Mode {
        let account = self.account();
        self.desk().review.thresholds.mode(account.used, account.budget)
    }

    /// Charges what entered the branch and what the model wrote; `pending` tokens were new in it.
    pub(crate) fn charge(&self, asked: &Asked, pending: u64) {
        // The provider's figure is for the whole request; this part of it is new.
        let share = u128::from(asked.believed.input) * u128::from(pending)
            / u128::from(asked.counted_input.max(1));
        let entered = u64::try_from(share).unwrap_or(u64::MAX).max(pending);
        let mut charged = entered.saturating_add(asked.written);
        if asked.answer.finish == Finish::Cut {
            // It was stopped at the end of its budget, not after it.
            let account = self.account();
            charged = charged.min(account.budget.saturating_sub(account.used));
        }
        self.desk().branches.settle(self.branch, asked.reserved, charged);
    }

    /// Checks a finding against the code and records it; what the model is told about it. An error
    /// is ours, not the model's.
    pub(crate) fn accept(
        &self,
        reported: Reported,
        mode: Mode,
        tally: &mut Tally,
    ) -> Result<String, String> {
        if mode >= Mode::HighSeverityOnly && reported.severity < Severity::High {
            match reported.severity {
                Severity::Medium => tally.skipped.medium_count += 1,
                _ => tally.skipped.low_count += 1,
            }
            return Ok("counted, not recorded: only CRITICAL and HIGH are taken now".to_owned());
        }
        let desk = self.desk();
        match desk.ground.check(self.worker.agent, reported, mode) {
            Ok(finding) => {
                let finding = super::scrub::finding(desk.library, finding)?;
                if tally.add_finding(finding.clone()) {
                    desk.review.journal.found(&self.worker.agent.name, &finding)?;
                }
                Ok("recorded".to_owned())
            }
            Err(rejection) => {
                *tally.rejected.entry(rejection.as_str().to_owned()).or_default() += 1;
                Ok(format!("not recorded: {}", rejection.as_str()))
            }
        }
    }
}
