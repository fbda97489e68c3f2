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
fn after_the_third_round_untouched_code_is_left_in_peace() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let twice =
        "package a\n\nfunc f(a, b bool) bool {\n\tif a && a {\n\t\tb = b\n\t}\n\treturn b\n}\n";
    sandbox.write("src/a.go", twice);
    sandbox.commit("odd");
    let first = review(&sandbox, &["--base", "main"]);
    let low = first["findings"].as_array().expect("a list").iter();
    let low = low.filter(|finding| finding["severity"] == "MEDIUM" || finding["severity"] == "LOW");
    let low = low.count();
    assert!(low > 0, "the example needs a finding below HIGH: {first:#}");
    for round in 2..=5 {
        sandbox.write("src/other.rs", format!("// round {round}\n"));
        sandbox.commit("elsewhere");
        let result = review(&sandbox, &["--base", "main"]);
        let held = result["rejected"]["below_floor"].as_u64().unwrap_or(0);
        assert_eq!(held, if round > 3 { low as u64 } else { 0 }, "round {round}: {result:#}");
    }
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
