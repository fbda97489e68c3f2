use super::*;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quorum_model::plan::Isolation;
use quorum_model::scope::{Change, FileEntry, FileKind, Flag, ScopeKind};
use quorum_model::unit::UnitKind;

fn settings() -> Settings {
    Settings {
        tier: None,
        agents: Vec::new(),
        protocol: Protocol::Veto,
        provider: BUILTIN.to_owned(),
        model: None,
        complete: false,
        verify: false,
        time_pressure: false,
        tokenizer: "o200k".to_owned(),
        thresholds: Thresholds::default(),
        limits: config::Limits::default(),
        jobs: 2,
    }
}

fn registry() -> Registry {
    Registry::load(&config::Config::default()).expect("the embedded table parses")
}

fn roster() -> Roster {
    Roster::embedded().expect("the embedded agents parse")
}

/// Files of these tokens, each cut into units of at most `limit`.
fn input(sizes: &[(&str, u64)], limit: u64) -> Input {
    let mut files = Vec::new();
    let mut units = Vec::new();
    for (path, tokens) in sizes {
        let flags = if path.contains("auth") { vec![Flag::SecuritySensitive] } else { Vec::new() };
        files.push(FileEntry {
            path: (*path).into(),
            old_path: None,
            change: Change::Modified,
            language: path.ends_with(".go").then(|| "Go".to_owned()),
            kind: FileKind::Code,
            tokens: *tokens,
            flags,
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        });
        let mut left = *tokens;
        let mut line = 1;
        let mut pieces = Vec::new();
        while left > 0 {
            let tokens = left.min(limit);
            let path = (*path).into();
            let kind = UnitKind::Span;
            pieces.push(Unit { path, kind, start_line: line, end_line: line, bytes: None, tokens });
            left -= tokens;
            line += 1;
        }
        units.push(pieces);
    }
    let scope = Scope {
        kind: ScopeKind::Range,
        label: "test".to_owned(),
        base: None,
        head: None,
        files,
        ignored: Vec::new(),
    };
    let facts = vec![FileFacts::default(); scope.files.len()];
    Input { scope, facts, units, sops: Vec::new(), warnings: Vec::new() }
}

fn plan_of(sizes: &[(&str, u64)], settings: &Settings) -> Plan {
    let (roster, registry) = (roster(), registry());
    let limit = unit_limit(&roster, &registry, settings).expect("the window is large enough");
    plan(input(sizes, limit), &roster, &registry, settings).expect("there is a plan")
}

#[test]
fn the_budget_table_comes_out_of_a_plan() {
    let tiers = [Tier::Simple, Tier::Standard, Tier::Complex];
    let table = [
        (4_096, [7_680, 10_240, 15_360]),
        (16_384, [12_288, 16_384, 24_576]),
        (49_152, [24_576, 32_768, 49_152]),
    ];
    for (total, budgets) in table {
        for (tier, budget) in tiers.into_iter().zip(budgets) {
            let agents = vec!["security".to_owned()];
            let settings = Settings { tier: Some(tier), agents, ..settings() };
            let plan = plan_of(&[("a.go", total / 4), ("b.go", total - total / 4)], &settings);
            assert_eq!(plan.total_tokens, total);
            assert_eq!(plan.agents[0].budget, budget, "{total} {tier:?}");
        }
    }
}

#[test]
fn isolation_switches_above_16384() {
    assert_eq!(plan_of(&[("a.go", 16_384)], &settings()).isolation, Isolation::Shared);
    assert_eq!(plan_of(&[("a.go", 16_385)], &settings()).isolation, Isolation::Branch);
}

#[test]
fn urgent_files_are_read_first() {
    let settings = Settings { agents: vec!["security".to_owned()], ..settings() };
    let plan = plan_of(&[("a/util.go", 10), ("b/order.go", 10), ("z/auth.go", 10)], &settings);
    assert_eq!(plan.agents[0].files, ["z/auth.go", "b/order.go", "a/util.go"]);
}

