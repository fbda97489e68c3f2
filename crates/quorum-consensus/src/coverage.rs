//! Who was shown what, computed from what was sent.

use std::collections::{BTreeMap, HashMap, HashSet};

use quorum_model::coverage::{Coverage, CoverageEngine, CoverageState, FileCoverage};
use quorum_model::outcome::{Bounded, Covered, Depth};
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::scope::Flag;
use quorum_model::unit::Unit;

use crate::gap::gap;
use crate::lines::{Lines, contains, describe, merge, without};
use crate::seat::Seat;

/// Who was shown what.
#[derive(Debug)]
pub(crate) struct Covers<'a> {
    /// For each seat, the files that it answers for or was shown.
    seats: Vec<HashMap<&'a str, Part>>,
    /// For each seat, whether it answers for a file and not just searches it.
    answers: Vec<HashSet<&'a str>>,
    /// For each file with lines that nobody was shown: those lines.
    unseen: BTreeMap<&'a str, Vec<Lines>>,
    /// For each file with lines that nobody reviewed, though they were shown: those lines.
    unreviewed: BTreeMap<&'a str, Vec<Lines>>,
    /// For each file with lines that met a bound and that no model was shown: those lines.
    bounded: BTreeMap<&'a str, Vec<(Vec<Lines>, String)>>,
    /// Images, fonts and media, which nobody needs to look at.
    media: HashSet<&'a str>,
}

/// What agents together were shown.
#[derive(Default)]
struct Anyone<'a> {
    units: HashSet<(&'a str, Lines, Option<u64>)>,
    lines: HashMap<&'a str, Vec<Lines>>,
}

impl<'a> Anyone<'a> {
    fn add(&mut self, path: &'a str, units: &[&Unit], seen: &[bool], shown: &[&Covered]) {
        let seen = units.iter().zip(seen).filter(|(_, seen)| **seen);
        self.units
            .extend(seen.map(|(unit, _)| (path, lines_of(unit), unit.bytes.map(|b| b.start))));
        let lines = shown.iter().map(|covered| (covered.start_line, covered.end_line));
        self.lines.entry(path).or_default().extend(lines);
    }

    fn seen(&self, path: &str, units: &[&Unit]) -> Vec<bool> {
        let lines = merge(self.lines.get(path).into_iter().flatten().copied());
        let seen = units.iter().map(|unit| {
            self.units.contains(&(path, lines_of(unit), unit.bytes.map(|bytes| bytes.start)))
                || (unit.bytes.is_none() && contains(&lines, lines_of(unit)))
        });
        seen.collect()
    }

    /// Which of `wanted` were shown to nobody.
    fn missing(&self, path: &str, wanted: &[Lines]) -> Vec<Lines> {
        let lines = merge(self.lines.get(path).into_iter().flatten().copied());
        wanted.iter().flat_map(|range| without(*range, &lines)).collect()
    }
}

/// What an agent was shown of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) state: CoverageState,
    engine: Option<CoverageEngine>,
    /// The lines that it reviewed, merged; empty where it was none or all.
    lines: Vec<Lines>,
    /// The same, also where it was all.
    reviewed_lines: Vec<Lines>,
    /// The lines that it was not shown; empty where it was all.
    pub(crate) unseen: Vec<Lines>,
    /// The lines that it could only read, where it reviewed others.
    pub(crate) read: Vec<Lines>,
    /// The lines that it was shown and that met a bound.
    bounded: Vec<Lines>,
    /// Why it could see nothing of the file, or not all of it, where that is known of this file.
    pub(crate) reason: Option<String>,
}

/// How many of its files an agent looked at, and how.
#[derive(Debug, Default)]
pub(crate) struct Shares<'b> {
    /// Reviewed whole.
    pub(crate) reviewed: u64,
    /// Only read.
    pub(crate) read: u64,
    /// Everything else.
    pub(crate) rest: Vec<&'b str>,
    /// Those of which it was shown every line, though it could not look at all of them closely.
    pub(crate) shown: u64,
}

