//! Gates over MCP: only where the user who starts the server says so.

use serde_json::{Value, json};

use super::client::Client;
use crate::sandbox::Sandbox;

/// A repository with a gate that passes and one that fails until a file is there.
fn with_a_gate() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("Makefile", "test:\n\ttest -f good\nlint:\n\ttrue\n");
    sandbox.write("a.c", "int a;\n");
    sandbox.commit("start");
    sandbox.write("a.c", "int b;\n");
    sandbox
}

fn outcome<'a>(report: &'a Value, name: &str) -> &'a Value {
    let gates = report["gates"].as_array().expect("gates");
    let found = gates.iter().find(|gate| gate["name"] == name);
    found.unwrap_or_else(|| panic!("no gate {name} in {report}"))
}

#[test]
fn nothing_runs_without_the_users_word() {
    let sandbox = with_a_gate();
    let mut client = Client::start(&sandbox, &[]);
    for scope in [json!({}), json!({ "scope": "uncommitted" }), json!({ "only": ["test"] })] {
        let answer = client.call("gates", scope)["result"].to_string();
        assert!(answer.contains("NOT_ALLOWED") && answer.contains("--allow-gates"), "{answer}");
    }
}

#[test]
fn gates_run_for_the_work_tree_where_the_user_lets_them() {
    let sandbox = with_a_gate();
    let mut client = Client::start(&sandbox, &["--allow-gates"]);
    let failed = client.json("gates", json!({ "scope": "uncommitted" }));
    assert_eq!(failed["passed"], false, "{failed}");
    assert!(outcome(&failed, "test")["outcome"].as_str().unwrap().starts_with("failed"));
    assert!(outcome(&failed, "test")["errors"][0].as_str().unwrap().starts_with("Makefile:2 "));
    assert_eq!(outcome(&failed, "lint"), &json!({ "name": "lint", "outcome": "passed" }));
    sandbox.write("good", "");
    let passed = client.json("gates", json!({ "scope": "uncommitted", "only": ["test"] }));
    assert_eq!(passed["passed"], true, "{passed}");
    assert_eq!(passed["gates"].as_array().map(Vec::len), Some(1), "{passed}");
    let unknown = client.call("gates", json!({ "only": ["deploy"] }))["result"].to_string();
    assert!(unknown.contains("no gate `deploy`") && unknown.contains("lint"), "{unknown}");
}

#[test]
fn gates_of_what_may_be_somebody_elses_need_another_word() {
    let sandbox = with_a_gate();
    sandbox.commit("theirs");
    let mut client = Client::start(&sandbox, &["--allow-gates"]);
    let answer = client.call("gates", json!({ "scope": "commit:HEAD" }))["result"].to_string();
    assert!(answer.contains("NOT_ALLOWED") && answer.contains("--trust-gates"), "{answer}");
    let mut client = Client::start(&sandbox, &["--trust-gates"]);
    let report = client.json("gates", json!({ "scope": "commit:HEAD" }));
    assert_eq!(report["passed"], false, "{report}");
}

#[test]
fn a_review_has_the_gates_that_the_user_wants_before_every_review() {
    let sandbox = with_a_gate();
    sandbox.write("../home/.config/quorum/quorum.toml", "[gates]\nrun = true\n");
    let review = |scope: &str| json!({ "scope": scope, "agents": ["security"], "wait": 100 });
    let blocked = Client::start(&sandbox, &[]).tool("review", review("uncommitted"));
    assert!(blocked[0].starts_with("BLOCKED"), "{}", blocked[0]);
    sandbox.commit("theirs");
    let foreign = Client::start(&sandbox, &[]).tool("review", review("commit:HEAD"));
    assert!(!foreign[0].starts_with("BLOCKED"), "{}", foreign[0]);
    let trusted = Client::start(&sandbox, &["--trust-gates"]).tool("review", review("commit:HEAD"));
    assert!(trusted[0].starts_with("BLOCKED"), "{}", trusted[0]);
}
