//! Where each finding stands, given what earlier reviews found.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use quorum_model::budget::Mode;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::outcome::{AgentOutcome, OutcomeStatus};
use quorum_model::scope::{Change, FileEntry, Scope};
use quorum_model::severity::Severity;

use super::dismissal::{Dismissal, Dismissals};
use super::region::{Anchors, Place, locate};

/// A review, as the ledger sees it.
#[derive(Clone, Copy)]
pub struct Review<'a> {
    /// The run.
    pub run: &'a str,
    /// When.
    pub at: Timestamp,
    /// What it is a round of, such as a pull request; see [`super::series`].
    pub series: Option<&'a str>,
    /// What was under review.
    pub scope: &'a Scope,
    /// What was found.
    pub findings: &'a [Finding],
    /// What the agents were shown.
    pub outcomes: &'a [AgentOutcome],
    /// The text of a file at the reviewed revision, where it has one.
    pub text: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Review<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Review").field("run", &self.run).finish_non_exhaustive()
    }
}

/// A finding that an earlier review, or an earlier try of this one, put into the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number in the ledger.
    pub id: i64,
    /// Every fingerprint that it was seen under.
    pub fingerprints: BTreeSet<String>,
    /// What was found, as it was last seen.
    pub finding: Finding,
    /// What stood around it.
    pub anchors: Anchors,
    /// The run that saw it first, or again after it was resolved.
    pub first_run: String,
    /// The run that found it gone.
    pub resolved_run: Option<String>,
}

/// What the ledger says to a review.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// One for each finding of the review, in its order.
    pub findings: Vec<Judged>,
    /// What earlier reviews found in the files under review, and this one did not.
    pub gone: Vec<Gone>,
}

/// Where a finding of the review stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Where it stands: new, persisting or dismissed.
    pub state: FindingState,
    /// Its entry, where the ledger has one.
    pub entry: Option<i64>,
    /// Why it was set aside.
    pub dismissal: Option<Dismissal>,
}

/// Where an earlier finding stands that the review did not find.
#[derive(Clone, Debug, PartialEq)]
pub struct Gone {
    /// Its entry.
    pub entry: i64,
    /// What it was; its state says whether it is resolved or was not reviewed.
    pub finding: Finding,
    /// Whether it had been set aside, so that nobody waits for it.
    pub dismissed: bool,
}

/// Every fingerprint of a finding: its own, and those of the agents' findings that went into it.
pub fn fingerprints(finding: &Finding) -> impl Iterator<Item = &str> {
    let members = finding.positions.iter().map(|position| position.fingerprint.as_str());
    std::iter::once(finding.fingerprint.as_str()).chain(members)
}

/// Says where each finding of `review` stands, and where those of `known` that it did not find do.
pub fn judge(review: &Review<'_>, known: &[Entry], dismissals: &Dismissals) -> Judgement {
    let matches = match_up(review, known);
    let judge_one = |(finding, entry): (&Finding, Option<&Entry>)| {
        let known_as = entry.into_iter().flat_map(|entry| &entry.fingerprints);
        let names = fingerprints(finding).chain(known_as.map(String::as_str));
        let dismissal = dismissals.of(names, review.at).cloned();
        let state = match entry {
            _ if dismissal.is_some() => FindingState::Dismissed,
            // An entry of this very run is an earlier try to record it.
            Some(entry) if entry.resolved_run.is_none() && entry.first_run != review.run => {
                FindingState::Persisting
            }
            _ => FindingState::New,
        };
        Judged { state, entry: entry.map(|entry| entry.id), dismissal }
    };
    let entries = matches.iter().map(|index| index.and_then(|index| known.get(index)));
    let findings = review.findings.iter().zip(entries).map(judge_one).collect();
    let matched: BTreeSet<usize> = matches.into_iter().flatten().collect();
    let open = |entry: &Entry| entry.resolved_run.as_deref().is_none_or(|run| run == review.run);
    let left = known.iter().enumerate();
    let left = left.filter(|(index, entry)| !matched.contains(index) && open(entry));
    let gone = left.filter_map(|(_, entry)| gone(review, entry, dismissals)).collect();
    Judgement { findings, gone }
}