#[test]
fn a_provider_runs_in_waves_and_the_builtin_engine_does_not() {
    let provider =
        Settings { provider: "anthropic".to_owned(), agents: vec!["go".to_owned()], ..settings() };
    let plan = plan_of(&[("a.go", 100_000)], &provider);
    let waves: BTreeSet<u32> = plan.agents[0].shards.iter().map(|shard| shard.wave).collect();
    assert!(waves.len() > 1);
    let first = plan.ceilings.first_wave.expect("later waves need --complete");
    assert!(first.tokens < plan.ceilings.tokens);
    assert!(plan.warnings.iter().any(|warning| warning.contains("--complete")));
    assert!(plan.ceilings.usd.is_some_and(|usd| usd > 0.0));

    let builtin = Settings { provider: BUILTIN.to_owned(), ..provider };
    let plan = plan_of(&[("a.go", 100_000)], &builtin);
    assert!(plan.agents[0].shards.iter().all(|shard| shard.wave == 1));
    assert_eq!(plan.ceilings.usd, Some(0.0));
}

#[test]
fn limits_cap_the_ceilings_and_are_explained() {
    let limits = config::Limits {
        max_tokens: Some(1_000),
        max_usd: Some(0.01),
        max_seconds: Some(5),
        ..config::Limits::default()
    };
    let settings = Settings { provider: "openai".to_owned(), limits, ..settings() };
    let plan = plan_of(&[("a.go", 2_000)], &settings);
    assert_eq!((plan.ceilings.tokens, plan.ceilings.seconds), (1_000, 5));
    assert_eq!(plan.ceilings.usd, Some(0.01));
    assert_eq!(plan.warnings.len(), 3, "{:?}", plan.warnings);
}

#[test]
fn an_unknown_model_has_no_price_and_says_so() {
    let settings =
        Settings { provider: "openai".to_owned(), model: Some("mystery".to_owned()), ..settings() };
    let plan = plan_of(&[("a.go", 100)], &settings);
    assert_eq!(plan.ceilings.usd, None);
    assert!(plan.warnings[0].contains("`mystery`"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_unit_is_assigned_once_and_the_ceilings_hold(
        sizes in proptest::collection::vec(0u64..30_000, 1..40),
        tier in 0usize..3,
        provider in 0usize..2,
        protocol in 0usize..4,
    ) {
        let paths: Vec<String> = (0..sizes.len())
            .map(|i| format!("d{}/{}{i}.go", i % 3, if i % 4 == 0 { "auth" } else { "x" }))
            .collect();
        let files: Vec<(&str, u64)> =
            paths.iter().map(String::as_str).zip(sizes.iter().copied()).collect();
        let settings = Settings {
            tier: Some([Tier::Simple, Tier::Standard, Tier::Complex][tier]),
            provider: [BUILTIN, "anthropic"][provider].to_owned(),
            protocol: [Protocol::Veto, Protocol::Aad, Protocol::Ci, Protocol::Vote][protocol],
            ..settings()
        };
        let plan = plan_of(&files, &settings);
        let mut tokens = 0;
        let mut shards = 0;
        for agent in &plan.agents {
            let mut seen = BTreeSet::new();
            for shard in &agent.shards {
                prop_assert!(shard.tokens <= agent.shard_limit);
                prop_assert!(shard.tokens <= agent.budget);
                tokens += shard.tokens;
                shards += 1;
                for unit in &shard.units {
                    prop_assert!(seen.insert((unit.path.clone(), unit.start_line)));
                }
            }
            let expected: u64 = files
                .iter()
                .filter(|(path, _)| agent.files.iter().any(|file| file == path))
                .map(|(_, tokens)| *tokens)
                .sum();
            prop_assert_eq!(agent.shards.iter().map(|s| s.tokens).sum::<u64>(), expected);
        }
        prop_assert!(plan.unassigned.is_empty());
        prop_assert!(plan.ceilings.tokens >= tokens);
        prop_assert!(plan.ceilings.calls >= shards);
        prop_assert!(shards == 0 || plan.ceilings.seconds > 0);
    }
}
