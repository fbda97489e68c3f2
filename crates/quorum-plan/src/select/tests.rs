use super::*;
use std::collections::BTreeMap;

use quorum_model::scope::{Change, FileKind};
use quorum_model::tier::Score;

fn file(path: &str, language: Option<&str>, kind: FileKind, flags: &[Flag]) -> FileEntry {
    FileEntry {
        path: path.into(),
        old_path: None,
        change: Change::Modified,
        language: language.map(str::to_owned),
        kind,
        tokens: 100,
        flags: flags.to_vec(),
        flag_reasons: BTreeMap::new(),
        hunks: Vec::new(),
        digest: None,
    }
}

fn c_file(path: &str) -> FileEntry {
    file(path, Some("C"), FileKind::Code, &[])
}

fn tier(name: Tier, scores: &[(Dimension, u8)]) -> TierAssessment {
    let mut dimensions: BTreeMap<Dimension, Score> =
        Dimension::ALL.map(|d| (d, Score { score: 1, reason: String::new() })).into();
    for (dimension, score) in scores {
        dimensions.insert(*dimension, Score { score: *score, reason: String::new() });
    }
    TierAssessment {
        name,
        base_score: 7,
        adjusted_score: 7.0,
        overridden: None,
        dimensions,
        multipliers: Vec::new(),
    }
}

fn names(files: &[FileEntry], tier: &TierAssessment, wanted: &[&str]) -> Vec<String> {
    let roster = Roster::embedded().expect("the embedded agents parse");
    let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
    let found = select(&roster, files, tier, Protocol::Veto, &wanted).expect("they are known");
    let called = found.agents.iter().filter(|agent| agent.role == Role::Called);
    called.map(|agent| agent.member.agent.short_name().to_owned()).collect()
}

/// Every reviewer with a file in its domain has its rules run, whatever the tier.
#[test]
fn rules_run_for_every_reviewer_with_a_file() {
    let roster = Roster::embedded().expect("the embedded agents parse");
    let simple = tier(Tier::Simple, &[]);
    let files = [file("a.go", Some("Go"), FileKind::Code, &[Flag::PublicApi])];
    let found = select(&roster, &files, &simple, Protocol::Veto, &[]).expect("nothing asked");
    let roles: Vec<(&str, Role)> =
        found.agents.iter().map(|agent| (agent.member.agent.short_name(), agent.role)).collect();
    assert_eq!(
        roles,
        [
            ("security", Role::Rules),
            ("vulnerability", Role::Rules),
            ("go", Role::Called),
            ("code-quality", Role::Called),
            ("documentation", Role::Rules),
            ("user-persona", Role::Called),
        ]
    );
}

/// Whoever is chosen, and whatever the change: somebody searches for secrets.
#[test]
fn secrets_are_always_searched_for() {
    let roster = Roster::embedded().expect("the embedded agents parse");
    let simple = tier(Tier::Simple, &[]);
    let prose = [file("README.md", Some("Markdown"), FileKind::Prose, &[Flag::Docs])];
    let code = [c_file("a.c")];
    let go = ["go".to_owned()];
    for (files, wanted) in [(&prose, &[][..]), (&code, &go[..])] {
        let found = select(&roster, files, &simple, Protocol::Veto, wanted).expect("known");
        let security = found.agents.iter().find(|agent| agent.member.agent.name == SECRETS);
        let security = security.expect("it is there");
        assert_eq!((security.role, security.files.len()), (Role::Secrets, 0));
    }
    let nothing = select(&roster, &[], &simple, Protocol::Veto, &[]).expect("nothing asked");
    assert!(nothing.agents.is_empty());
}

#[test]
fn tiers_choose_their_reviewers() {
    let files = [c_file("a.c")];
    assert_eq!(names(&files, &tier(Tier::Simple, &[]), &[]), ["code-quality"]);
    assert_eq!(names(&files, &tier(Tier::Standard, &[]), &[]), ["security", "code-quality"]);
    let complex = names(&files, &tier(Tier::Complex, &[]), &[]);
    assert_eq!(complex, ["security", "vulnerability", "code-quality"]);
}

