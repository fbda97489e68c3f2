//! Which finding of a review is which one of an earlier review.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::Finding;
use quorum_model::scope::{Change, Scope};

use super::judge::{Entry, Review, View, fingerprints};
use super::region::Lines;

/// The entry of each finding, by its place in `known`.
///
/// The place counts before the fingerprint: where two pieces of code read the same, fingerprints tell
/// them apart by their order alone, and that changes when one of them goes.
pub(super) fn match_up(view: &mut View<'_>, known: &[Entry]) -> Vec<Option<usize>> {
    let review = view.review;
    let mut matches = Matches { of: vec![None; review.findings.len()], taken: BTreeSet::new() };
    matches.by_place(view, known);
    matches.by_fingerprint(review, known);
    // A fingerprint has the path in it, so a renamed file's findings are told by what they are.
    let renamed: BTreeMap<&str, &str> =
        renames(review.scope).map(|(old, new)| (new, old)).collect();
    for (number, finding) in review.findings.iter().enumerate() {
        let Some(&old) = renamed.get(finding.file.as_str()) else { continue };
        let same = |entry: &Entry| !entry.digested && is_same(&entry.finding, old, finding);
        matches.nearest(number, finding, known, same);
    }
    matches.by_code(view, known, false);
    matches.by_surroundings(view, known);
    matches.by_code(view, known, true);
    matches.of
}

struct Matches {
    of: Vec<Option<usize>>,
    taken: BTreeSet<usize>,
}

impl Matches {
    fn set(&mut self, finding: usize, entry: usize) {
        self.of[finding] = Some(entry);
        self.taken.insert(entry);
    }

    fn is_free(&self, finding: usize, entry: usize) -> bool {
        self.of[finding].is_none() && !self.taken.contains(&entry)
    }

    /// Findings of the same sort with the same code in the same file: those first whose surroundings
    /// are the most alike.
    fn by_place(&mut self, view: &mut View<'_>, known: &[Entry]) {
        let mut entries: BTreeMap<(&str, String, String), Vec<usize>> = BTreeMap::new();
        for (index, entry) in known.iter().enumerate() {
            let code = squeezed(&entry.finding.evidence);
            if !code.is_empty() {
                let key = (entry.finding.file.as_str(), class(&entry.finding), code);
                entries.entry(key).or_default().push(index);
            }
        }
        for rivals in entries.values_mut() {
            rivals.sort_by_key(|index| known[*index].finding.line);
        }
        let mut pairs = Vec::new();
        for (number, finding) in view.review.findings.iter().enumerate() {
            let file = finding.file.as_str();
            for digested in [false, true] {
                let Some((lines, around)) = view.spot(finding, digested) else { continue };
                let code = if digested { lines.join("\n") } else { squeezed(&finding.evidence) };
                let Some(rivals) = entries.get(&(file, class(finding), code)) else { continue };
                let above = |index: &usize| known[*index].finding.line < finding.line;
                let here = rivals.partition_point(above);
                let (from, to) = (here.saturating_sub(RIVALS), (here + RIVALS).min(rivals.len()));
                for &index in &rivals[from..to] {
                    let entry = &known[index];
                    if entry.digested == digested {
                        let alike = around.in_common(&entry.anchors);
                        let away = entry.finding.line.abs_diff(finding.line);
                        let closed = entry.resolved_run.is_some();
                        pairs.push((Reverse(alike), closed, away, number, index));
                    }
                }
            }
        }
        pairs.sort_unstable();
        for (.., number, index) in pairs {
            if self.is_free(number, index) {
                self.set(number, index);
            }
        }
    }

