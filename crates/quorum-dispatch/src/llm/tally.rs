//! What a branch has given so far.

use std::collections::BTreeMap;

use quorum_model::finding::AgentFinding;
use quorum_model::outcome::Covered;
use quorum_model::report::{CutoffReason, Pattern, SkippedFindings};
use quorum_model::result::SopStatus;
use quorum_model::unit::Unit;

use super::contract::SopAnswer;

/// What a branch has given so far: findings, and what it was shown. Its transcript stays behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) findings: Vec<AgentFinding>,
    pub(crate) covered: Vec<Covered>,
    pub(crate) missed: Vec<Missed>,
    /// Why an answer about something that was shown broke off.
    pub(crate) cut_short: Option<(CutoffReason, String)>,
    pub(crate) rejected: BTreeMap<String, u64>,
    pub(crate) skipped: SkippedFindings,
    pub(crate) sops: Vec<SopAnswer>,
    pub(crate) expected_sops: Vec<String>,
    /// Those that a shard was shown with and gave no answer for.
    pub(crate) unanswered_sops: Vec<String>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) notes: Vec<String>,
    /// Tokens that its branches were given, and charged.
    pub(crate) budget: u64,
    pub(crate) used: u64,
    pub(crate) tokens: u64,
    pub(crate) usd: f64,
    pub(crate) calls: u64,
}

/// What a branch was not shown, or gave no answer about.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    pub(crate) units: Vec<Unit>,
    pub(crate) reason: CutoffReason,
    pub(crate) cause: String,
}

impl Tally {
    /// Adds what another branch of the same agent gave.
    pub(crate) fn absorb(&mut self, other: Self) {
        for finding in other.findings {
            self.add_finding(finding);
        }
        self.covered.extend(other.covered);
        self.missed.extend(other.missed);
        let canary = |cut: &(CutoffReason, String)| cut.0 == CutoffReason::Canary;
        if self.cut_short.is_none() || other.cut_short.as_ref().is_some_and(canary) {
            self.cut_short = other.cut_short.or(self.cut_short.take());
        }
        for (reason, count) in other.rejected {
            *self.rejected.entry(reason).or_default() += count;
        }
        self.skipped.medium_count += other.skipped.medium_count;
        self.skipped.low_count += other.skipped.low_count;
        self.sops.extend(other.sops);
        self.expected_sops.extend(other.expected_sops);
        self.unanswered_sops.extend(other.unanswered_sops);
        self.patterns.extend(other.patterns);
        for note in other.notes {
            self.note(note);
        }
        self.budget = self.budget.saturating_add(other.budget);
        self.used = self.used.saturating_add(other.used);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.usd += other.usd;
        self.calls += other.calls;
    }

    /// Findings that were not taken, whatever the reason.
    pub(crate) fn rejected_in_all(&self) -> u64 {
        self.rejected.values().sum()
    }

    /// Takes an answer for a standing order; a violation that the code does not show is counted.
    pub(crate) fn add_answer(&mut self, answer: SopAnswer) {
        if answer.status() == Some(SopStatus::Violated) && answer.place.is_none() {
            *self.rejected.entry("sop_quote_not_found".to_owned()).or_default() += 1;
        }
        self.sops.push(answer);
    }

    /// Takes a finding unless it is there; whether it is new.
    pub(crate) fn add_finding(&mut self, finding: AgentFinding) -> bool {
        let same = |other: &AgentFinding| {
            (&other.file, other.line, &other.issue) == (&finding.file, finding.line, &finding.issue)
        };
        let new = !self.findings.iter().any(same);
        if new {
            self.findings.push(finding);
        }
        new
    }

    /// Notes something once.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn cover(&mut self, units: &[Unit]) {
        let covered = |unit: &Unit| Covered::reviewed(&*unit.path, unit.start_line, unit.end_line);
        self.covered.extend(units.iter().map(covered));
    }

    pub(crate) fn miss(&mut self, units: &[Unit], reason: CutoffReason, cause: impl Into<String>) {
        if !units.is_empty() {
            self.missed.push(Missed { units: units.to_vec(), reason, cause: cause.into() });
        }
    }
}