impl<'a> Covers<'a> {
    pub(crate) fn compute(plan: &'a Plan, seats: &[Seat<'a>]) -> Self {
        let media = plan.scope.files.iter().filter(|file| file.has(Flag::Media));
        let media: HashSet<&str> = media.map(|file| &*file.path).collect();
        // Whoever was shown the name of what cannot be read has seen nothing of it.
        let unreadable = plan.scope.files.iter().filter(|file| file.has(Flag::Unreadable));
        let unreadable: HashMap<&str, Option<&str>> = unreadable
            .map(|file| (&*file.path, file.flag_reasons.get(&Flag::Unreadable).map(String::as_str)))
            .collect();
        let units: Vec<_> = seats.iter().map(units_of).collect();
        let mut cut: HashMap<&str, &Vec<&Unit>> = HashMap::new();
        for (path, units) in units.iter().flatten() {
            cut.entry(path).or_insert(units);
        }
        let (mut anyone, mut reviewers, mut models) =
            (Anyone::default(), Anyone::default(), Anyone::default());
        let (mut parts, mut answers) = (Vec::with_capacity(seats.len()), Vec::new());
        for (seat, own) in seats.iter().zip(&units) {
            let mut of_seat = HashMap::new();
            let mine: HashSet<&str> = match seat.planned.depth {
                Depth::Reviewed => seat.planned.files.iter().map(String::as_str).collect(),
                Depth::Read => HashSet::new(),
            };
            let shown = shown_of(seat);
            let limits = Limits::of(seat);
            for path in mine.iter().copied().chain(shown.keys().copied()).chain(limits.paths()) {
                // Nobody needs to look at media, so nobody has left them out either.
                if of_seat.contains_key(path) || media.contains(path) {
                    continue;
                }
                let whole = own.get(path).or_else(|| cut.get(path).copied());
                let whole = whole.map_or(&[][..], Vec::as_slice);
                if let Some(why) = unreadable.get(path) {
                    let nothing = vec![false; whole.len()];
                    let part = Part::of(whole, &nothing, &nothing, &[]);
                    let (state, reason) = (CoverageState::Unreadable, why.map(str::to_owned));
                    of_seat.insert(path, Part { state, reason, ..part });
                    continue;
                }
                let shown = shown.get(path).map_or(&[][..], Vec::as_slice);
                let (close, _): (Vec<&Covered>, Vec<&Covered>) =
                    shown.iter().partition(|covered| covered.depth == Depth::Reviewed);
                let (flags, reviewed) = (seen(whole, shown), seen(whole, &close));
                if mine.contains(path) {
                    anyone.add(path, whole, &flags, shown);
                    reviewers.add(path, whole, &reviewed, &close);
                    if seat.engine_of(shown) == Some(CoverageEngine::Model) {
                        models.add(path, whole, &reviewed, &close);
                    }
                }
                let mut part = Part::of(whole, &flags, &reviewed, shown);
                part.engine = seat.engine_of(shown);
                limits.apply(path, &mut part);
                of_seat.insert(path, part);
            }
            parts.push(of_seat);
            answers.push(mine);
        }
        let (mut unseen, mut unreviewed) = (BTreeMap::new(), BTreeMap::new());
        for file in &plan.scope.files {
            let path = &*file.path;
            let units = cut.get(path).map_or(&[][..], |units| units.as_slice());
            let seen = anyone.seen(path, units);
            let lines = lines_where(units, &seen, false);
            if !lines.is_empty() {
                unseen.insert(path, lines);
            }
            let reviewed = reviewers.seen(path, units);
            let read = seen.iter().zip(reviewed).map(|(seen, close)| *seen && !close);
            let lines = lines_where(units, &read.collect::<Vec<_>>(), true);
            if !lines.is_empty() {
                unreviewed.insert(path, reviewers.missing(path, &lines));
            }
        }
        let bounded = bounds(seats, &models);
        Self { seats: parts, answers, unseen, unreviewed, bounded, media }
    }

    /// What the agent in `seat` was shown of `path`.
    pub(crate) fn state(&self, seat: usize, path: &str) -> CoverageState {
        self.seats[seat].get(path).map_or(CoverageState::OutOfDomain, |part| part.state)
    }

    /// What looked at `path` for the agent in `seat`.
    pub(crate) fn engine(&self, seat: usize, path: &str) -> Option<CoverageEngine> {
        self.seats[seat].get(path).and_then(|part| part.engine)
    }

    /// Whether the agent in `seat` reviewed these lines of `path`; for no lines, any of it.
    pub(crate) fn saw(&self, seat: usize, path: &str, lines: Option<Lines>) -> bool {
        let Some(part) = self.seats[seat].get(path) else { return false };
        match (part.state, lines) {
            (CoverageState::Reviewed, _) | (CoverageState::Partial, None) => true,
            (CoverageState::Partial, Some((first, last))) => {
                part.lines.iter().any(|&(start, end)| start <= last && first <= end)
            }
            (
                CoverageState::Read
                | CoverageState::Skipped
                | CoverageState::Unreadable
                | CoverageState::OutOfDomain,
                _,
            ) => false,
        }
    }

    /// The lines of `path` that the agent in `seat` was not shown.
    pub(crate) fn unseen_by(&self, seat: usize, path: &str) -> &[Lines] {
        self.seats[seat].get(path).map_or(&[], |part| &part.unseen)
    }

    /// The lines of `path` that met a bound of the agent in `seat`.
    pub(crate) fn bounded_for(&self, seat: usize, path: &str) -> &[Lines] {
        self.seats[seat].get(path).map_or(&[], |part| &part.bounded)
    }

    /// The lines of `path` that nobody was shown, where somebody was shown others.
    pub(crate) fn unseen(&self, path: &str) -> &[Lines] {
        self.unseen.get(path).map_or(&[], Vec::as_slice)
    }

    /// The lines of `path` that were read and that nobody reviewed.
    pub(crate) fn unreviewed(&self, path: &str) -> &[Lines] {
        self.unreviewed.get(path).map_or(&[], Vec::as_slice)
    }

    /// The lines of `path` that met a bound, each with the bound.
    pub(crate) fn bounded(&self, path: &str) -> &[(Vec<Lines>, String)] {
        self.bounded.get(path).map_or(&[], Vec::as_slice)
    }

    /// Whether it is an image, a font or media.
    pub(crate) fn is_media(&self, path: &str) -> bool {
        self.media.contains(path)
    }

    /// Whether anyone who answers for `path` looked at any of it.
    pub(crate) fn covered(&self, path: &str) -> bool {
        self.answering(path).any(|state| {
            matches!(state, CoverageState::Reviewed | CoverageState::Partial | CoverageState::Read)
        })
    }

    /// Whether those who answer for `path` could only read it.
    pub(crate) fn only_read(&self, path: &str) -> bool {
        self.covered(path)
            && !self
                .answering(path)
                .any(|state| matches!(state, CoverageState::Reviewed | CoverageState::Partial))
    }

    /// Why nobody can read `path`, where that is so.
    pub(crate) fn unreadable(&self, path: &str) -> Option<&str> {
        if self.covered(path) {
            return None;
        }
        let mut parts = self.seats.iter().filter_map(|seat| seat.get(path));
        let part = parts.find(|part| part.state == CoverageState::Unreadable)?;
        Some(part.reason.as_deref().unwrap_or("it could not be read"))
    }

    fn answering(&self, path: &str) -> impl Iterator<Item = CoverageState> {
        let seats = self.answers.iter().enumerate();
        seats
            .filter(move |(_, files)| files.contains(path))
            .map(move |(seat, _)| self.state(seat, path))
    }

    /// How the agent in `seat` looked at the files that it answers for. Media are nobody's.
    pub(crate) fn of_seat<'b>(&self, seat: usize, planned: &'b PlannedAgent) -> Shares<'b> {
        let mut shares = Shares::default();
        if planned.depth == Depth::Read {
            let read = self.seats[seat].values().filter(|part| part.state == CoverageState::Read);
            shares.read = read.count() as u64;
            return shares;
        }
        for path in planned.files.iter().map(String::as_str).filter(|path| !self.is_media(path)) {
            match self.state(seat, path) {
                CoverageState::Reviewed => shares.reviewed += 1,
                CoverageState::Read => shares.read += 1,
                CoverageState::Partial if self.unseen_by(seat, path).is_empty() => {
                    shares.shown += 1;
                    shares.rest.push(path);
                }
                _ => shares.rest.push(path),
            }
        }
        shares.rest.sort_unstable();
        shares
    }

    /// The matrix with its gaps.
    pub(crate) fn matrix(&self, plan: &Plan, seats: &[Seat<'_>]) -> Coverage {
        let mut coverage = Coverage::default();
        for file in &plan.scope.files {
            let path = &*file.path;
            let mut row = FileCoverage {
                path: path.to_owned(),
                agents: BTreeMap::new(),
                engines: BTreeMap::new(),
                lines: BTreeMap::new(),
            };
            for (index, seat) in seats.iter().enumerate() {
                let state = self.state(index, path);
                row.agents.insert(seat.name().to_owned(), state);
                if let Some(engine) = self.engine(index, path) {
                    row.engines.insert(seat.name().to_owned(), engine);
                }
                if state == CoverageState::Partial {
                    row.lines.insert(seat.name().to_owned(), self.seats[index][path].lines.clone());
                }
                let is_gap = match state {
                    CoverageState::Partial | CoverageState::Skipped | CoverageState::Unreadable => {
                        self.answers[index].contains(path)
                    }
                    _ => false,
                };
                if is_gap {
                    let part = &self.seats[index][path];
                    coverage.gaps.push(gap(path, seat, &plan.scope, part));
                }
            }
            if !self.covered(path) && !self.is_media(path) {
                coverage.uncovered.push(path.to_owned());
            }
            coverage.files.push(row);
        }
        coverage
    }
}

