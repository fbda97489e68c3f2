//! Reviews one after the other: what is new, what is gone, what was set aside.

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const BAD: &str =
    "fn a() {}\n<<<<<<< ours\nfn b() {}\n=======\nfn c() {}\n>>>>>>> theirs\nfn d() {}\n";
const GOOD: &str = "fn a() {}\nfn b() {}\nfn d() {}\n";

fn review(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut all = vec!["review", "--format", "json"];
    all.extend(arguments);
    let output = sandbox.quorum(&all);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

/// The states of what counts, and of what does not.
fn states(result: &Value) -> (Vec<&str>, Vec<&str>) {
    let of = |list: &'static str| {
        let findings = result[list].as_array().map_or(&[][..], Vec::as_slice);
        findings.iter().filter_map(|finding| finding["state"].as_str()).collect()
    };
    (of("findings"), of("history"))
}

/// A branch that adds a defect.
fn branch() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.write("src/a.rs", BAD);
    sandbox.commit("a defect");
    sandbox
}

#[test]
fn pushes_that_keep_move_rename_fix_and_break_again() {
    let sandbox = branch();
    let on_branch = ["--base", "main"];
    assert_eq!(states(&review(&sandbox, &on_branch)), (vec!["new"], vec![]));
    assert_eq!(states(&review(&sandbox, &on_branch)), (vec!["persisting"], vec![]));
    sandbox.write("src/a.rs", format!("// moved\n\n\n{BAD}"));
    sandbox.commit("move");
    assert_eq!(states(&review(&sandbox, &on_branch)), (vec!["persisting"], vec![]));
    sandbox.write("src/a.rs", GOOD);
    sandbox.commit("fix");
    let fixed = review(&sandbox, &on_branch);
    assert_eq!(states(&fixed), (vec![], vec!["resolved"]), "{fixed:#}");
    assert_eq!(fixed["exit_code"], 0);
    assert_eq!(states(&review(&sandbox, &on_branch)), (vec![], vec![]), "it is told once");
    sandbox.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(states(&review(&sandbox, &on_branch)), (vec!["new"], vec![]));
}

#[test]
fn a_renamed_file_keeps_its_findings() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.rs", BAD);
    sandbox.commit("a defect");
    assert_eq!(states(&review(&sandbox, &["src"])), (vec!["new"], vec![]));
    sandbox.git(&["mv", "src/a.rs", "src/b.rs"]);
    sandbox.write("src/b.rs", BAD.replace("fn b() {}", "fn b() { a() }"));
    sandbox.commit("rename");
    let renamed = review(&sandbox, &["--commit", "HEAD"]);
    assert_eq!(states(&renamed), (vec!["persisting"], vec![]), "{renamed:#}");
}

#[test]
fn what_was_not_reviewed_is_not_resolved() {
    let sandbox = branch();
    sandbox.write("src/b.rs", BAD);
    sandbox.commit("another one");
    review(&sandbox, &["--base", "main"]);
    sandbox.write("src/a.rs", GOOD);
    sandbox.write("src/b.rs", GOOD);
    sandbox.commit("fix both");
    let partly = review(&sandbox, &["--base", "main", "src/b.rs"]);
    assert_eq!(states(&partly), (vec![], vec!["resolved"]));
    assert_eq!(partly["history"][0]["file"], "src/b.rs");
    let others = review(&sandbox, &["--base", "main", "--agents", "documentation"]);
    assert_eq!(states(&others), (vec![], vec!["not_reviewed"]), "{others:#}");
    assert_eq!(states(&review(&sandbox, &["--base", "main"])), (vec![], vec!["resolved"]));
}

