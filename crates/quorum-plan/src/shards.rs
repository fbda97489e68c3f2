//! Packing units into requests that fit.

use std::collections::BTreeSet;

use quorum_model::plan::Shard;
use quorum_model::unit::Unit;

use crate::error::PlanError;
use crate::sizing::{MANY_FILES, SOPS};
use crate::sop::{self, Sop};

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
/// closed only when the next unit, or the SOPs that it brings, no longer fit. Every shard carries
/// all SOPs that apply to it, whole; a file whose SOPs alone are over their reserve is an error.
pub fn pack(
    units: impl IntoIterator<Item = Unit>,
    sops: &[Sop],
    limits: Limits,
) -> Result<Vec<Shard>, PlanError> {
    let mut shards = Vec::new();
    let mut open = Open::default();
    let mut applicable = Applicable { path: None, sops: BTreeSet::new() };
    for unit in units {
        let needed = applicable.to(&unit.path, sops, limits)?;
        let together: BTreeSet<usize> = open.sops.union(needed).copied().collect();
        let fits = open.tokens + unit.tokens <= limits.tokens
            && tokens_of(&together, sops) <= limits.sop_tokens;
        if !fits && !open.units.is_empty() {
            shards.push(std::mem::take(&mut open).close(sops));
            open.sops.clone_from(needed);
        } else {
            open.sops = together;
        }
        open.tokens += unit.tokens;
        open.units.push(unit);
    }
    if !open.units.is_empty() {
        shards.push(open.close(sops));
    }
    Ok(shards)
}

/// The places in `sops` of those that apply to the file at `path`, or an error where they do not fit
/// their reserve.
pub(crate) fn applying(
    path: &str,
    sops: &[Sop],
    limits: Limits,
) -> Result<BTreeSet<usize>, PlanError> {
    let found: BTreeSet<usize> =
        (0..sops.len()).filter(|&index| sops[index].applies(path)).collect();
    if tokens_of(&found, sops) > limits.sop_tokens {
        let all: Vec<&Sop> = found.iter().map(|&index| &sops[index]).collect();
        return Err(sop::over_reserve(path, &all, limits.sop_tokens));
    }
    Ok(found)
}

/// The SOPs of the file that is being packed; units of one file come together.
struct Applicable {
    path: Option<std::sync::Arc<str>>,
    sops: BTreeSet<usize>,
}

impl Applicable {
    fn to(
        &mut self,
        path: &std::sync::Arc<str>,
        sops: &[Sop],
        limits: Limits,
    ) -> Result<&BTreeSet<usize>, PlanError> {
        if self.path.as_ref() != Some(path) {
            self.sops = applying(path, sops, limits)?;
            self.path = Some(path.clone());
        }
        Ok(&self.sops)
    }
}

pub(crate) fn tokens_of(chosen: &BTreeSet<usize>, sops: &[Sop]) -> u64 {
    chosen.iter().map(|&index| sops[index].tokens).sum()
}

#[derive(Default)]
struct Open {
    tokens: u64,
    sops: BTreeSet<usize>,
    units: Vec<Unit>,
}

