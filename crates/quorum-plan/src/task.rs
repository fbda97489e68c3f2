//! Parting a task that is too large into ones that are not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quorum_model::plan::Shard;
use quorum_model::scope::{FileEntry, FileFacts};
use quorum_model::unit::Unit;

use crate::error::PlanError;
use crate::related::Groups;
use crate::shards::{self, Limits, applying, tokens_of};
use crate::sizing::MANY_FILES;
use crate::sop::Sop;

/// The files of a task, in one order.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The files.
    pub entries: &'a [FileEntry],
    /// What was learnt about each.
    pub facts: &'a [FileFacts],
    /// The units of each; none over the limit.
    pub units: &'a [Vec<Unit>],
}

/// A part of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its units, with the SOPs that apply to them.
    pub shard: Shard,
    /// What makes it one.
    pub bond: Bond,
}

/// What makes a part of a task one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bond {
    /// It is one file, or a piece of a large one.
    File,
    /// Its files import or test each other.
    Imports,
    /// Its files are in one folder, at some depth.
    Folder,
}

/// Parts a task: every unit is in one part, no part is over the limits or has more files than one
/// task should, and files stay together that import each other or, next to that, are near.
///
/// A file is parted only where it does not fit alone.
pub fn decompose(files: Files<'_>, sops: &[Sop], limits: Limits) -> Result<Vec<Part>, PlanError> {
    let groups = Groups::of(files.entries, files.facts);
    let mut parts = Vec::new();
    let mut by_group: BTreeMap<usize, Vec<Bin>> = BTreeMap::new();
    for (index, (entry, units)) in files.entries.iter().zip(files.units).enumerate() {
        let bin = Bin {
            tokens: units.iter().map(|unit| unit.tokens).sum(),
            sops: applying(&entry.path, sops, limits)?,
            paths: vec![entry.path.clone()],
            files: vec![index],
            bond: Bond::File,
        };
        if bin.tokens > limits.tokens {
            let pieces = shards::pack(units.iter().cloned(), sops, limits)?;
            parts.extend(pieces.into_iter().map(|shard| Part { shard, bond: Bond::File }));
        } else {
            by_group.entry(groups.group(index)).or_default().push(bin);
        }
    }
    let fits = |bin: &Bin| {
        bin.tokens <= limits.tokens
            && bin.files.len() <= MANY_FILES
            && tokens_of(&bin.sops, sops) <= limits.sop_tokens
    };
    let mut bins = Vec::new();
    for mut group in by_group.into_values() {
        // Those of a group that do not fit one part stay near each other within it.
        group.sort_by(|a, b| a.paths.cmp(&b.paths));
        bins.extend(filled(group, Bond::Imports, fits));
    }
    bins = by_folder(bins, fits);
    bins.sort_by(|a, b| a.paths.cmp(&b.paths));
    for bin in bins {
        let units = bin.files.iter().flat_map(|&index| files.units[index].clone()).collect();
        let names = bin.sops.iter().map(|&index| sops[index].name.clone()).collect();
        let shard = Shard { wave: 1, tokens: bin.tokens, sops: names, notes: Vec::new(), units };
        parts.push(Part { shard, bond: bin.bond });
    }
    Ok(parts)
}

/// Files that go together.
#[derive(Clone, Debug)]
struct Bin {
    tokens: u64,
    sops: BTreeSet<usize>,
    paths: Vec<Arc<str>>,
    files: Vec<usize>,
    bond: Bond,
}

impl Bin {
    fn with(&self, other: &Self, bond: Bond) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            sops: self.sops.union(&other.sops).copied().collect(),
            paths: self.paths.iter().chain(&other.paths).cloned().collect(),
            files: self.files.iter().chain(&other.files).copied().collect(),
            bond: self.bond.max(other.bond).max(bond),
        }
    }
}

/// Puts neighbours together, as long as they fit.
fn filled(bins: Vec<Bin>, bond: Bond, fits: impl Fn(&Bin) -> bool) -> Vec<Bin> {
    let mut full: Vec<Bin> = Vec::new();
    for bin in bins {
        match full.last_mut() {
            Some(last) if fits(&last.with(&bin, bond)) => *last = last.with(&bin, bond),
            _ => full.push(bin),
        }
    }
    full
}

/// Puts together what is in one folder, the deepest folders first.
fn by_folder(mut bins: Vec<Bin>, fits: impl Fn(&Bin) -> bool + Copy) -> Vec<Bin> {
    let depth = |bin: &Bin| bin.paths.iter().map(|path| path.matches('/').count()).max();
    let deepest = bins.iter().filter_map(depth).max().unwrap_or_default();
    for depth in (0..=deepest).rev() {
        let mut folders: BTreeMap<String, Vec<Bin>> = BTreeMap::new();
        for bin in bins {
            folders.entry(folder(&bin, depth)).or_default().push(bin);
        }
        bins = Vec::new();
        for mut inside in folders.into_values() {
            inside.sort_by(|a, b| a.paths.cmp(&b.paths));
            bins.extend(filled(inside, Bond::Folder, fits));
        }
    }
    bins
}

