//! The first thing that the README tells a reader to try.

use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

#[test]
fn a_fresh_clone_of_this_repository_is_approved() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = sources.canonicalize().expect("the workspace");
    let sandbox = Sandbox::bare_folder();
    sandbox.git(&["clone", "--quiet", sources.to_str().expect("a path of letters"), "."]);
    let output = sandbox.quorum(&["review", "--all", "--format", "json"]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let findings = result["findings"].as_array().expect("findings");
    let severe: Vec<String> = findings
        .iter()
        .filter(|found| found["severity"] == "HIGH" || found["severity"] == "CRITICAL")
        .map(|found| format!("{} {}:{}", found["rule"], found["file"], found["line"]))
        .collect();
    assert_eq!(severe, Vec::<String>::new());
    assert_eq!(result["verdict"], "APPROVED", "{}", result["reasons"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
