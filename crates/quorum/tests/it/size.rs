//! Task sizing.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

fn size(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut all = vec!["size", "--format", "json"];
    all.extend(arguments);
    let output = sandbox.quorum(&all);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_worked_example() {
    let sandbox = Sandbox::new();
    let report = size(&sandbox, &["src/lib.rs"]);
    assert_eq!(report["available"], 156_100);
    assert_eq!(report["limit"], 62_440);
    assert_eq!(report["fits"], true);
    assert_eq!(report["reasons"], json!([]));
    assert_eq!(report["subtasks"], json!([]));
    let report = size(&sandbox, &["src/lib.rs", "--model", "claude-haiku-4-5"]);
    assert_eq!(report["limit"], 62_440);
}

#[test]
fn a_sweet_spot_and_a_window_change_the_limit() {
    let sandbox = Sandbox::new();
    let own = "../home/.config/quorum/quorum.toml";
    sandbox.write(own, "[models.claude-haiku-4-5]\nsweet_spot = 100000\n");
    let report = size(&sandbox, &["src/lib.rs", "--model", "claude-haiku-4-5"]);
    assert_eq!(report["limit"], 100_000);
    let report = size(&sandbox, &["src/lib.rs", "--window", "100000"]);
    assert_eq!(report["available"], 71_100);
    let said = sandbox.fails(&["size", "src/lib.rs", "--window", "10000"]);
    assert!(said.contains("too small for a review"), "{said}");
}

#[test]
fn what_does_not_fit_is_split_into_parts_that_do() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d", "e"] {
        sandbox.write(&format!("big/{name}.txt"), "word\n".repeat(10_000));
    }
    let report = size(&sandbox, &["big", "--description", "Rename everything."]);
    assert_eq!(report["fits"], false);
    let parts = report["subtasks"].as_array().expect("parts");
    assert!(parts.len() >= 2);
    let limit = report["limit"].as_u64().expect("a number");
    assert!(parts.iter().all(|part| part["tokens"].as_u64().expect("a number") <= limit));
    let lines = parts.iter().flat_map(|part| part["files"].as_array().expect("files"));
    let lines: u64 = lines
        .map(|file| {
            file["end_line"].as_u64().expect("n") - file["start_line"].as_u64().expect("n") + 1
        })
        .sum();
    assert_eq!(lines, 50_000);
}

#[test]
fn sops_over_their_reserve_split_a_task() {
    let sandbox = Sandbox::new();
    let long = |glob: &str| format!("---\napplies_to: \"{glob}\"\n---\n{}", "rule\n".repeat(1_500));
    sandbox.write(".quorum/sops/a.md", long("a.txt"));
    sandbox.write(".quorum/sops/b.md", long("b.txt"));
    sandbox.write("a.txt", "a\n");
    sandbox.write("b.txt", "b\n");
    let report = size(&sandbox, &["a.txt", "b.txt"]);
    assert_eq!(report["fits"], false);
    let sops: Vec<_> =
        report["subtasks"].as_array().expect("parts").iter().map(|p| &p["sops"]).collect();
    assert_eq!(sops, [&json!(["a"]), &json!(["b"])]);
}

/// Sizes a task, and returns the exit code and the answer.
fn size_task(sandbox: &Sandbox, task: &Value, more: &[&str]) -> (i32, Value) {
    sandbox.write("task.json", task.to_string());
    let mut arguments = vec!["size", "--task", "task.json"];
    arguments.extend(more);
    let output = sandbox.quorum(&arguments);
    let said = text(&output.stderr);
    let value = serde_json::from_slice(&output.stdout);
    (output.status.code().expect("a code"), value.unwrap_or_else(|error| panic!("{error}: {said}")))
}

#[test]
fn a_task_that_fits_is_answered_with_zero() {
    let sandbox = Sandbox::new();
    let task = json!({
        "id": "task.1", "description": "Add a second function.",
        "acceptance_criteria": ["It returns two.", { "given": "x", "then": "y" }],
        "files": ["src/*.rs", "src/new.rs"],
    });
    let (code, report) = size_task(&sandbox, &task, &[]);
    assert_eq!((code, &report["fits"]), (0, &json!(true)), "{report}");
    let paths: Vec<&Value> =
        report["files"].as_array().expect("files").iter().map(|file| &file["path"]).collect();
    assert_eq!(paths, ["src/lib.rs", "src/new.rs"]);
    let files: u64 = report["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| file["tokens"].as_u64().expect("tokens"))
        .sum();
    assert!(report["estimate"].as_u64().expect("tokens") > files, "its own words count");
}

#[test]
fn a_task_that_is_too_large_is_parted_by_what_belongs_together() {
    let sandbox = Sandbox::new();
    let big = |import: &str| format!("{import}\n{}", "word = 1\n".repeat(2_500));
    sandbox.write("app/orders.py", big("from app import prices"));
    sandbox.write("app/prices.py", big(""));
    sandbox.write("app/users.py", big("from lib import mail"));
    sandbox.write("lib/mail.py", big(""));
    sandbox.write(".quorum/sops/py.md", "---\napplies_to: \"app/**\"\n---\nType everything.\n");
    let task =
        json!({ "description": "Rename.", "acceptance_criteria": [], "files": ["app", "lib"] });
    let (code, report) = size_task(&sandbox, &task, &["--window", "100000"]);
    assert_eq!((code, &report["fits"]), (1, &json!(false)), "{report}");
    let limit = report["limit"].as_u64().expect("a limit");
    let parts: Vec<(Vec<&str>, &Value)> = report["subtasks"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| {
            assert!(part["tokens"].as_u64().expect("tokens") <= limit, "{part}");
            let files = part["files"].as_array().expect("files").iter();
            (files.map(|file| file["path"].as_str().expect("a path")).collect(), &part["sops"])
        })
        .collect();
    assert_eq!(
        parts,
        [
            (vec!["app/orders.py", "app/prices.py"], &json!(["py"])),
            (vec!["app/users.py", "lib/mail.py"], &json!(["py"])),
        ]
    );
}

#[test]
fn a_task_that_cannot_be_read_says_what_one_is() {
    let sandbox = Sandbox::new();
    sandbox.write("task.json", "{\"files\": []}");
    let said = sandbox.fails(&["size", "--task", "task.json"]);
    assert!(said.contains("it names no files") && said.contains("acceptance_criteria"), "{said}");
    sandbox.write("task.json", "not JSON");
    assert!(sandbox.fails(&["size", "--task", "task.json"]).contains("task.json"));
    sandbox.fails(&["size", "--task", "nothing.json"]);
}