/// What an agent's engine could not look at closely, by file.
struct Limits<'a> {
    bounded: BTreeMap<&'a str, Vec<&'a Bounded>>,
    unreadable: BTreeMap<&'a str, &'a str>,
}

impl<'a> Limits<'a> {
    fn of(seat: &Seat<'a>) -> Self {
        let mut limits = Self { bounded: BTreeMap::new(), unreadable: BTreeMap::new() };
        let Some(outcome) = seat.outcome else { return limits };
        for bounded in &outcome.bounded {
            limits.bounded.entry(&bounded.path).or_default().push(bounded);
        }
        let unreadable = outcome.unreadable.iter();
        limits.unreadable.extend(unreadable.map(|file| (file.path.as_str(), file.reason.as_str())));
        limits
    }

    fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.unreadable.keys().copied()
    }

    fn apply(&self, path: &str, part: &mut Part) {
        if let Some(reason) = self.unreadable.get(path) {
            part.state = CoverageState::Unreadable;
            part.engine = None;
            part.lines.clear();
            part.reason = Some((*reason).to_owned());
            return;
        }
        let Some(bounded) = self.bounded.get(path) else { return };
        if !matches!(part.state, CoverageState::Reviewed | CoverageState::Partial) {
            return;
        }
        let lines = merge(bounded.iter().flat_map(|bounded| &bounded.lines).copied());
        if part.state == CoverageState::Reviewed {
            part.lines = part.reviewed_lines.clone();
        }
        part.lines = part.lines.iter().flat_map(|range| without(*range, &lines)).collect();
        part.state = CoverageState::Partial;
        part.reason = Some(format!("{} met a bound: {}", describe(&lines), bounded[0].reason));
        part.bounded = lines;
    }
}

