//! Packing units into requests that fit.

use std::collections::BTreeSet;

use quorum_model::plan::Shard;
use quorum_model::unit::Unit;

use crate::sizing::{MANY_FILES, SOPS};
use crate::sop::Sop;

/// What a packing must keep to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most tokens of one shard's units.
    pub tokens: u64,
    /// The most tokens of one shard's SOPs.
    pub sop_tokens: u64,
}

impl Limits {
    /// `tokens` for units, and the usual reserve for SOPs.
    pub fn of_tokens(tokens: u64) -> Self {
        Self { tokens, sop_tokens: SOPS }
    }
}

/// Packs `units`, in their order, into shards.
///
/// Every unit is in exactly one shard, and no shard's units are over the limit, given that no unit
/// alone is. Neighbours stay together: what is related or urgent comes in order, and a shard is
/// closed only when the next unit, or the SOPs that it brings, no longer fit. A file whose SOPs
/// alone are over their reserve gets shards of its own that say so; SOPs are never cut.
pub fn pack(units: impl IntoIterator<Item = Unit>, sops: &[Sop], limits: Limits) -> Vec<Shard> {
    let mut shards = Vec::new();
    let mut open = Open::default();
    let mut applicable = Applicable { path: None, sops: BTreeSet::new() };
    for unit in units {
        let needed = applicable.to(&unit.path, sops);
        let together: BTreeSet<usize> = open.sops.union(needed).copied().collect();
        let fits = open.tokens + unit.tokens <= limits.tokens
            && (tokens_of(&together, sops) <= limits.sop_tokens || together == open.sops);
        if !fits && !open.units.is_empty() {
            shards.push(std::mem::take(&mut open).close(sops, limits));
            open.sops.clone_from(needed);
        } else {
            open.sops = together;
        }
        open.tokens += unit.tokens;
        open.units.push(unit);
    }
    if !open.units.is_empty() {
        shards.push(open.close(sops, limits));
    }
    shards
}

/// The SOPs of the file that is being packed; units of one file come together.
struct Applicable {
    path: Option<std::sync::Arc<str>>,
    sops: BTreeSet<usize>,
}

impl Applicable {
    fn to(&mut self, path: &std::sync::Arc<str>, sops: &[Sop]) -> &BTreeSet<usize> {
        if self.path.as_ref() != Some(path) {
            self.path = Some(path.clone());
            self.sops = (0..sops.len()).filter(|&index| sops[index].applies(path)).collect();
        }
        &self.sops
    }
}

fn tokens_of(chosen: &BTreeSet<usize>, sops: &[Sop]) -> u64 {
    chosen.iter().map(|&index| sops[index].tokens).sum()
}

#[derive(Default)]
struct Open {
    tokens: u64,
    sops: BTreeSet<usize>,
    units: Vec<Unit>,
}

impl Open {
    fn close(self, sops: &[Sop], limits: Limits) -> Shard {
        let mut notes = Vec::new();
        let files: BTreeSet<&str> = self.units.iter().map(|unit| &*unit.path).collect();
        if files.len() > MANY_FILES {
            notes.push(format!("{} files are probably too many for one request", files.len()));
        }
        let sop_tokens = tokens_of(&self.sops, sops);
        if sop_tokens > limits.sop_tokens {
            notes.push(format!(
                "its SOPs take {sop_tokens} tokens, more than the {} kept for them",
                limits.sop_tokens
            ));
        }
        Shard {
            wave: 1,
            tokens: self.tokens,
            sops: self.sops.iter().map(|&index| sops[index].name.clone()).collect(),
            notes,
            units: self.units,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sop;
    use proptest::prelude::*;
    use quorum_model::unit::UnitKind;

    fn unit(path: &str, line: u64, tokens: u64) -> Unit {
        Unit {
            path: path.into(),
            kind: UnitKind::Span,
            start_line: line,
            end_line: line,
            bytes: None,
            tokens,
        }
    }

    fn sop(name: &str, applies_to: &str, tokens: u64) -> Sop {
        let text = format!("---\napplies_to: \"{applies_to}\"\n---\ntext");
        sop::parse(&format!("{name}.md"), &text, |_| tokens).expect("it parses")
    }

    #[test]
    fn a_shard_is_closed_when_the_next_unit_does_not_fit() {
        let units = [unit("a", 1, 60), unit("a", 2, 40), unit("b", 1, 1)];
        let shards = pack(units, &[], Limits::of_tokens(100));
        assert_eq!(shards.iter().map(|shard| shard.tokens).collect::<Vec<_>>(), [100, 1]);
    }

    #[test]
    fn more_than_four_files_are_noted() {
        let units = ["a", "b", "c", "d", "e"].map(|path| unit(path, 1, 1));
        let shards = pack(units, &[], Limits::of_tokens(100));
        assert_eq!(shards.len(), 1);
        assert!(shards[0].notes[0].starts_with("5 files are probably too many"));
    }

    #[test]
    fn sops_that_do_not_fit_together_part_their_files() {
        let sops = [sop("go", "*.go", 3_000), sop("rs", "*.rs", 2_000), sop("all", "*", 500)];
        let units = [unit("a.go", 1, 1), unit("b.go", 1, 1), unit("c.rs", 1, 1)];
        let shards = pack(units, &sops, Limits::of_tokens(100));
        let seen: Vec<_> = shards.iter().map(|s| (s.units.len(), s.sops.clone())).collect();
        assert_eq!(
            seen,
            [(2, vec!["go".to_owned(), "all".to_owned()]), (1, vec!["rs".into(), "all".into()])]
        );
    }

    #[test]
    fn sops_over_their_reserve_are_whole_and_noted() {
        let sops = [sop("big", "*.go", 9_000)];
        let units = [unit("a.go", 1, 1), unit("a.go", 2, 1), unit("b.rs", 1, 1)];
        let shards = pack(units, &sops, Limits::of_tokens(100));
        assert!(shards[0].notes[0].contains("9000 tokens"));
        assert_eq!(shards[0].sops, ["big"]);
    }

    proptest! {
        #[test]
        fn every_unit_is_in_one_shard_and_no_shard_is_over(
            sizes in proptest::collection::vec((0u64..=50, 0usize..6), 0..200),
            limit in 50u64..200,
            sop_tokens in proptest::collection::vec(0u64..5_000, 0..4),
        ) {
            let units: Vec<Unit> = sizes
                .iter()
                .enumerate()
                .map(|(line, (tokens, file))| unit(&format!("f{file}.x{file}"), line as u64, *tokens))
                .collect();
            let sops: Vec<Sop> = sop_tokens
                .iter()
                .enumerate()
                .map(|(index, tokens)| sop(&format!("s{index}"), &format!("*.x{index}"), *tokens))
                .collect();
            let shards = pack(units.clone(), &sops, Limits::of_tokens(limit));
            let packed: Vec<Unit> = shards.iter().flat_map(|shard| shard.units.clone()).collect();
            prop_assert_eq!(packed, units);
            for shard in &shards {
                prop_assert!(shard.tokens <= limit);
                prop_assert_eq!(shard.tokens, shard.units.iter().map(|u| u.tokens).sum::<u64>());
                for sop in &sops {
                    let applies = shard.units.iter().any(|unit| sop.applies(&unit.path));
                    prop_assert_eq!(applies, shard.sops.contains(&sop.name));
                }
            }
        }
    }
}