#[test]
fn what_is_dismissed_stays_away_with_its_reason() {
    let sandbox = branch();
    let first = review(&sandbox, &["--base", "main"]);
    assert_eq!(first["verdict"], "BLOCKED");
    let id = first["findings"][0]["id"].as_str().expect("an id");
    let dismissed = sandbox.quorum(&["dismiss", id, "--reason", "a fixture", "--author", "Ann"]);
    assert!(dismissed.status.success(), "{}", text(&dismissed.stderr));
    let second = review(&sandbox, &["--base", "main"]);
    assert_eq!(states(&second), (vec![], vec!["dismissed"]));
    assert_eq!(
        (&second["verdict"], &second["rejected"]["dismissed"]),
        (&"APPROVED".into(), &1.into())
    );
    let verdicts = text(&sandbox.quorum(&["verdicts", "--count"]).stdout);
    assert!(!verdicts.contains("BLOCKED"), "{verdicts}");
    let list = text(&sandbox.quorum(&["dismiss", "--list"]).stdout);
    assert!(list.contains("Ann: a fixture"), "{list}");
    let undone = sandbox.quorum(&["dismiss", "H-001", "--undo"]);
    assert!(undone.status.success(), "{}", text(&undone.stderr));
    assert_eq!(states(&review(&sandbox, &["--base", "main"])), (vec!["persisting"], vec![]));
}

#[test]
fn what_a_ledger_of_somebody_else_sets_aside_stands_and_is_said() {
    let sandbox = branch();
    let stranger = |arguments: &[&str]| {
        let home = sandbox.root().join("../stranger");
        sandbox.quorum_with(arguments, |command| {
            command.env("HOME", home);
        })
    };
    // The folder comes with a ledger that nobody committed.
    let first = stranger(&["review", "--base", "main", "--format", "json"]);
    let first: Value = serde_json::from_slice(&first.stdout).expect("a result");
    let id = first["findings"][0]["id"].as_str().expect("an id");
    let planted = stranger(&["dismiss", id, "--reason", "looked at", "--author", "Ann"]);
    assert!(planted.status.success(), "{}", text(&planted.stderr));
    let found = review(&sandbox, &["--base", "main"]);
    assert_eq!((&found["verdict"], &found["exit_code"]), (&"BLOCKED".into(), &1.into()));
    let notes = found["notes"].to_string();
    assert!(notes.contains("lacks the mark of your key"), "{notes}");
    let list = text(&sandbox.quorum(&["dismiss", "--list"]).stdout);
    assert!(list.contains("looked at (does not count"), "{list}");
    // Who agrees says so themselves.
    let id = found["findings"][0]["id"].as_str().expect("an id");
    assert!(sandbox.quorum(&["dismiss", id, "--reason", "I agree"]).status.success());
    let second = review(&sandbox, &["--base", "main"]);
    assert_eq!(second["verdict"], "APPROVED");
    assert!(!second["notes"].to_string().contains("your key"), "{second:#}");
}

#[test]
fn a_change_cannot_bring_its_own_dismissals() {
    let sandbox = branch();
    let first = review(&sandbox, &["--base", "main"]);
    let id = first["findings"][0]["id"].as_str().expect("an id").to_owned();
    let arguments = ["dismiss", &id, "--reason", "we know", "--shared", "--expires", "30d"];
    let shared = sandbox.quorum(&arguments);
    assert!(shared.status.success(), "{}", text(&shared.stderr));
    sandbox.commit("dismiss it ourselves");
    assert!(sandbox.git(&["ls-files"]).contains(".quorum/dismissed.toml"));
    assert_eq!(review(&sandbox, &["--base", "main"])["verdict"], "BLOCKED");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["checkout", "feature", "--", ".quorum/dismissed.toml"]);
    sandbox.commit("the team agrees");
    sandbox.git(&["checkout", "--quiet", "feature"]);
    sandbox.git(&["rebase", "--quiet", "main"]);
    let agreed = review(&sandbox, &["--base", "main"]);
    assert_eq!(states(&agreed), (vec![], vec!["dismissed"]), "{agreed:#}");
}

