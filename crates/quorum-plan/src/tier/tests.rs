use super::*;

fn file(path: &str, kind: FileKind, flags: &[Flag]) -> FileEntry {
    FileEntry {
        path: path.into(),
        old_path: None,
        change: Change::Modified,
        language: None,
        kind,
        tokens: 100,
        flags: flags.to_vec(),
        flag_reasons: BTreeMap::new(),
        hunks: Vec::new(),
        digest: None,
    }
}

fn facts(signals: &[(Signal, &str)]) -> FileFacts {
    let signals = signals.iter().map(|(s, label)| ((*s, (*label).to_owned()), "x".to_owned()));
    FileFacts { signals: signals.collect(), imports: Vec::new() }
}

fn assess_all(files: &[FileEntry], facts: &[FileFacts]) -> TierAssessment {
    let groups = Groups::of(files, facts);
    assess(Evidence { files, facts, groups: &groups, time_pressure: false }, None)
}

#[test]
fn one_small_file_is_simple() {
    let found = assess_all(&[file("a.rs", FileKind::Code, &[])], &[facts(&[])]);
    assert_eq!((found.name, found.base_score), (Tier::Simple, 7));
    assert!(found.multipliers.is_empty());
    assert!((found.adjusted_score - 7.0).abs() < f64::EPSILON);
}

#[test]
fn only_the_highest_multiplier_is_applied() {
    let files = [file("m/1.sql", FileKind::Data, &[Flag::Migration, Flag::SecuritySensitive])];
    let found = assess_all(&files, &[facts(&[(Signal::TechnicalDebt, "todo")])]);
    let applied: Vec<_> = found.multipliers.iter().map(|m| (m.name.as_str(), m.applied)).collect();
    assert_eq!(
        applied,
        [("data_migration", true), ("security_sensitive", false), ("technical_debt", false)]
    );
    let expected = f64::from(u32::from(found.base_score) * 13) / 10.0;
    assert!((found.adjusted_score - expected).abs() < 1e-9);
}

#[test]
fn every_boundary_of_the_table() {
    let cases = [
        (110, Tier::Simple),
        (114, Tier::Simple),
        (115, Tier::Standard),
        (164, Tier::Standard),
        (165, Tier::Complex),
        (168, Tier::Complex),
        (273, Tier::Complex),
    ];
    for (tenths, tier) in cases {
        assert_eq!(tier_of(tenths), tier, "{tenths}");
    }
}

#[test]
fn a_chosen_tier_keeps_the_scored_one_in_sight() {
    let files = [file("a.rs", FileKind::Code, &[])];
    let facts = [facts(&[])];
    let groups = Groups::of(&files, &facts);
    let evidence = Evidence { files: &files, facts: &facts, groups: &groups, time_pressure: true };
    let found = assess(evidence, Some(Tier::Complex));
    assert_eq!((found.name, found.overridden), (Tier::Complex, Some(Tier::Simple)));
    assert_eq!(found.multipliers[0].name, "time_pressure");
}

#[test]
fn scores_count_services_files_and_fields() {
    let files: Vec<_> = (0..11).map(|i| file(&format!("d{i}/a.rs"), FileKind::Code, &[])).collect();
    let mut all = vec![facts(&[]); 11];
    all[0] = facts(&[
        (Signal::ExternalService, "redis"),
        (Signal::ExternalService, "kafka"),
        (Signal::ExternalService, "http"),
        (Signal::ConcurrencyKnowledge, "mutex"),
        (Signal::EndToEndTest, "e2e"),
    ]);
    let found = assess_all(&files, &all);
    let score = |dimension| found.dimensions[&dimension].score;
    assert_eq!(score(Dimension::Scope), 3);
    assert_eq!(score(Dimension::Integration), 3);
    assert_eq!(score(Dimension::Knowledge), 2);
    assert_eq!(score(Dimension::Testing), 3);
    assert_eq!(score(Dimension::Decomposability), 1);
    assert_eq!(found.base_score, found.dimensions.values().map(|s| s.score).sum::<u8>());
}
