//! Measuring the embedded reviewers.

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const SAMPLE: &str = "<<<<<<< a  # BAD\n=======\n>>>>>>> b\nx = 1  # GOOD\ny = 2  # BAD\n";

#[test]
fn figures_stand_beside_those_of_another_tool() {
    let sandbox = Sandbox::bare_folder();
    sandbox.write("corpus/CWE-089/a.py", SAMPLE);
    let other = r#"{"results":[{"filename":"CWE-089/a.py","line_number":4,"test_id":"B1"},
        {"filename":"CWE-089/a.py","line_number":5,"test_id":"B1"}]}"#;
    sandbox.write("bandit.json", other);
    let output = sandbox.quorum(&[
        "eval",
        "corpus",
        "--against",
        "bandit=bandit.json",
        "--tolerance",
        "0",
        "--format",
        "json",
    ]);
    let figures: Value = serde_json::from_slice(&output.stdout).expect("figures");
    assert_eq!((&figures["files"], &figures["labels"]), (&Value::from(1), &Value::from(3)));
    let (ours, theirs) = (&figures["tools"][0], &figures["tools"][1]);
    assert_eq!(ours["total"]["true_positives"], 1);
    assert_eq!(ours["total"]["false_negatives"], 1);
    assert_eq!(ours["by_category"]["CWE-89"]["true_positives"], 1);
    assert_eq!(theirs["total"]["false_positives"], 1);
    assert_eq!(theirs["total"]["true_positives"], 1);
}

#[test]
fn a_folder_without_labels_is_an_error_that_says_what_labels_are() {
    let sandbox = Sandbox::bare_folder();
    sandbox.write("corpus/a.py", "x = 1\n");
    let said = sandbox.fails(&["eval", "corpus"]);
    assert!(said.contains("no labels") && said.contains("ruleid:"), "{said}");
}

#[test]
fn commits_are_reviewed_one_by_one() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", SAMPLE);
    sandbox.commit("add a conflict");
    sandbox.write("b.txt", "b\n");
    sandbox.commit("add a file");
    let output = sandbox.quorum(&["eval", "--commits", ".", "3", "--format", "json"]);
    let noise: Value = serde_json::from_slice(&output.stdout).expect("figures");
    let commits = noise["commits"].as_array().expect("a list");
    assert_eq!(commits.len(), 3);
    assert_eq!(commits[1]["counts"]["critical"], 1, "{noise:#}");
    assert_eq!(noise["with_high"], 1);
}

#[test]
fn a_commit_that_cannot_be_read_costs_no_other() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "a = 1\n");
    sandbox.commit("add a file");
    sandbox.write("b.py", "b = 2\n");
    sandbox.commit("add another");
    let blob = sandbox.git(&["rev-parse", "HEAD~1:a.py"]);
    let (folder, name) = blob.trim().split_at(2);
    let object = sandbox.root().join(".git/objects").join(folder).join(name);
    std::fs::remove_file(object).expect("a loose object");
    let output = sandbox.quorum(&["eval", "--commits", ".", "2", "--format", "json"]);
    let noise: Value = serde_json::from_slice(&output.stdout).expect("figures");
    assert_eq!(noise["commits"].as_array().map(Vec::len), Some(1), "{noise:#}");
    assert!(text(&output.stderr).contains("cannot be reviewed"), "{}", text(&output.stderr));
}