#[test]
fn changes_force_their_reviewers_at_any_tier() {
    let simple = tier(Tier::Simple, &[]);
    let cases: [(FileEntry, &[&str]); 6] = [
        (file("a.go", Some("Go"), FileKind::Code, &[]), &["go", "code-quality"]),
        (file("a.rs", Some("Rust"), FileKind::Code, &[]), &["rust", "code-quality"]),
        (
            file("auth.c", Some("C"), FileKind::Code, &[Flag::SecuritySensitive]),
            &["security", "code-quality"],
        ),
        (
            file("api.c", Some("C"), FileKind::Code, &[Flag::PublicApi]),
            &["code-quality", "user-persona"],
        ),
        (file("README.md", Some("Markdown"), FileKind::Prose, &[Flag::Docs]), &["documentation"]),
        (
            file("go.sum", Some("Go Checksums"), FileKind::Config, &[Flag::LockFile]),
            &["vulnerability"],
        ),
    ];
    for (file, expected) in cases {
        let path = file.path.clone();
        assert_eq!(names(&[file], &simple, &[]), expected, "{path}");
    }
}

#[test]
fn scores_force_their_reviewers() {
    let files = [c_file("a.c"), file("README.md", None, FileKind::Prose, &[])];
    let risky = tier(Tier::Simple, &[(Dimension::Risk, 2)]);
    assert_eq!(names(&files, &risky, &[]), ["security", "vulnerability", "code-quality"]);
    let integrated = tier(Tier::Simple, &[(Dimension::Integration, 2)]);
    assert_eq!(names(&files, &integrated, &[]), ["code-quality", "documentation"]);
    let large = tier(Tier::Simple, &[(Dimension::Scope, 3)]);
    let all = ["security", "vulnerability", "code-quality", "documentation"];
    assert_eq!(names(&files, &large, &[]), all);
}

#[test]
fn asked_for_agents_replace_the_choice() {
    let files = [c_file("a.c"), file("README.md", None, FileKind::Prose, &[])];
    let roster = Roster::embedded().expect("the embedded agents parse");
    let wanted = ["security".to_owned(), "security-reviewer".to_owned()];
    let tier = tier(Tier::Complex, &[]);
    let found = select(&roster, &files, &tier, Protocol::Veto, &wanted).expect("it is known");
    assert_eq!(found.agents.len(), 1);
    assert_eq!(found.agents[0].files, [0]);
    assert_eq!(found.unassigned, [1]);
    let wanted = ["sekurity".to_owned()];
    let error = select(&roster, &files, &tier, Protocol::Veto, &wanted).expect_err("a typo");
    assert!(error.hint().is_some_and(|hint| hint.starts_with("did you mean `security`?")));
}

#[test]
fn nothing_is_left_without_a_reviewer() {
    let files = [file("data.csv", Some("CSV"), FileKind::Data, &[])];
    assert_eq!(names(&files, &tier(Tier::Simple, &[]), &[]), ["code-quality"]);
    let files = [file("x.png", None, FileKind::Binary, &[Flag::Binary]), c_file("a.c")];
    let roster = Roster::embedded().expect("the embedded agents parse");
    let tier = tier(Tier::Standard, &[]);
    let found = select(&roster, &files, &tier, Protocol::Veto, &[]).expect("nothing asked");
    assert!(found.unassigned.is_empty());
}

#[test]
fn all_agents_drafting_gives_everything_to_everybody() {
    let files = [c_file("a.c"), file("README.md", None, FileKind::Prose, &[Flag::Docs])];
    let roster = Roster::embedded().expect("the embedded agents parse");
    let tier = tier(Tier::Standard, &[]);
    let found = select(&roster, &files, &tier, Protocol::Aad, &[]).expect("nothing asked");
    assert!(found.agents.iter().all(|agent| agent.files.len() == 2));
}
