//! What an agent adds to its outcome after the review itself.

use std::collections::BTreeMap;

use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, Reaction, Usage};

use super::branch::{BranchId, BranchState};
use super::line::Line;
use super::session::Worker;
use super::tally::Tally;

/// What an agent said when it was asked about findings.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The agent.
    pub agent: String,
    /// What it says about them.
    pub reactions: Vec<Reaction>,
    /// What it found beyond them.
    pub findings: Vec<AgentFinding>,
    /// Findings of it that were not taken, counted by reason.
    pub rejected: BTreeMap<String, u64>,
    /// What it cost.
    pub usage: Usage,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Said {
    /// Adds it to what the agent returned before.
    pub fn join(self, outcome: &mut AgentOutcome) {
        outcome.reactions.extend(self.reactions);
        for finding in self.findings {
            if !outcome.findings.contains(&finding) {
                outcome.findings.push(finding);
            }
        }
        for (reason, count) in self.rejected {
            *outcome.rejected.entry(reason).or_default() += count;
        }
        let usage = &mut outcome.usage;
        usage.budget += self.usage.budget;
        usage.budget_used += self.usage.budget_used;
        usage.tokens += self.usage.tokens;
        usage.usd += self.usage.usd;
        usage.calls += self.usage.calls;
        outcome.notes.extend(self.notes);
    }
}

impl Worker<'_> {
    /// Does `work` in a branch of its own with `budget` tokens.
    pub(crate) async fn in_branch(
        &self,
        parent: BranchId,
        budget: u64,
        what: &str,
        work: impl AsyncFnOnce(&mut Line<'_>, &mut Tally) -> Vec<Reaction>,
    ) -> Said {
        let agent = self.agent.name.clone();
        let branches = self.desk.branches;
        let made = branches.create(Some(parent), budget);
        let made = made.and_then(|branch| {
            branches.become_(branch, BranchState::Active)?;
            Ok(branch)
        });
        let branch = match made {
            Ok(branch) => branch,
            Err(error) => return Said { agent, notes: vec![error.to_string()], ..Said::default() },
        };
        let mut tally = Tally::default();
        let mut line = Line::new(self, branch, format!("{agent} {what}"));
        let reactions = work(&mut line, &mut tally).await;
        if let Err(error) = branches.become_(branch, BranchState::Completed) {
            tally.note(error.to_string());
        }
        let account = branches.account(branch);
        let usage = Usage {
            budget: account.budget,
            budget_used: account.used,
            tokens: tally.tokens,
            usd: tally.usd,
            calls: tally.calls,
        };
        let Tally { findings, rejected, notes, .. } = tally;
        Said { agent, reactions, findings, rejected, usage, notes }
    }
}