/// The lines that met a bound of rules and that no model was shown.
fn bounds<'a>(
    seats: &[Seat<'a>],
    models: &Anyone<'a>,
) -> BTreeMap<&'a str, Vec<(Vec<Lines>, String)>> {
    let mut bounds: BTreeMap<&str, Vec<(Vec<Lines>, String)>> = BTreeMap::new();
    for bounded in seats.iter().filter_map(Seat::shown).flat_map(|o| &o.bounded) {
        let left = models.missing(&bounded.path, &bounded.lines);
        let known = bounds.entry(&bounded.path).or_default();
        if left.is_empty()
            || known.iter().any(|(lines, why)| *lines == left && *why == bounded.reason)
        {
            continue;
        }
        known.push((left, bounded.reason.clone()));
    }
    bounds.retain(|_, found| !found.is_empty());
    for found in bounds.values_mut() {
        found.sort();
    }
    bounds
}

fn units_of<'a>(seat: &Seat<'a>) -> HashMap<&'a str, Vec<&'a Unit>> {
    let mut units: HashMap<&str, Vec<&Unit>> = HashMap::new();
    for unit in seat.planned.shards.iter().flat_map(|shard| &shard.units) {
        units.entry(&unit.path).or_default().push(unit);
    }
    for units in units.values_mut() {
        units.sort_by_key(|unit| (unit.start_line, unit.end_line, unit.bytes.map(|b| b.start)));
    }
    units
}

