//! The verdict of each agent and of the whole, with a sentence for every reason.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::Finding;
use quorum_model::gate::GateResult;
use quorum_model::plan::Plan;
use quorum_model::result::{SopResult, SopSeverity, SopStatus};
use quorum_model::scope::{Flag, ScopeKind};
use quorum_model::severity::Severity;
use quorum_model::verdict::{AgentVerdict, Verdict};

use quorum_model::coverage::{CoverageEngine, CoverageState};
use quorum_model::outcome::Depth;
use quorum_model::unit::UnitKind;

use crate::coverage::Covers;
use crate::decide::Policy;
use crate::findings::Cluster;
use crate::gap::why_skipped;
use crate::lines::{describe, is_one};
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
    /// SOPs of severity error that were asked about and not answered, with the files.
    pub(crate) unanswered: &'b BTreeMap<String, Vec<String>>,
    /// Who looked.
    pub(crate) reviewed_by: &'b str,
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
        (Verdict::Incomplete, facts.missing()),
        (Verdict::Advisory, facts.lifted()),
        (Verdict::ChangesRequested, facts.failing()),
    ];
    let verdict = rows.iter().find(|(_, reasons)| !reasons.is_empty()).map(|(verdict, _)| *verdict);
    let reasons: Vec<String> = rows.into_iter().flat_map(|(_, reasons)| reasons).collect();
    match verdict {
        Some(verdict) => (verdict, reasons),
        None if facts.plan.scope.files.is_empty() => {
            (Verdict::NothingToReview, vec![facts.nothing()])
        }
        None => (Verdict::Approved, vec![facts.approval()]),
    }
}

impl Facts<'_, '_> {
    fn vetoes(&self) -> impl Iterator<Item = &String> {
        self.opinions.iter().flat_map(|opinion| &opinion.vetoes)
    }

