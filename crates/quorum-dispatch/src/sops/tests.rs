use super::*;
use quorum_model::outcome::Depth;
use quorum_model::plan::Shard;
use quorum_model::result::SopSeverity;
use quorum_model::scope::{Change, FileEntry, FileKind};
use quorum_model::severity::Severity;
use quorum_rules::LineSet;

fn sop(name: &str, front: &str) -> Sop {
    let text = format!("---\n{front}\n---\nText.");
    quorum_plan::sop::parse(&format!(".quorum/sops/{name}.md"), &text, |_| 1).expect("it parses")
}

fn file(path: &str, text: &str, added: Option<Vec<(u64, u64)>>) -> SourceFile {
    SourceFile {
        entry: FileEntry {
            path: path.into(),
            old_path: None,
            change: Change::Modified,
            language: None,
            kind: FileKind::Code,
            tokens: 0,
            flags: Vec::new(),
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        },
        head: Some(text.into()),
        base: None,
        added: added.map(LineSet::from_ranges),
        removed: LineSet::default(),
    }
}

fn agent(files: &[&str], sops: &[Sop]) -> PlannedAgent {
    PlannedAgent {
        name: "go-reviewer".to_owned(),
        budget: 0,
        base_budget: 0,
        veto: true,
        engine: crate::BUILTIN.to_owned(),
        model: None,
        reason: String::new(),
        files: files.iter().map(|&path| path.to_owned()).collect(),
        shard_limit: 0,
        depth: Depth::Reviewed,
        beside_models: false,
        shards: vec![Shard {
            wave: 1,
            tokens: 0,
            sops: sops.iter().map(|sop| sop.name.clone()).collect(),
            notes: Vec::new(),
            units: Vec::new(),
        }],
    }
}

fn finding(rule: &str, file: &str) -> RuleFinding {
    RuleFinding {
        rule: rule.to_owned(),
        agent: "go-reviewer",
        severity: Severity::Low,
        confidence: 0.9,
        category: "errors".to_owned(),
        cwe: None,
        file: file.to_owned(),
        line: 3,
        end_line: 3,
        evidence: "_ = f()".to_owned(),
        issue: "Dropped.".to_owned(),
        recommendation: "Keep it.".to_owned(),
        references: Vec::new(),
        effort: None,
        trace: Vec::new(),
        dependency: None,
        replacement: None,
        caused: false,
    }
}

fn one(answers: &[SopResult]) -> (SopStatus, &str) {
    assert_eq!(answers.len(), 1, "{answers:?}");
    (answers[0].status, &answers[0].evidence)
}

#[test]
fn a_forbidden_line_counts_only_where_the_change_adds_it() {
    let sops = [sop("prints", "applies_to: \"*.go\"\ncheck: fmt\\.Print\nseverity: error")];
    let checks = Checks::new(&sops, |_| false).expect("it compiles");
    checks.look(&file("a.go", "x\n  fmt.Println(1)\nfmt.Print(2)\n", Some(vec![(2, 2)])));
    checks.look(&file("b.rs", "fmt.Println(1)\n", None));
    let answers = checks.answers(&agent(&["a.go", "b.rs"], &sops), &[], &BTreeSet::new());
    assert_eq!(one(&answers), (SopStatus::Violated, "a.go:2: `fmt.Println(1)`"));
    assert_eq!(answers[0].severity, SopSeverity::Error);
    assert_eq!((answers[0].file.as_deref(), answers[0].line), (Some("a.go"), Some(2)));
    let other = checks.answers(&agent(&["b.rs"], &sops), &[], &BTreeSet::new());
    assert_eq!(one(&other).0, SopStatus::NotApplicable);
}

#[test]
fn what_is_required_must_be_in_every_file() {
    let sops = [sop("licence", "check:\n  - require: \"^// Copyright\"")];
    let checks = Checks::new(&sops, |_| false).expect("it compiles");
    checks.look(&file("a.go", "package a\n// Copyright us\n", None));
    let answers = checks.answers(&agent(&["a.go"], &sops), &[], &BTreeSet::new());
    assert_eq!(one(&answers), (SopStatus::Passed, "1 check on 1 file found nothing"));
    checks.look(&file("b.go", "package b\n", None));
    let answers = checks.answers(&agent(&["a.go", "b.go"], &sops), &[], &BTreeSet::new());
    assert_eq!(one(&answers), (SopStatus::Violated, "b.go: nothing matches `^// Copyright`"));
}

#[test]
fn a_rule_answers_by_what_it_found_in_the_files_that_the_sop_is_for() {
    let sops = [sop("errors", "applies_to: \"*.go\"\ncheck: go.dropped")];
    let checks = Checks::new(&sops, |id| id == "go.dropped").expect("it is a rule");
    checks.look(&file("a.go", "x\n", None));
    checks.look(&file("b.go", "x\n", None));
    let agent = agent(&["a.go", "b.go"], &sops);
    let elsewhere = [finding("go.dropped", "c.rs"), finding("go.other", "a.go")];
    let answers = checks.answers(&agent, &elsewhere, &BTreeSet::new());
    assert_eq!(one(&answers).0, SopStatus::Passed);
    let answers = checks.answers(&agent, &[finding("go.dropped", "b.go")], &BTreeSet::new());
    assert_eq!(one(&answers), (SopStatus::Violated, "b.go:3: `_ = f()` (go.dropped)"));
    let mut beside = finding("go.specific", "a.go");
    beside.references.push("rule:go.dropped".to_owned());
    let answers = checks.answers(&agent, &[beside], &BTreeSet::new());
    assert_eq!(one(&answers).0, SopStatus::Violated);
}

#[test]
fn what_nobody_can_check_or_read_is_said() {
    let sops = [sop("tone", "severity: warning"), sop("prints", "check: Println")];
    let checks = Checks::new(&sops, |_| false).expect("they compile");
    let unread = BTreeSet::from(["a.go".to_owned()]);
    let answers = checks.answers(&agent(&["a.go"], &sops), &[], &unread);
    let statuses: Vec<SopStatus> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [SopStatus::NotChecked, SopStatus::NotReviewed]);
}

#[test]
fn a_check_that_cannot_be_made_is_an_error_that_names_its_sop() {
    for (front, expected) in [
        ("check:\n  rule: go.nothing", "there is no such rule"),
        ("check: \"(\"", "unclosed group"),
        ("check: \"fmt.Println($X)\"", "belongs in a rule"),
        ("check: \"f($$$)\"", "belongs in a rule"),
    ] {
        let sops = [sop("bad", front)];
        let error = Checks::new(&sops, |_| false).expect_err("it cannot be made").to_string();
        assert!(error.starts_with(".quorum/sops/bad.md: check `"), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let dollar = [sop("good", "check: \"println!$\"")];
    assert!(Checks::new(&dollar, |_| false).is_ok());
}

#[test]
fn evidence_names_some_places_and_counts_the_rest() {
    let sops = [sop("todo", "check: TODO")];
    let checks = Checks::new(&sops, |_| false).expect("it compiles");
    checks.look(&file("a.go", &"TODO\n".repeat(7), None));
    let answers = checks.answers(&agent(&["a.go"], &sops), &[], &BTreeSet::new());
    assert!(one(&answers).1.ends_with("a.go:5: `TODO`; and 2 more"), "{}", one(&answers).1);
}