#[test]
fn findings_stay_in_every_output_however_often_a_change_is_reviewed() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let twice =
        "package a\n\nfunc f(a, b bool) bool {\n\tif a && a {\n\t\tb = b\n\t}\n\treturn b\n}\n";
    sandbox.write("src/a.go", twice);
    sandbox.commit("odd");
    let fingerprints = |result: &Value| -> Vec<String> {
        let findings = result["findings"].as_array().expect("a list").iter();
        let of_file = findings.filter(|finding| finding["file"] == "src/a.go");
        let mut all: Vec<String> = of_file
            .map(|finding| finding["fingerprint"].as_str().expect("a text").to_owned())
            .collect();
        all.sort();
        all
    };
    let first = review(&sandbox, &["--base", "main"]);
    let found = fingerprints(&first);
    let below = |finding: &Value| finding["severity"] == "MEDIUM" || finding["severity"] == "LOW";
    let findings = first["findings"].as_array().expect("a list");
    assert!(findings.iter().any(below), "the example needs a finding below HIGH: {first:#}");
    for round in 2..=6 {
        sandbox.write("src/other.rs", format!("// round {round}\n"));
        sandbox.commit("elsewhere");
        let result = review(&sandbox, &["--base", "main"]);
        assert_eq!(fingerprints(&result), found, "round {round}: {result:#}");
        assert_eq!(result["rejected"], serde_json::json!({}), "round {round}");
        let sarif = text(&sandbox.quorum(&["report", "--format", "sarif"]).stdout);
        assert!(found.iter().all(|one| sarif.contains(one)), "round {round}");
    }
}

/// A file with a veto, and the line that would silence it.
const VETO: &str = "import subprocess\n\nfrom flask import request\n\n\ndef run():\n    \
                    subprocess.run(request.args[\"c\"], shell=True)IGNORE\n";

fn veto(ignore: &str) -> String {
    VETO.replace("IGNORE", ignore)
}

/// The rule that vetoes it.
fn vetoing_rule() -> String {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.write("src/run.py", veto(""));
    sandbox.commit("run");
    let result = review(&sandbox, &["--base", "main", "--agents", "security"]);
    assert_eq!(result["verdict"], "BLOCKED", "{result:#}");
    result["findings"][0]["rule"].as_str().expect("a rule").to_owned()
}

#[test]
fn a_change_cannot_lift_a_veto_by_a_comment_that_it_brings() {
    let rule = vetoing_rule();
    let line = format!("  # quorum:ignore[{rule}] only admins get here");
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.write("src/run.py", veto(&line));
    sandbox.commit("run");
    let on_branch = ["--base", "main", "--agents", "security"];
    let result = review(&sandbox, &on_branch);
    assert_eq!(result["verdict"], "BLOCKED", "{result:#}");
    let suppression = &result["findings"][0]["suppression"];
    assert_eq!(suppression["status"], "under_review", "{result:#}");
    assert_eq!(suppression["reason"], "only admins get here");
    assert_eq!(suppression["author"], "T");
    assert!(result["notes"].to_string().contains("after the merge"), "{result:#}");
    let sarif = text(&sandbox.quorum(&["report", "--format", "sarif"]).stdout);
    assert!(sarif.contains("inSource") && sarif.contains("underReview"), "{sarif}");
    // Policy of the change itself does not help it; policy of the base does.
    let policy = "[suppressions]\nallow_new_vetoes = true\n";
    sandbox.write("quorum.toml", policy);
    sandbox.commit("allow it ourselves");
    assert_eq!(review(&sandbox, &on_branch)["verdict"], "BLOCKED");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write("quorum.toml", policy);
    sandbox.commit("the team allows it");
    sandbox.git(&["checkout", "--quiet", "feature"]);
    sandbox.git(&["rebase", "--quiet", "main"]);
    let allowed = review(&sandbox, &on_branch);
    assert_eq!(allowed["findings"], serde_json::json!([]), "{allowed:#}");
    assert_eq!(allowed["suppressed"][0]["state"], "suppressed");
}

#[test]
fn a_suppression_of_the_base_counts_is_listed_and_is_never_called_resolved() {
    let rule = vetoing_rule();
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.write("src/run.py", veto(""));
    sandbox.commit("run");
    let on_branch = ["--base", "main", "--agents", "security"];
    assert_eq!(review(&sandbox, &on_branch)["verdict"], "BLOCKED");
    sandbox.git(&["checkout", "--quiet", "main"]);
    let line = format!("  # quorum:ignore {rule} only admins get here");
    sandbox.write("src/run.py", veto(&line));
    sandbox.commit("the team agrees");
    sandbox.git(&["checkout", "--quiet", "-B", "feature"]);
    sandbox
        .write("src/run.py", format!("{}    print(1)\n", veto(&line).replace("def run", "def go")));
    sandbox.commit("beside it");
    let result = review(&sandbox, &on_branch);
    assert!(!states(&result).1.contains(&"resolved"), "{result:#}");
    let whole = review(&sandbox, &["src", "--agents", "security"]);
    assert_eq!(whole["findings"], serde_json::json!([]), "{whole:#}");
    assert_eq!(whole["suppressed"][0]["suppression"]["status"], "accepted", "{whole:#}");
    assert!(!states(&whole).1.contains(&"resolved"), "{whole:#}");
    let sarif = text(&sandbox.quorum(&["report", "--format", "sarif"]).stdout);
    assert!(sarif.contains("only admins get here"), "{sarif}");
    let page = text(&sandbox.quorum(&["report", "--format", "markdown"]).stdout);
    assert!(page.contains("Suppressed: 1"), "{page}");
}

