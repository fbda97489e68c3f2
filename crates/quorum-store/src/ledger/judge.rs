//! Where each finding stands, given what earlier reviews found.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use quorum_model::budget::Mode;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::outcome::{AgentOutcome, OutcomeStatus};
use quorum_model::scope::{Change, FileEntry, Scope};
use quorum_model::severity::Severity;

use super::dismissal::{Dismissal, Dismissals};
use super::matching::{match_up, renames};
use super::region::{Anchors, Lines, Place, locate};

/// A review, as the ledger sees it.
#[derive(Clone, Copy)]
pub struct Review<'a> {
    /// The run.
    pub run: &'a str,
    /// When.
    pub at: Timestamp,
    /// What was under review.
    pub scope: &'a Scope,
    /// What was found.
    pub findings: &'a [Finding],
    /// What the agents were shown.
    pub outcomes: &'a [AgentOutcome],
    /// The text of a file at the reviewed revision, where it has one.
    pub text: &'a dyn Fn(&str) -> Option<String>,
    /// What became of a file that is not under review.
    pub outside: &'a dyn Fn(&str) -> Outside,
}

/// What became of a file that is not under review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It is not there any more.
    Gone,
    /// It is as it was before the change.
    Untouched,
    /// Nobody can say.
    Unknown,
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
    /// Whether its quote and its surroundings are digests of lines: a pull request remembers it.
    pub digested: bool,
    /// The person who set it aside where the pull request is discussed.
    pub dismissal: Option<Dismissal>,
}

/// What the ledger says to a review.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// One for each finding of the review, in its order.
    pub findings: Vec<Judged>,
    /// What earlier reviews found in the files under review, and this one did not.
    pub gone: Vec<Gone>,
    /// How many of the findings stand although somebody set them aside in the ledger without the
    /// user's mark.
    pub unsealed: usize,
}

/// Where a finding of the review stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Where it stands: new, persisting, dismissed or suppressed.
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
    let mut view = View::of(review);
    let matches = match_up(&mut view, known);
    let judge_one = |(finding, entry): (&Finding, Option<&Entry>)| {
        let known_as = entry.into_iter().flat_map(|entry| &entry.fingerprints);
        let names = fingerprints(finding).chain(known_as.map(String::as_str));
        let suppressed = finding.state == FindingState::Suppressed;
        let here = entry.and_then(|entry| entry.dismissal.as_ref());
        let dismissal = here.or_else(|| dismissals.of(names, review.at));
        let dismissal = dismissal.filter(|_| !suppressed).cloned();
        let state = match entry {
            _ if suppressed => FindingState::Suppressed,
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
    let gone = left.filter_map(|(_, entry)| view.gone(entry, dismissals)).collect();
    Judgement { findings, gone, unsealed: 0 }
}

/// How many lines of a finding a pull request remembers.
pub(super) const QUOTED: usize = 8;

/// Who was shown a file, and its first and last line.
type Shown<'a> = (&'a AgentOutcome, (u64, u64));

/// A review by file.
pub(super) struct View<'a> {
    pub(super) review: &'a Review<'a>,
    files: BTreeMap<&'a str, &'a FileEntry>,
    renamed: BTreeMap<&'a str, &'a str>,
    shown: BTreeMap<&'a str, Vec<Shown<'a>>>,
    texts: Texts<'a>,
}

impl<'a> View<'a> {
    fn of(review: &'a Review<'a>) -> Self {
        let mut shown: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for outcome in review.outcomes {
            // A name alone shows nothing.
            for covered in outcome.covered.iter().filter(|covered| covered.start_line > 0) {
                let lines = (covered.start_line, covered.end_line);
                shown.entry(covered.path.as_str()).or_default().push((outcome, lines));
            }
        }
        Self {
            review,
            files: review.scope.files.iter().map(|file| (&*file.path, file)).collect(),
            renamed: renames(review.scope).collect(),
            shown,
            texts: Texts::new(review.text),
        }
    }

    fn gone(&mut self, entry: &Entry, dismissals: &Dismissals) -> Option<Gone> {
        let old = entry.finding.file.as_str();
        let path = self.renamed.get(old).copied().unwrap_or(old);
        let file = self.files.get(path).copied();
        if file.is_none() && !entry.digested {
            return None;
        }
        let resolved = match file {
            Some(file) => self.is_resolved(entry, file),
            None => self.left(entry),
        };
        let mut finding = entry.finding.clone();
        finding.state = if resolved { FindingState::Resolved } else { FindingState::NotReviewed };
        let names = entry.fingerprints.iter().map(String::as_str);
        let dismissed = entry.dismissal.is_some() || dismissals.of(names, self.review.at).is_some();
        Some(Gone { entry: entry.id, finding, dismissed })
    }

    /// Whether a finding went with its file, or with the part of the change that had it.
    fn left(&mut self, entry: &Entry) -> bool {
        match (self.review.outside)(&entry.finding.file) {
            Outside::Gone => true,
            Outside::Untouched => self.lost(entry),
            Outside::Unknown => false,
        }
    }

