//! Who was shown what, computed from what was sent.

use std::collections::{BTreeMap, HashMap, HashSet};

use quorum_model::coverage::{Coverage, CoverageState, FileCoverage, Gap};
use quorum_model::outcome::Covered;
use quorum_model::plan::Plan;
use quorum_model::report::CutoffReason;
use quorum_model::scope::{Flag, Scope, ScopeKind};
use quorum_model::unit::Unit;

use crate::seat::Seat;
use crate::shell;

/// First and last line.
type Lines = (u64, u64);

/// Who was shown what.
#[derive(Debug)]
pub(crate) struct Covers<'a> {
    /// For each seat, the files that it answers for or was shown.
    seats: Vec<HashMap<&'a str, Part>>,
    /// For each file with lines that nobody was shown: those lines.
    unseen: BTreeMap<&'a str, Vec<Lines>>,
}

/// What all agents together were shown.
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
}

/// What an agent was shown of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    state: CoverageState,
    /// The lines that it was shown, merged; empty where it was none or all.
    lines: Vec<Lines>,
    /// The lines that it was not shown; empty where it was all.
    unseen: Vec<Lines>,
}

impl<'a> Covers<'a> {
    pub(crate) fn compute(plan: &'a Plan, seats: &[Seat<'a>]) -> Self {
        let units: Vec<_> = seats.iter().map(units_of).collect();
        let mut cut: HashMap<&str, &Vec<&Unit>> = HashMap::new();
        for (path, units) in units.iter().flatten() {
            cut.entry(path).or_insert(units);
        }
        // Whoever was shown the name of what cannot be read has seen nothing of it.
        let unreadable = plan.scope.files.iter().filter(|file| file.has(Flag::Unreadable));
        let unreadable: HashSet<&str> = unreadable.map(|file| &*file.path).collect();
        let mut anyone = Anyone::default();
        let mut parts = Vec::with_capacity(seats.len());
        for (seat, own) in seats.iter().zip(&units) {
            let mut of_seat = HashMap::new();
            let shown = shown_of(seat);
            for path in seat.planned.files.iter().map(String::as_str).chain(shown.keys().copied()) {
                let whole = own.get(path).or_else(|| cut.get(path).copied());
                let whole = whole.map_or(&[][..], Vec::as_slice);
                if unreadable.contains(path) {
                    let nothing = vec![false; whole.len()];
                    let part = Part::of(whole, &nothing, &[]);
                    of_seat.insert(path, Part { state: CoverageState::Unreadable, ..part });
                    continue;
                }
                let shown = shown.get(path).map_or(&[][..], Vec::as_slice);
                let flags = seen(whole, shown);
                anyone.add(path, whole, &flags, shown);
                of_seat.insert(path, Part::of(whole, &flags, shown));
            }
            parts.push(of_seat);
        }
        let mut unseen = BTreeMap::new();
        for file in &plan.scope.files {
            let path = &*file.path;
            let units = cut.get(path).map_or(&[][..], |units| units.as_slice());
            let lines = lines_where(units, &anyone.seen(path, units), false);
            if !lines.is_empty() {
                unseen.insert(path, lines);
            }
        }
        Self { seats: parts, unseen }
    }

    /// What the agent in `seat` was shown of `path`.
    pub(crate) fn state(&self, seat: usize, path: &str) -> CoverageState {
        self.seats[seat].get(path).map_or(CoverageState::OutOfDomain, |part| part.state)
    }

    /// Whether the agent in `seat` was shown these lines of `path`; for no lines, any of it.
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

    /// The lines of `path` that nobody was shown, where somebody was shown others.
    pub(crate) fn unseen(&self, path: &str) -> &[Lines] {
        self.unseen.get(path).map_or(&[], Vec::as_slice)
    }

    /// Whether anyone was shown any of `path`.
    pub(crate) fn covered(&self, path: &str) -> bool {
        (0..self.seats.len()).any(|seat| self.saw(seat, path, None))
    }

    /// Of the files that the agent in `seat` answers for: how many it was shown whole, and the
    /// others.
    pub(crate) fn of_seat<'b>(&self, seat: usize, planned: &'b [String]) -> (u64, Vec<&'b str>) {
        let whole = |path: &&str| self.state(seat, path) == CoverageState::Reviewed;
        let (whole, mut rest): (Vec<_>, Vec<_>) =
            planned.iter().map(String::as_str).partition(whole);
        rest.sort_unstable();
        (whole.len() as u64, rest)
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
                if state == CoverageState::Partial {
                    row.lines.insert(seat.name().to_owned(), self.seats[index][path].lines.clone());
                }
                if matches!(state, CoverageState::Partial | CoverageState::Skipped) {
                    let unseen = self.unseen_by(index, path);
                    coverage.gaps.push(gap(path, seat, &plan.scope, unseen, state));
                }
            }
            if !self.covered(path) {
                coverage.uncovered.push(path.to_owned());
            }
            coverage.files.push(row);
        }
        coverage
    }
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
    fn of(units: &[&Unit], seen: &[bool], shown: &[&Covered]) -> Self {
        let state = if units.is_empty() {
            if shown.is_empty() { CoverageState::Skipped } else { CoverageState::Reviewed }
        } else if seen.iter().all(|&seen| seen) {
            CoverageState::Reviewed
        } else if shown.is_empty() {
            CoverageState::Skipped
        } else {
            CoverageState::Partial
        };
        let (lines, unseen) = match state {
            CoverageState::Partial => (
                merge(shown.iter().map(|covered| (covered.start_line, covered.end_line))),
                lines_where(units, seen, false),
            ),
            CoverageState::Skipped => (Vec::new(), lines_where(units, seen, false)),
            _ => (Vec::new(), Vec::new()),
        };
        Self { state, lines, unseen }
    }
}