/// The folder of a bin's first file, of at most `depth` parts.
fn folder(bin: &Bin, depth: usize) -> String {
    let path = bin.paths.first().map_or("", |path| path);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts: Vec<&str> = folder.split('/').take(depth).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quorum_model::scope::{Change, FileKind};
    use quorum_model::unit::UnitKind;

    struct Task {
        entries: Vec<FileEntry>,
        facts: Vec<FileFacts>,
        units: Vec<Vec<Unit>>,
    }

    fn task(files: &[(String, u64, Vec<String>)], limit: u64) -> Task {
        let entries = files.iter().map(|(path, tokens, _)| FileEntry {
            path: path.as_str().into(),
            old_path: None,
            change: Change::Unchanged,
            language: None,
            kind: FileKind::Code,
            tokens: *tokens,
            flags: Vec::new(),
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        });
        let units = files.iter().map(|(path, tokens, _)| {
            let mut left = *tokens;
            let mut units = Vec::new();
            while left > 0 || units.is_empty() {
                let line = units.len() as u64 + 1;
                let tokens = left.min(limit);
                units.push(Unit {
                    path: path.as_str().into(),
                    kind: UnitKind::Span,
                    start_line: line,
                    end_line: line,
                    bytes: None,
                    tokens,
                });
                left -= tokens;
            }
            units
        });
        let facts = files
            .iter()
            .map(|(_, _, imports)| FileFacts { imports: imports.clone(), ..FileFacts::default() });
        Task { entries: entries.collect(), units: units.collect(), facts: facts.collect() }
    }

    fn parts(task: &Task, sops: &[Sop], limit: u64) -> Result<Vec<Part>, PlanError> {
        let files = Files { entries: &task.entries, facts: &task.facts, units: &task.units };
        decompose(files, sops, Limits::of_tokens(limit))
    }

    fn paths(part: &Part) -> Vec<&str> {
        let mut paths: Vec<&str> = part.shard.units.iter().map(|unit| &*unit.path).collect();
        paths.dedup();
        paths
    }

    #[test]
    fn files_that_import_each_other_stay_together_then_those_of_a_folder() {
        let file = |path: &str, imports: &[&str]| {
            (path.to_owned(), 40, imports.iter().map(|&name| name.to_owned()).collect())
        };
        let task = task(
            &[
                file("a/one.py", &["b.two"]),
                file("a/x.py", &[]),
                file("a/y.py", &[]),
                file("b/two.py", &[]),
                file("c/z.py", &[]),
            ],
            100,
        );
        let parts = parts(&task, &[], 100).expect("no SOPs");
        let seen: Vec<_> = parts.iter().map(|part| (paths(part), part.bond)).collect();
        assert_eq!(
            seen,
            [
                (vec!["a/one.py", "b/two.py"], Bond::Imports),
                (vec!["a/x.py", "a/y.py"], Bond::Folder),
                (vec!["c/z.py"], Bond::File),
            ]
        );
    }

    #[test]
    fn only_a_file_that_is_too_large_is_parted() {
        let task = task(&[("a.py".into(), 250, Vec::new()), ("b.py".into(), 90, Vec::new())], 100);
        let parts = parts(&task, &[], 100).expect("no SOPs");
        let tokens: Vec<u64> = parts.iter().map(|part| part.shard.tokens).collect();
        assert_eq!(tokens, [100, 100, 50, 90]);
    }

    proptest! {
        #[test]
        fn every_unit_is_in_one_part_and_no_part_is_over(
            files in proptest::collection::vec(
                ("[ab]/[cd]/[e-h]\\.(go|py)|[ab]\\.go", 0u64..300, proptest::collection::vec("[e-h]", 0..3)),
                0..40),
            limit in 50u64..200,
            orders in proptest::collection::vec(("\\*\\.go|a/\\*\\*|\\*\\*", 0u64..3_000), 0..4),
        ) {
            let mut files = files;
            files.sort();
            files.dedup_by(|a, b| a.0 == b.0);
            let task = task(&files, limit);
            let sops: Vec<Sop> = orders
                .iter()
                .enumerate()
                .map(|(index, (glob, tokens))| {
                    let text = format!("---\napplies_to: \"{glob}\"\n---\nx");
                    crate::sop::parse(&format!("s{index}.md"), &text, |_| *tokens).expect("it parses")
                })
                .collect();
            let Ok(parts) = parts(&task, &sops, limit) else {
                let over = |path: &str| {
                    sops.iter().filter(|s| s.applies(path)).map(|s| s.tokens).sum::<u64>() > 4_000
                };
                prop_assert!(files.iter().any(|(path, ..)| over(path)));
                return Ok(());
            };
            let mut all: Vec<Unit> = parts.iter().flat_map(|part| part.shard.units.clone()).collect();
            let mut expected: Vec<Unit> = task.units.iter().flatten().cloned().collect();
            let key = |unit: &Unit| (unit.path.clone(), unit.start_line);
            all.sort_by_key(key);
            expected.sort_by_key(key);
            prop_assert_eq!(all, expected);
            for part in &parts {
                prop_assert!(part.shard.tokens <= limit);
                prop_assert!(paths(part).len() <= MANY_FILES);
                let carried = sops.iter().filter(|sop| part.shard.sops.contains(&sop.name));
                prop_assert!(carried.map(|sop| sop.tokens).sum::<u64>() <= 4_000);
                for sop in &sops {
                    let applies = paths(part).iter().any(|path| sop.applies(path));
                    prop_assert_eq!(applies, part.shard.sops.contains(&sop.name));
                }
            }
        }
    }
}
