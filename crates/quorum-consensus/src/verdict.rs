//! The verdict of each agent and of the whole, with a sentence for every reason.

use std::collections::BTreeSet;

use quorum_model::finding::Finding;
use quorum_model::gate::GateResult;
use quorum_model::plan::Plan;
use quorum_model::result::{SopResult, SopSeverity, SopStatus};
use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_model::verdict::{AgentVerdict, Verdict};

use quorum_model::coverage::CoverageState;

use crate::coverage::{Covers, describe, why_skipped};
use crate::decide::Policy;
use crate::findings::Cluster;
use crate::quorum::Turnout;
use crate::seat::{SECURITY, Seat};

/// What follows from one agent's findings.
#[derive(Debug)]
pub(crate) struct Opinion {
    pub(crate) verdict: AgentVerdict,
    /// A sentence for each.
    pub(crate) vetoes: Vec<String>,
    /// The ids of the findings behind them.
    pub(crate) vetoed: Vec<String>,
}

/// What follows from the findings of the agent in `seat`.
pub(crate) fn of_agent(
    index: usize,
    seat: &Seat<'_>,
    findings: &[(Finding, Cluster<'_>)],
) -> Opinion {
    let (mut vetoes, mut vetoed_ids) = (Vec::new(), Vec::new());
    let mut worst = None;
    for (finding, cluster) in findings {
        let mut vetoed = false;
        for member in cluster.members.iter().filter(|member| member.seat == index) {
            worst = worst.max(Some(member.severity));
            if let Some(criterion) = seat.veto(member.severity, member.source)
                && !vetoed
            {
                vetoed = true;
                vetoed_ids.push(finding.id.clone());
                vetoes.push(format!(
                    "{} vetoes {} ({criterion}): {} ({})",
                    seat.name(),
                    finding.id,
                    title(&finding.issue),
                    place(finding)
                ));
            }
        }
    }
    let verdict = if !vetoes.is_empty() {
        AgentVerdict::Veto
    } else if seat.unfinished().is_some() {
        AgentVerdict::Error
    } else if worst >= Some(Severity::High) {
        AgentVerdict::Warn
    } else {
        AgentVerdict::Ok
    };
    Opinion { verdict, vetoes, vetoed: vetoed_ids }
}

/// What the overall verdict is made from.
#[derive(Debug)]
pub(crate) struct Facts<'a, 'b> {
    pub(crate) plan: &'b Plan,
    pub(crate) policy: &'b Policy,
    pub(crate) seats: &'b [Seat<'a>],
    pub(crate) covers: &'b Covers<'a>,
    pub(crate) opinions: &'b [Opinion],
    pub(crate) findings: &'b [(Finding, Cluster<'a>)],
    pub(crate) gates: &'b [GateResult],
    pub(crate) sops: &'b [SopResult],
}

/// The verdict, and all reasons that hold, the deciding one first.
pub(crate) fn overall(facts: &Facts<'_, '_>) -> (Verdict, Vec<String>) {
    let asked = facts.seats.iter().any(|seat| seat.outcome.is_some());
    if !asked && facts.gates.iter().any(GateResult::blocks) {
        // That nobody looked at anything follows from it, and is no reason of its own.
        return (Verdict::Blocked, facts.stops());
    }
    let rows = [
        (Verdict::Blocked, facts.stops()),
        (Verdict::Incomplete, facts.absences()),
        (Verdict::Blocked, facts.unguarded()),
        (Verdict::Incomplete, facts.uncovered()),
        (Verdict::Advisory, facts.ignored_vetoes()),
        (Verdict::ChangesRequested, facts.failing()),
    ];
    let verdict = rows.iter().find(|(_, reasons)| !reasons.is_empty()).map(|(verdict, _)| *verdict);
    let reasons: Vec<String> = rows.into_iter().flat_map(|(_, reasons)| reasons).collect();
    match verdict {
        Some(verdict) => (verdict, reasons),
        None => (Verdict::Approved, vec![facts.approval()]),
    }
}

impl Facts<'_, '_> {
    fn vetoes(&self) -> impl Iterator<Item = &String> {
        self.opinions.iter().flat_map(|opinion| &opinion.vetoes)
    }