    /// Vetoes that are not ignored, required gates that failed, SOPs that are broken.
    fn stops(&self) -> Vec<String> {
        let lifted = self.policy.ignore_vetos.is_some() || self.policy.lifts_all();
        let mut reasons: Vec<String> =
            if lifted { Vec::new() } else { self.vetoes().cloned().collect() };
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

    /// Security-sensitive files that the security reviewer did not look at.
    fn unguarded(&self) -> Vec<String> {
        let security = self
            .seats
            .iter()
            .position(|seat| seat.name() == SECURITY && seat.planned.depth == Depth::Reviewed);
        let sensitive =
            self.plan.scope.files.iter().filter(|file| {
                file.has(Flag::SecuritySensitive) && !self.covers.is_media(&file.path)
            });
        let what_is_missing = |path: &str| match security {
            None => Some(format!("{SECURITY} was not selected")),
            Some(index) => self.unguarded_by(index, path),
        };
        sensitive
            .filter_map(|file| {
                let missing = what_is_missing(&file.path)?;
                Some(format!("{} is security-sensitive and {missing}", file.path))
            })
            .collect()
    }

    /// What the security reviewer in seat `index` did not do about a file, where it did not.
    fn unguarded_by(&self, index: usize, path: &str) -> Option<String> {
        let seat = &self.seats[index];
        let (covers, why) = (self.covers, why_skipped(seat));
        let unseen = covers.unseen_by(index, path);
        let bounded = covers.bounded_for(index, path);
        match covers.state(index, path) {
            CoverageState::Skipped => Some(format!("was not reviewed by {SECURITY} ({why})")),
            CoverageState::Unreadable => Some(format!("{SECURITY} could not read it")),
            CoverageState::OutOfDomain => Some(format!("not in the domain of {SECURITY}")),
            CoverageState::Partial if !unseen.is_empty() => {
                Some(format!("{SECURITY} was not shown {} ({why})", describe(unseen)))
            }
            CoverageState::Partial if !bounded.is_empty() => {
                Some(format!("{} of it met a bound of {SECURITY}", describe(bounded)))
            }
            CoverageState::Partial | CoverageState::Read if self.policy.needs_review() => {
                Some(format!("{SECURITY} has no rules for all of it"))
            }
            CoverageState::Reviewed | CoverageState::Partial | CoverageState::Read => {
                let by_rules = covers.engine(index, path) == Some(CoverageEngine::Rules);
                let needs_model = seat.is_modelled() || seat.planned.beside_models;
                (needs_model && by_rules && !self.is_for_rules(path))
                    .then(|| format!("{SECURITY} looked at it by rules alone, not with a model"))
            }
        }
    }

    /// Whether models are shown the name of a file alone.
    fn is_for_rules(&self, path: &str) -> bool {
        let shards = self.plan.agents.iter().flat_map(|agent| &agent.shards);
        let mut units = shards.flat_map(|shard| &shard.units).filter(|unit| &*unit.path == path);
        units.all(|unit| unit.kind == UnitKind::Name)
    }

    /// What keeps the review from being complete: files and lines that nobody looked at, SOPs that
    /// nobody answered for, findings that were seen and left out though they would count.
    fn missing(&self) -> Vec<String> {
        let mut reasons = self.uncovered();
        reasons.extend(self.unanswered.iter().map(|(sop, files)| match files.as_slice() {
            [] => format!("the SOP {sop} was asked about and not answered"),
            files => format!("the SOP {sop} was asked about and not answered for {}", named(files)),
        }));
        if self.policy.strict {
            let unchecked = self.sops.iter().filter(|sop| {
                sop.status == SopStatus::NotChecked && sop.severity == SopSeverity::Error
            });
            reasons.extend(unchecked.map(|sop| format!("the SOP {} was not checked", sop.sop)));
        }
        reasons.extend(self.left_out());
        reasons
    }

    /// Files, or lines of them, that nobody looked at, or not closely enough.
    fn uncovered(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let files = self.plan.scope.files.iter().map(|file| &*file.path);
        for path in files.filter(|path| !self.covers.is_media(path)) {
            if let Some(why) = self.covers.unreadable(path) {
                reasons.push(format!("{path} is unreadable: {why}"));
                continue;
            }
            if !self.covers.covered(path) {
                reasons.push(format!("{path} was reviewed by no agent"));
                continue;
            }
            let unseen = self.covers.unseen(path);
            if !unseen.is_empty() {
                let were = if is_one(unseen) { "was" } else { "were" };
                reasons.push(format!("{} of {path} {were} shown to no agent", describe(unseen)));
            }
            for (lines, bound) in self.covers.bounded(path) {
                reasons.push(format!("{} of {path} met a bound: {bound}", describe(lines)));
            }
            if !self.policy.needs_review() {
                continue;
            }
            let unreviewed = self.covers.unreviewed(path);
            if self.covers.only_read(path) {
                reasons.push(format!("{path} was only read: no reviewer has rules for it"));
            } else if !unreviewed.is_empty() {
                let were = if is_one(unreviewed) { "was" } else { "were" };
                reasons.push(format!("{} of {path} {were} only read", describe(unreviewed)));
            }
        }
        reasons
    }

    /// Findings that an agent saw and left out for lack of budget, where such findings fail a review.
    fn left_out(&self) -> Vec<String> {
        let Some(limit) = self.policy.least_failing() else { return Vec::new() };
        let counted = self.seats.iter().filter_map(|seat| {
            let skipped = seat.outcome?.skipped?;
            let medium = if limit <= Severity::Medium { skipped.medium_count } else { 0 };
            let low = if limit <= Severity::Low { skipped.low_count } else { 0 };
            let counts: Vec<String> = [(medium, "medium"), (low, "low")]
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, severity)| format!("{count} {severity}"))
                .collect();
            (!counts.is_empty()).then(|| {
                let counts = counts.join(" and ");
                format!("{} saw {counts} findings and left them out: budget limit", seat.name())
            })
        });
        counted.collect()
    }

    /// Vetoes that the user ignores, and what would fail the review if `fail_on` did not lift it.
    fn lifted(&self) -> Vec<String> {
        let lifts_all = self.policy.lifts_all();
        let how = match &self.policy.ignore_vetos {
            Some(why) => format!("ignored: {}", why.trim()),
            None if lifts_all => "lifted: nothing fails this review".to_owned(),
            None => return Vec::new(),
        };
        let mut reasons: Vec<String> = self.vetoes().map(|veto| format!("{veto}; {how}")).collect();
        if lifts_all {
            let grave = self.at_or_above(Severity::High);
            reasons
                .extend(grave.map(|reason| format!("{reason}; lifted: nothing fails this review")));
        }
        reasons
    }

    /// The findings that fail the review, beside those that are vetoed.
    fn failing(&self) -> Vec<String> {
        self.policy.least_failing().into_iter().flat_map(|limit| self.at_or_above(limit)).collect()
    }

    /// The findings of at least this severity, beside those that are vetoed.
    fn at_or_above(&self, limit: Severity) -> impl Iterator<Item = String> {
        let vetoed: BTreeSet<&str> =
            self.opinions.iter().flat_map(|o| &o.vetoed).map(String::as_str).collect();
        let failing = self.findings.iter().map(|(finding, _)| finding);
        failing
            .filter(move |finding| {
                finding.severity >= limit && !vetoed.contains(finding.id.as_str())
            })
            .map(|finding| {
                format!(
                    "{} is {}: {} ({})",
                    finding.id,
                    finding.severity.as_str(),
                    title(&finding.issue),
                    place(finding)
                )
            })
    }

    fn approval(&self) -> String {
        let files = match self.plan.scope.files.len() {
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        let paths = self.plan.scope.files.iter().map(|file| &*file.path);
        let read = paths.filter(|path| self.covers.only_read(path)).count();
        let files = match read {
            0 => files,
            read => format!("{files} ({read} only read)"),
        };
        let by = match self.reviewed_by {
            "" => String::new(),
            who => format!(", by {who}"),
        };
        match self.policy.least_failing() {
            Some(limit) => format!("no finding at or above {} in {files}{by}", limit.as_str()),
            None => format!("no veto in {files}{by}"),
        }
    }

    fn nothing(&self) -> String {
        match self.plan.scope.ignored.len() {
            0 => match self.plan.scope.kind {
                ScopeKind::Worktree | ScopeKind::Branch => format!(
                    "there is nothing to review in {}; `quorum review --all` looks at every file",
                    self.plan.scope.label
                ),
                _ => "there is nothing to review".to_owned(),
            },
            1 => "there is nothing to review: the one file is ignored".to_owned(),
            ignored => format!("there is nothing to review: all {ignored} files are ignored"),
        }
    }
}

/// What a reader should know about how files were looked at, and that decides nothing.
pub(crate) fn remarks(plan: &Plan, covers: &Covers<'_>) -> Vec<String> {
    let paths = || plan.scope.files.iter().map(|file| file.path.to_string());
    let media: Vec<String> = paths().filter(|path| covers.is_media(path)).collect();
    let read: Vec<String> =
        paths().filter(|path| !covers.is_media(path) && covers.only_read(path)).collect();
    let mut remarks = Vec::new();
    if !read.is_empty() {
        remarks.push(format!(
            "read, not reviewed, because no reviewer has rules for them: {}",
            named(&read)
        ));
    }
    if !media.is_empty() {
        remarks.push(format!("images, fonts and media, not looked at: {}", named(&media)));
    }
    remarks
}

/// The first few of many files.
fn named(files: &[String]) -> String {
    const MOST: usize = 5;
    let (some, more) = files.split_at(files.len().min(MOST));
    match more.len() {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
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