/// The entry of each finding, by its place in `known`.
fn match_up(review: &Review<'_>, known: &[Entry]) -> Vec<Option<usize>> {
    let mut by_fingerprint: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, entry) in known.iter().enumerate() {
        by_fingerprint.extend(entry.fingerprints.iter().map(|one| (one.as_str(), index)));
    }
    let mut taken = BTreeSet::new();
    let mut matches: Vec<Option<usize>> = Vec::with_capacity(review.findings.len());
    for finding in review.findings {
        let found = fingerprints(finding).filter_map(|one| by_fingerprint.get(one).copied());
        let free = found.into_iter().find(|index| !taken.contains(index));
        taken.extend(free);
        matches.push(free);
    }
    // A fingerprint has the path in it, so a renamed file's findings are told by what they are.
    let renamed: BTreeMap<&str, &str> =
        renames(review.scope).map(|(old, new)| (new, old)).collect();
    for (finding, found) in review.findings.iter().zip(&mut matches) {
        let Some(&old) = renamed.get(finding.file.as_str()) else { continue };
        if found.is_none() {
            let same = known.iter().enumerate().filter(|(index, entry)| {
                !taken.contains(index) && is_same(&entry.finding, old, finding)
            });
            *found = same
                .min_by_key(|(_, entry)| entry.finding.line.abs_diff(finding.line))
                .map(|(index, _)| index);
            taken.extend(*found);
        }
    }
    matches
}

/// Files that have another name now, old and new.
fn renames(scope: &Scope) -> impl Iterator<Item = (&str, &str)> {
    let renamed = scope.files.iter().filter(|file| file.change == Change::Renamed);
    renamed.filter_map(|file| Some((file.old_path.as_deref()?, &*file.path)))
}

/// Whether `old` is `new` before its file was renamed.
fn is_same(old: &Finding, old_path: &str, new: &Finding) -> bool {
    let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    old.file == old_path
        && (&old.rule, &old.category) == (&new.rule, &new.category)
        && squeeze(&old.evidence) == squeeze(&new.evidence)
}

fn gone(review: &Review<'_>, entry: &Entry, dismissals: &Dismissals) -> Option<Gone> {
    let old = entry.finding.file.as_str();
    let path = renames(review.scope).find(|(from, _)| *from == old).map_or(old, |(_, to)| to);
    let file = review.scope.files.iter().find(|file| &*file.path == path)?;
    let mut finding = entry.finding.clone();
    finding.state = if is_resolved(review, entry, file) {
        FindingState::Resolved
    } else {
        FindingState::NotReviewed
    };
    let names = entry.fingerprints.iter().map(String::as_str);
    let dismissed = dismissals.of(names, review.at).is_some();
    Some(Gone { entry: entry.id, finding, dismissed })
}

/// Whether somebody who would have seen the finding was shown its place, and did not see it.
fn is_resolved(review: &Review<'_>, entry: &Entry, file: &FileEntry) -> bool {
    let finding = &entry.finding;
    let shown = shown(review, finding, &file.path);
    if file.change == Change::Deleted {
        return !shown.is_empty();
    }
    let Some(text) = (review.text)(&file.path) else {
        return covers(&shown, finding.line, finding.end_line.max(finding.line));
    };
    let end = finding.end_line.max(finding.line);
    match locate(&text, &finding.evidence, finding.line, end, &entry.anchors) {
        Place::Same(start, end) => covers(&shown, start, end),
        // Where the change does not reach any more, it cannot have the finding any more.
        Place::Changed(start, end) if !in_scope(file, start, end) => true,
        Place::Changed(start, end) => overlaps(&shown, start, end),
    }
}

/// The lines of a file that were shown to somebody who would have reported the finding.
fn shown(review: &Review<'_>, finding: &Finding, path: &str) -> Vec<(u64, u64)> {
    let answers = |outcome: &&AgentOutcome| {
        let heard = outcome.status != OutcomeStatus::Failed;
        // What a model saw, rules alone do not see.
        let able = finding.rule.is_some() || outcome.engine != "builtin";
        // An agent that is short of budget leaves the rest out.
        let willing = outcome.mode == Mode::FullAnalysis || finding.severity >= Severity::High;
        heard && able && willing && finding.agents.contains(&outcome.agent)
    };
    let covered = review.outcomes.iter().filter(answers).flat_map(|outcome| &outcome.covered);
    let mut lines: Vec<(u64, u64)> = covered
        .filter(|covered| covered.path == path && covered.start_line > 0)
        .map(|covered| (covered.start_line, covered.end_line))
        .collect();
    lines.sort_unstable();
    lines
}

/// Whether a change reaches the lines.
fn in_scope(file: &FileEntry, start: u64, end: u64) -> bool {
    let reaches = |hunk: &quorum_model::scope::Hunk| {
        // Removed lines stand between two lines of the new file.
        let last = hunk.new_start + hunk.new_lines.max(1) - 1;
        hunk.new_start <= end && start <= last + u64::from(hunk.new_lines == 0)
    };
    file.hunks.is_empty() || file.hunks.iter().any(reaches)
}

fn overlaps(lines: &[(u64, u64)], start: u64, end: u64) -> bool {
    lines.iter().any(|&(first, last)| first <= end && start <= last)
}

/// Whether `lines`, sorted, hold every line from `start` to `end`.
fn covers(lines: &[(u64, u64)], start: u64, end: u64) -> bool {
    let mut next = start;
    for &(first, last) in lines {
        if first <= next && next <= last {
            next = last + 1;
        }
    }
    next > end
}