    /// Vetoes that are not ignored, required gates that failed, SOPs that are broken.
    fn stops(&self) -> Vec<String> {
        let mut reasons: Vec<String> = match self.policy.ignore_vetos {
            Some(_) => Vec::new(),
            None => self.vetoes().cloned().collect(),
        };
        reasons.extend(self.gates.iter().filter(|gate| gate.blocks()).map(|gate| {
            format!("the required gate {} {}: {}", gate.name, gate.outcome(), gate.command)
        }));
        let broken = |sop: &&SopResult| {
            sop.status == SopStatus::Violated && sop.severity == SopSeverity::Error
        };
        let broken = self.sops.iter().filter(broken);
        reasons
            .extend(broken.map(|sop| format!("the SOP {} is violated: {}", sop.sop, sop.evidence)));
        reasons
    }

    /// The agents that did not finish, where too few did.
    fn absences(&self) -> Vec<String> {
        let turnout = |veto: bool| {
            let seats = self.seats.iter().filter(move |seat| seat.planned.veto == veto);
            Turnout::of(seats.map(|seat| seat.unfinished().is_none()))
        };
        if self.policy.quorum.met(turnout(true), turnout(false)) {
            return Vec::new();
        }
        let asked = self.policy.quorum.describe();
        let absent = self.seats.iter().filter_map(|seat| Some((seat, seat.unfinished()?)));
        absent
            .map(|(seat, why)| format!("{} did not finish: {why} (needed: {asked})", seat.name()))
            .collect()
    }

    /// Security-sensitive files that the security reviewer was not shown whole.
    fn unguarded(&self) -> Vec<String> {
        let security = self.seats.iter().position(|seat| seat.name() == SECURITY);
        let sensitive =
            self.plan.scope.files.iter().filter(|file| file.has(Flag::SecuritySensitive));
        let reasons = sensitive.filter_map(|file| {
            let Some(index) = security else {
                return Some(format!(
                    "{} is security-sensitive and {SECURITY} was not selected",
                    file.path
                ));
            };
            let why = why_skipped(&self.seats[index]);
            match self.covers.state(index, &file.path) {
                CoverageState::Reviewed => None,
                CoverageState::Partial => Some(format!(
                    "{} is security-sensitive and {SECURITY} was not shown {} ({why})",
                    file.path,
                    describe(self.covers.unseen_by(index, &file.path))
                )),
                CoverageState::Read | CoverageState::Skipped | CoverageState::Unreadable => {
                    Some(format!(
                        "{} is security-sensitive and was not reviewed by {SECURITY} ({why})",
                        file.path
                    ))
                }
                CoverageState::OutOfDomain => Some(format!(
                    "{} is security-sensitive and not in the domain of {SECURITY}",
                    file.path
                )),
            }
        });
        reasons.collect()
    }

    /// Files, or lines of them, that no agent was shown.
    fn uncovered(&self) -> Vec<String> {
        let reasons = self.plan.scope.files.iter().filter_map(|file| {
            if !self.covers.covered(&file.path) {
                return Some(format!("{} was reviewed by no agent", file.path));
            }
            let unseen = self.covers.unseen(&file.path);
            let missing =
                || format!("{} of {} were shown to no agent", describe(unseen), file.path);
            (!unseen.is_empty()).then(missing)
        });
        reasons.collect()
    }

    fn ignored_vetoes(&self) -> Vec<String> {
        match &self.policy.ignore_vetos {
            Some(why) => {
                self.vetoes().map(|veto| format!("{veto}; ignored: {}", why.trim())).collect()
            }
            None => Vec::new(),
        }
    }

    /// The findings that fail the review, beside those that are vetoed.
    fn failing(&self) -> Vec<String> {
        let Some(limit) = self.policy.least_failing() else { return Vec::new() };
        let vetoed: BTreeSet<&str> =
            self.opinions.iter().flat_map(|o| &o.vetoed).map(String::as_str).collect();
        let failing = self.findings.iter().map(|(finding, _)| finding);
        failing
            .filter(|finding| finding.severity >= limit && !vetoed.contains(finding.id.as_str()))
            .map(|finding| {
                format!(
                    "{} is {}: {} ({})",
                    finding.id,
                    finding.severity.as_str(),
                    title(&finding.issue),
                    place(finding)
                )
            })
            .collect()
    }

    fn approval(&self) -> String {
        let files = self.plan.scope.files.len();
        match (files, self.policy.fail_on) {
            (0, _) => "there is nothing to review".to_owned(),
            (_, Some(limit)) => {
                format!("no finding at or above {} in {files} files", limit.as_str())
            }
            (_, None) => format!("no veto in {files} files"),
        }
    }
}

/// The first sentence of a text.
pub(crate) fn title(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.')
}

fn place(finding: &Finding) -> String {
    if finding.line == 0 {
        finding.file.clone()
    } else {
        format!("{}:{}", finding.file, finding.line)
    }
}