impl Open {
    fn close(self, sops: &[Sop]) -> Shard {
        let mut notes = Vec::new();
        let files: BTreeSet<&str> = self.units.iter().map(|unit| &*unit.path).collect();
        if files.len() > MANY_FILES {
            notes.push(format!("{} files are probably too many for one request", files.len()));
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
        sop_with(name, &format!("applies_to: \"{applies_to}\""), tokens)
    }

    fn sop_with(name: &str, front: &str, tokens: u64) -> Sop {
        let text = format!("---\n{front}\n---\ntext");
        sop::parse(&format!("{name}.md"), &text, |_| tokens).expect("it parses")
    }

    #[test]
    fn a_shard_is_closed_when_the_next_unit_does_not_fit() {
        let units = [unit("a", 1, 60), unit("a", 2, 40), unit("b", 1, 1)];
        let shards = pack(units, &[], Limits::of_tokens(100)).expect("no SOPs");
        assert_eq!(shards.iter().map(|shard| shard.tokens).collect::<Vec<_>>(), [100, 1]);
    }

    #[test]
    fn more_than_four_files_are_noted() {
        let units = ["a", "b", "c", "d", "e"].map(|path| unit(path, 1, 1));
        let shards = pack(units, &[], Limits::of_tokens(100)).expect("no SOPs");
        assert_eq!(shards.len(), 1);
        assert!(shards[0].notes[0].starts_with("5 files are probably too many"));
    }

    #[test]
    fn sops_that_do_not_fit_together_part_their_files() {
        let sops = [sop("go", "*.go", 3_000), sop("rs", "*.rs", 2_000), sop("all", "*", 500)];
        let units = [unit("a.go", 1, 1), unit("b.go", 1, 1), unit("c.rs", 1, 1)];
        let shards = pack(units, &sops, Limits::of_tokens(100)).expect("each file's fit");
        let seen: Vec<_> = shards.iter().map(|s| (s.units.len(), s.sops.clone())).collect();
        assert_eq!(
            seen,
            [(2, vec!["go".to_owned(), "all".to_owned()]), (1, vec!["rs".into(), "all".into()])]
        );
    }

    #[test]
    fn sops_of_one_file_over_their_reserve_are_an_error_that_names_them() {
        let sops = [sop("big", "*.go", 3_000), sop("small", "*", 1_001), sop("other", "*.rs", 9)];
        let fits = pack([unit("a.rs", 1, 1)], &sops, Limits::of_tokens(100)).expect("1,010");
        assert_eq!(fits[0].sops, ["small", "other"]);
        let error = pack([unit("a.go", 1, 1)], &sops, Limits::of_tokens(100)).expect_err("4,001");
        assert_eq!(
            error.to_string(),
            "the SOPs that apply to a.go take 4001 tokens, more than the 4000 kept for them: \
             big (3000), small (1001)"
        );
    }

    /// An SOP of any front matter: for files of one ending, of one domain, of both, or for all.
    fn any_sop() -> impl Strategy<Value = (usize, String, u64)> {
        let front = prop_oneof![
            (0usize..5).prop_map(|ending| format!("applies_to: \"*.x{ending}\"")),
            Just("applies_to: [\"auth/**\", \"*.x1\"]\nseverity: error".to_owned()),
            Just("domains: [auth]\nseverity: warning".to_owned()),
            Just("domains: [security, api]\napplies_to: \"*.x2\"".to_owned()),
            Just("severity: info".to_owned()),
        ];
        (0usize..100, front, 0u64..3_000)
    }

    proptest! {
        #[test]
        fn every_shard_carries_all_sops_that_apply_whole_or_there_is_no_plan(
            sizes in proptest::collection::vec(
                (0u64..=50, 0usize..6, prop_oneof!["", "auth/", "api/", "web/"]), 0..120),
            limit in 50u64..200,
            orders in proptest::collection::vec(any_sop(), 0..6),
        ) {
            let units: Vec<Unit> = sizes
                .iter()
                .enumerate()
                .map(|(line, (tokens, file, folder))| {
                    unit(&format!("{folder}f{file}.x{file}"), line as u64, *tokens)
                })
                .collect();
            let sops: Vec<Sop> = orders
                .iter()
                .enumerate()
                .map(|(index, (_, front, tokens))| sop_with(&format!("s{index}"), front, *tokens))
                .collect();
            let needed = |path: &str| {
                sops.iter().filter(|sop| sop.applies(path)).map(|sop| sop.tokens).sum::<u64>()
            };
            let shards = match pack(units.clone(), &sops, Limits::of_tokens(limit)) {
                Ok(shards) => shards,
                Err(PlanError::SopsOverReserve { path, sops: named, reserve }) => {
                    prop_assert!(needed(&path) > reserve);
                    prop_assert_eq!(needed(&path), named.iter().map(|(_, t)| t).sum::<u64>());
                    return Ok(());
                }
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            };
            prop_assert!(units.iter().all(|unit| needed(&unit.path) <= SOPS));
            let packed: Vec<Unit> = shards.iter().flat_map(|shard| shard.units.clone()).collect();
            prop_assert_eq!(packed, units);
            for shard in &shards {
                prop_assert!(shard.tokens <= limit);
                prop_assert_eq!(shard.tokens, shard.units.iter().map(|u| u.tokens).sum::<u64>());
                let mut carried = 0;
                for sop in &sops {
                    let applies = shard.units.iter().any(|unit| sop.applies(&unit.path));
                    prop_assert_eq!(applies, shard.sops.contains(&sop.name));
                    carried += if applies { sop.tokens } else { 0 };
                }
                prop_assert!(carried <= SOPS);
            }
        }
    }
}