#[test]
fn suppressions_that_do_nothing_are_named() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let text = "a = 1  # quorum:ignore no.such-rule why\nb = 2  # quorum: ignore x y\n";
    sandbox.write("src/a.py", text);
    sandbox.commit("a");
    let notes = review(&sandbox, &["--base", "main"])["notes"].to_string();
    assert!(notes.contains("no rule `no.such-rule`"), "{notes}");
    assert!(notes.contains("line 2 has no effect"), "{notes}");
}

#[test]
fn a_shared_dismissal_is_no_work_to_review_and_can_be_undone() {
    let sandbox = Sandbox::new();
    sandbox.write("src/a.rs", BAD);
    sandbox.commit("a defect");
    let first = review(&sandbox, &["--all"]);
    assert_eq!(first["scope"], "the whole repository");
    let id = first["findings"][0]["id"].as_str().expect("an id").to_owned();
    let said = sandbox.quorum(&["dismiss", &id, "--reason", "we know", "--shared"]);
    assert!(text(&said.stdout).contains("from the base"), "{}", text(&said.stdout));
    let nothing = review(&sandbox, &[]);
    assert_eq!(nothing["verdict"], "NOTHING_TO_REVIEW", "{nothing:#}");
    let second = review(&sandbox, &["--all"]);
    assert_eq!(second["history"][0]["suppression"]["reason"], "we know", "{second:#}");
    let undone = sandbox.quorum(&["dismiss", "H-001", "--undo"]);
    assert!(text(&undone.stdout).contains("taken up again"), "{}", text(&undone.stderr));
    let file =
        std::fs::read_to_string(sandbox.root().join(".quorum/dismissed.toml")).expect("it stays");
    assert!(!file.contains("we know"), "{file}");
    assert_eq!(review(&sandbox, &["--all"])["verdict"], first["verdict"]);
    assert_eq!(sandbox.quorum(&["dismiss", &id, "--undo"]).status.code(), Some(2));
}

#[test]
fn who_only_looks_writes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    let prompts = sandbox.root().join("../prompts");
    let prompts = prompts.to_str().expect("UTF-8");
    let commands = [
        "plan",
        "plan --all --format json",
        "plan --commit HEAD",
        "size src/lib.rs",
        "agents --explain src/lib.rs",
        "sops list",
        "sops explain src/lib.rs",
        "config show --origin",
        "config validate",
        "context src --agent security",
        "conventions list",
        "doctor",
        "dismiss --list",
        "memory list",
        "memory search two",
        "rules list",
        "runs list",
        "verdicts",
        "report",
        "gates --list",
    ];
    for command in commands {
        sandbox.quorum(&command.split(' ').collect::<Vec<_>>());
        assert!(!sandbox.root().join(".quorum").exists(), "{command}");
    }
    let told = sandbox.quorum(&["plan", "--provider", "anthropic", "--prompts", prompts]);
    assert!(told.status.success(), "{}", text(&told.stderr));
    assert!(!sandbox.root().join(".quorum").exists(), "plan --prompts");
}

#[test]
fn looking_again_at_the_same_head_is_no_new_round() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    sandbox.write("src/a.go", "package a\n\nfunc f(a bool) bool {\n\treturn a && a\n}\n");
    sandbox.commit("odd");
    let first = review(&sandbox, &["--base", "main"]);
    let count = first["findings"].as_array().expect("a list").len();
    assert!(count > 0, "{first:#}");
    for _ in 0..5 {
        let again = review(&sandbox, &["--base", "main"]);
        assert_eq!(again["findings"].as_array().expect("a list").len(), count, "{again:#}");
    }
}
