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
    sandbox.write("quorum.toml", "[models.claude-haiku-4-5]\nsweet_spot = 100000\n");
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
    let report = size(&sandbox, &["big", "--task", "Rename everything."]);
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