    /// Whether the code of a finding is not in its file any more.
    pub(super) fn lost(&mut self, entry: &Entry) -> bool {
        let finding = &entry.finding;
        let Some(lines) = self.texts.lines_of(&finding.file, entry.digested) else {
            return (self.review.outside)(&finding.file) == Outside::Gone;
        };
        let end = finding.end_line.max(finding.line);
        let place = locate(lines, &finding.evidence, finding.line, end, &entry.anchors);
        matches!(place, Place::Changed(..))
    }

    /// Whether `finding` stands where the code of an entry was, which is not there any more.
    pub(super) fn is_edited(&mut self, entry: &Entry, finding: &Finding) -> bool {
        let before = &entry.finding;
        let Some(lines) = self.texts.lines_of(&before.file, entry.digested) else { return false };
        let end = before.end_line.max(before.line);
        match locate(lines, &before.evidence, before.line, end, &entry.anchors) {
            Place::Changed(start, end) => start <= finding.end_line && finding.line <= end,
            Place::Same(..) => false,
        }
    }

    /// The code of a finding of this review, and what stands around it.
    pub(super) fn spot(
        &mut self,
        finding: &Finding,
        digested: bool,
    ) -> Option<(Vec<String>, Anchors)> {
        let end = finding.end_line.max(finding.line);
        let lines = self.texts.lines_of(&finding.file, digested)?;
        let code = lines.between(finding.line, end).take(QUOTED).map(str::to_owned).collect();
        Some((code, Anchors::around(lines, finding.line, end)))
    }

    /// Whether somebody who would have seen the finding was shown its place, and did not see it.
    fn is_resolved(&mut self, entry: &Entry, file: &FileEntry) -> bool {
        let finding = &entry.finding;
        let shown = self.shown_to_a_witness(finding, &file.path);
        if file.change == Change::Deleted {
            return !shown.is_empty();
        }
        let end = finding.end_line.max(finding.line);
        let Some(plain) = self.texts.lines(&file.path) else {
            return covers(&shown, finding.line, end);
        };
        let silenced = |start, end| plain.mention(start, end, "quorum:ignore");
        let silenced = |place: &Place| match *place {
            Place::Same(start, end) | Place::Changed(start, end) => silenced(start, end),
        };
        let digested;
        let lines = if entry.digested {
            digested = plain.digested();
            &digested
        } else {
            plain
        };
        let place = locate(lines, &finding.evidence, finding.line, end, &entry.anchors);
        match place {
            // Code that the change does not touch any more is still there, and nobody looks for it.
            Place::Same(start, end) if !in_scope(file, start, end) => false,
            // It is silenced, which does not mend it.
            Place::Same(..) if silenced(&place) => false,
            // A model that says nothing to the same code again has not shown that it is mended.
            Place::Same(start, end)
                if finding.rule.is_none()
                    && Anchors::around(lines, start, end) == entry.anchors =>
            {
                false
            }
            Place::Same(start, end) => covers(&shown, start, end),
            // Where the change does not reach any more, it cannot have the finding any more.
            Place::Changed(start, end) if !in_scope(file, start, end) => true,
            Place::Changed(start, end) => overlaps(&shown, start, end),
        }
    }

    /// The lines of a file that were shown to somebody who would have reported the finding, sorted.
    fn shown_to_a_witness(&self, finding: &Finding, path: &str) -> Vec<(u64, u64)> {
        let is_witness = |outcome: &AgentOutcome| {
            let heard = outcome.status != OutcomeStatus::Failed;
            // What a model saw, rules alone do not see.
            let able = finding.rule.is_some() || outcome.engine != "builtin";
            // An agent that is short of budget leaves the rest out.
            let willing = outcome.mode == Mode::FullAnalysis || finding.severity >= Severity::High;
            heard && able && willing && finding.agents.contains(&outcome.agent)
        };
        let shown = self.shown.get(path).map_or(&[][..], Vec::as_slice).iter();
        let witnessed = shown.filter(|(outcome, _)| is_witness(outcome));
        let mut lines: Vec<(u64, u64)> = witnessed.map(|(_, lines)| *lines).collect();
        lines.sort_unstable();
        lines
    }
}

/// The files of the reviewed revision, each read once.
pub(super) struct Texts<'a> {
    read: &'a dyn Fn(&str) -> Option<String>,
    known: BTreeMap<String, Option<Lines>>,
    digested: BTreeMap<String, Option<Lines>>,
}

impl std::fmt::Debug for Texts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Texts").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl<'a> Texts<'a> {
    pub(super) fn new(read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { read, known: BTreeMap::new(), digested: BTreeMap::new() }
    }

    /// The lines of a file, where it has a text.
    pub(super) fn lines(&mut self, path: &str) -> Option<&Lines> {
        let read = self.read;
        let known = self.known.entry(path.to_owned());
        known.or_insert_with(|| read(path).map(|text| Lines::of(&text))).as_ref()
    }

    /// The lines of a file, or their digests.
    pub(super) fn lines_of(&mut self, path: &str, digested: bool) -> Option<&Lines> {
        if !digested {
            return self.lines(path);
        }
        if !self.digested.contains_key(path) {
            let lines = self.lines(path).map(Lines::digested);
            self.digested.insert(path.to_owned(), lines);
        }
        self.digested.get(path)?.as_ref()
    }
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