    fn by_fingerprint(&mut self, review: &Review<'_>, known: &[Entry]) {
        let mut by_fingerprint: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, entry) in known.iter().enumerate() {
            for one in &entry.fingerprints {
                by_fingerprint.entry(one).or_default().push(index);
            }
        }
        for (number, finding) in review.findings.iter().enumerate() {
            let found = fingerprints(finding).filter_map(|one| by_fingerprint.get(one)).flatten();
            let free = found.copied().filter(|index| self.is_free(number, *index));
            // What is open goes before what was resolved.
            let best = free.min_by_key(|index| known[*index].resolved_run.is_some());
            if let Some(index) = best {
                self.set(number, index);
            }
        }
    }

    /// The same code in another file, where a pull request remembers it in one that lost it: open, or
    /// `resolved`.
    fn by_code(&mut self, view: &mut View<'_>, known: &[Entry], resolved: bool) {
        let by_class = by_class(known);
        for (number, finding) in view.review.findings.iter().enumerate() {
            if self.of[number].is_some() {
                continue;
            }
            let mut moved: Vec<usize> = Vec::new();
            for &index in by_class.get(&class(finding)).into_iter().flatten() {
                let entry = &known[index];
                let could = entry.digested
                    && entry.resolved_run.is_some() == resolved
                    && !self.taken.contains(&index)
                    && entry.finding.file != finding.file;
                if could
                    && let Some((code, _)) = view.spot(finding, true)
                    && is_quoted(entry, &code)
                    && view.lost(entry)
                {
                    moved.push(index);
                }
            }
            self.nearest_of(number, finding, known, moved.into_iter());
        }
    }

    /// The same sort of defect where the code of a remembered one was: the line was edited and is still
    /// wrong. What a person set aside was other code, so that it is not among them.
    fn by_surroundings(&mut self, view: &mut View<'_>, known: &[Entry]) {
        let by_class = by_class(known);
        for (number, finding) in view.review.findings.iter().enumerate() {
            if self.of[number].is_some() {
                continue;
            }
            let mut edited: Vec<usize> = Vec::new();
            for &index in by_class.get(&class(finding)).into_iter().flatten() {
                let entry = &known[index];
                let could = entry.digested
                    && entry.dismissal.is_none()
                    && !self.taken.contains(&index)
                    && entry.finding.file == finding.file;
                if could
                    && let Some((_, around)) = view.spot(finding, true)
                    && around.in_common(&entry.anchors) >= NEIGHBOURS
                    && view.is_edited(entry, finding)
                {
                    edited.push(index);
                }
            }
            self.nearest_of(number, finding, known, edited.into_iter());
        }
    }

    fn nearest(
        &mut self,
        number: usize,
        finding: &Finding,
        known: &[Entry],
        same: impl Fn(&Entry) -> bool,
    ) {
        let all = (0..known.len()).filter(|index| same(&known[*index]));
        let free: Vec<usize> = all.filter(|index| self.is_free(number, *index)).collect();
        self.nearest_of(number, finding, known, free.into_iter());
    }

    fn nearest_of(
        &mut self,
        number: usize,
        finding: &Finding,
        known: &[Entry],
        candidates: impl Iterator<Item = usize>,
    ) {
        let best = candidates.min_by_key(|index| {
            let entry = &known[*index];
            (entry.resolved_run.is_some(), entry.finding.line.abs_diff(finding.line))
        });
        if let Some(index) = best {
            self.set(number, index);
        }
    }
}

/// How many equal pieces of code before a place, and as many after it, are compared with it: a file
/// with thousands of them must not cost the square of that.
const RIVALS: usize = 32;

/// The code of a quote without white space, a line each, as surroundings are kept.
fn squeezed(quote: &str) -> String {
    let lines = Lines::of(quote);
    lines.between(0, u64::MAX).collect::<Vec<_>>().join("\n")
}

/// What pull requests remember, by what sort of defect it is.
fn by_class(known: &[Entry]) -> BTreeMap<String, Vec<usize>> {
    let mut classes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, entry) in known.iter().enumerate().filter(|(_, entry)| entry.digested) {
        classes.entry(class(&entry.finding)).or_default().push(index);
    }
    classes
}

/// How many lines next to a finding have to be the same for its place to be the same.
const NEIGHBOURS: usize = 2;

/// What sort of defect a finding is: the rule that found it, else the category.
fn class(finding: &Finding) -> String {
    match &finding.rule {
        Some(rule) => format!("rule:{rule}"),
        None => format!("category:{}", finding.category),
    }
}

/// Whether `code`, the lines of a finding, are what an entry quotes.
fn is_quoted(entry: &Entry, code: &[String]) -> bool {
    let quoted = Lines::of(&entry.finding.evidence);
    let quoted: Vec<&str> = quoted.between(0, u64::MAX).collect();
    !quoted.is_empty()
        && match (quoted.as_slice(), code) {
            // A quote may begin and end within a line.
            ([quoted], [line]) => line.contains(*quoted),
            (quoted, code) => quoted.iter().eq(code.iter()),
        }
}

/// Files that have another name now, old and new.
pub(super) fn renames(scope: &Scope) -> impl Iterator<Item = (&str, &str)> {
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