fn lines_where(units: &[&Unit], seen: &[bool], wanted: bool) -> Vec<Lines> {
    let chosen = units.iter().zip(seen).filter(|(_, seen)| **seen == wanted);
    merge(chosen.map(|(unit, _)| (unit.start_line, unit.end_line)))
}

fn lines_of(unit: &Unit) -> Lines {
    (unit.start_line, unit.end_line)
}

fn contains(merged: &[Lines], (first, last): Lines) -> bool {
    merged.iter().any(|&(start, end)| start <= first && last <= end)
}

/// The ranges sorted, with those that touch or overlap made one.
fn merge(ranges: impl Iterator<Item = Lines>) -> Vec<Lines> {
    let mut sorted: Vec<Lines> = ranges.collect();
    sorted.sort_unstable();
    let mut merged: Vec<Lines> = Vec::new();
    for (start, end) in sorted {
        match merged.last_mut() {
            Some(last) if start <= last.1.saturating_add(1) => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn gap(path: &str, seat: &Seat<'_>, scope: &Scope, unseen: &[Lines], state: CoverageState) -> Gap {
    let why = why_skipped(seat);
    let reason = match state {
        CoverageState::Partial => format!("{} not shown: {why}", describe(unseen)),
        _ => why,
    };
    Gap {
        path: path.to_owned(),
        agent: seat.name().to_owned(),
        reason: Some(reason),
        command: format!(
            "quorum review {} --agents {}{}{}",
            shell::quote_path(path),
            shell::quote(seat.short_name()),
            same_scope(scope),
            same_engine(seat)
        ),
    }
}

/// The flags that name the same change again. Where there are none for it, the file as a whole is
/// reviewed, which is more.
fn same_scope(scope: &Scope) -> String {
    let revision = |revision: &Option<String>| revision.clone().unwrap_or_default();
    match scope.kind {
        ScopeKind::Worktree => " --staged --unstaged --untracked".to_owned(),
        ScopeKind::Staged => " --staged".to_owned(),
        ScopeKind::Unstaged => " --unstaged".to_owned(),
        ScopeKind::Untracked => " --untracked".to_owned(),
        ScopeKind::Commit => format!(" --commit {}", shell::quote(&revision(&scope.head))),
        ScopeKind::Range => {
            let range = format!("{}..{}", revision(&scope.base), revision(&scope.head));
            format!(" --range {}", shell::quote(&range))
        }
        ScopeKind::Base => format!(" --base {}", shell::quote(&revision(&scope.base))),
        ScopeKind::Paths | ScopeKind::All | ScopeKind::Branch | ScopeKind::Diff | ScopeKind::Pr => {
            String::new()
        }
    }
}

/// The flags that name the same engine again; the one that needs none is the usual one.
fn same_engine(seat: &Seat<'_>) -> String {
    let planned = seat.planned;
    if planned.engine == "builtin" {
        return String::new();
    }
    let model = planned.model.as_deref();
    let model = model.map(|model| format!(" --model {}", shell::quote(model)));
    format!(" --provider {}{}", shell::quote(&planned.engine), model.unwrap_or_default())
}

/// Why an agent was not shown everything.
pub(crate) fn why_skipped(seat: &Seat<'_>) -> String {
    if let Some(why) = seat.unfinished() {
        return why;
    }
    let cutoff = seat.outcome.and_then(|outcome| outcome.cutoff_reason);
    match cutoff {
        Some(CutoffReason::Budget) => "budget limit",
        Some(CutoffReason::Ceiling) => "ceiling of the run",
        Some(CutoffReason::Timeout) => "out of time",
        Some(CutoffReason::Interrupt) => "interrupted",
        Some(CutoffReason::Error) => "the engine failed",
        Some(CutoffReason::Canary) => "it missed a planted defect",
        None => "not shown",
    }
    .to_owned()
}

/// `lines 3–9, 20` for people.
pub(crate) fn describe(lines: &[Lines]) -> String {
    let parts: Vec<String> = lines
        .iter()
        .map(
            |&(start, end)| {
                if start == end { start.to_string() } else { format!("{start}–{end}") }
            },
        )
        .collect();
    let one = lines.len() == 1 && lines[0].0 == lines[0].1;
    format!("{} {}", if one { "line" } else { "lines" }, parts.join(", "))
}