fn shown_of<'a>(seat: &Seat<'a>) -> BTreeMap<&'a str, Vec<&'a Covered>> {
    let mut shown: BTreeMap<&str, Vec<&Covered>> = BTreeMap::new();
    for covered in seat.shown().into_iter().flat_map(|outcome| &outcome.covered) {
        shown.entry(&covered.path).or_default().push(covered);
    }
    shown
}

/// Which of a file's units were shown.
///
/// Several parts of one long line have the same lines: there, as many count as shown as there are
/// entries for that line.
fn seen(units: &[&Unit], shown: &[&Covered]) -> Vec<bool> {
    let merged = merge(shown.iter().map(|covered| (covered.start_line, covered.end_line)));
    let mut entries: HashMap<Lines, usize> = HashMap::new();
    for covered in shown {
        *entries.entry((covered.start_line, covered.end_line)).or_default() += 1;
    }
    let within = |unit: &Unit| contains(&merged, lines_of(unit));
    let flags = units.iter().map(|unit| {
        if unit.bytes.is_none() {
            return within(unit);
        }
        match entries.get_mut(&lines_of(unit)) {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => within(unit),
        }
    });
    flags.collect()
}

impl Part {
    fn of(units: &[&Unit], seen: &[bool], reviewed: &[bool], shown: &[&Covered]) -> Self {
        let close: Vec<Lines> = merge(
            shown
                .iter()
                .filter(|covered| covered.depth == Depth::Reviewed)
                .map(|covered| (covered.start_line, covered.end_line)),
        );
        let state = if shown.is_empty() {
            CoverageState::Skipped
        } else if units.is_empty() {
            if close.is_empty() { CoverageState::Read } else { CoverageState::Reviewed }
        } else if reviewed.iter().all(|&reviewed| reviewed) {
            CoverageState::Reviewed
        } else if close.is_empty() && seen.iter().all(|&seen| seen) {
            CoverageState::Read
        } else {
            CoverageState::Partial
        };
        let unseen = match state {
            CoverageState::Partial | CoverageState::Skipped => lines_where(units, seen, false),
            _ => Vec::new(),
        };
        let partial = state == CoverageState::Partial;
        let lines = if partial { close.clone() } else { Vec::new() };
        let read = shown.iter().filter(|covered| partial && covered.depth == Depth::Read);
        let read = read.map(|covered| (covered.start_line, covered.end_line));
        let read = merge(read.flat_map(|range| without(range, &close)));
        Self {
            state,
            engine: None,
            read,
            lines,
            reviewed_lines: close,
            unseen,
            bounded: Vec::new(),
            reason: None,
        }
    }
}

fn lines_where(units: &[&Unit], seen: &[bool], wanted: bool) -> Vec<Lines> {
    let chosen = units.iter().zip(seen).filter(|(_, seen)| **seen == wanted);
    merge(chosen.map(|(unit, _)| (unit.start_line, unit.end_line)))
}

fn lines_of(unit: &Unit) -> Lines {
    (unit.start_line, unit.end_line)
}
