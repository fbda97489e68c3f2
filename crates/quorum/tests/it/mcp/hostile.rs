//! Calls that no friendly client makes: each is refused, and the server goes on.

use serde_json::json;

use super::client::Client;
use crate::sandbox::Sandbox;

fn still_works(client: &mut Client) {
    let found = client.json("semantic_search", json!({ "query": "one" }));
    assert_eq!(found["results"][0]["file_path"], "src/lib.rs");
}

#[test]
fn what_is_no_request_does_no_harm() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    for line in ["not JSON", "{", "[]", "{\"jsonrpc\":\"2.0\"}", "{\"id\":{},\"method\":7}", ""] {
        client.raw(line);
        still_works(&mut client);
    }
    let unknown = client.request("no/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
}

#[test]
fn unknown_tools_and_wrong_arguments_get_proper_errors() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let unknown = client.call("rm_rf", json!({}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(unknown["error"]["data"]["code"], "UNKNOWN_TOOL");
    let wrong = [
        ("semantic_search", json!({})),
        ("semantic_search", json!({ "query": "x", "limit": "many" })),
        ("semantic_search", json!({ "query": "x", "unknown": 1 })),
        ("semantic_search", json!({ "query": "   " })),
        ("symbol", json!({})),
        ("review", json!({ "protocol": "majority" })),
        ("review", json!({ "ignore_vetos": " " })),
        ("plan", json!({ "scope": "#x" })),
        ("branch_create", json!({ "description": "" })),
        ("branch_create", json!({ "description": "d", "timeout_seconds": 0 })),
        ("branch_status", json!({})),
        ("dismiss", json!({ "id": "SEC-001", "reason": "r", "expires": "soon" })),
        ("size_task", json!({ "files": [] })),
    ];
    for (tool, arguments) in wrong {
        assert_eq!(client.code(tool, arguments.clone()), "INVALID_ARGUMENT", "{tool} {arguments}");
    }
    let budget = client.code("branch_create", json!({ "description": "d", "budget": 0 }));
    assert_eq!(budget, "INVALID_BUDGET");
    let huge =
        client.code("memory_record", json!({ "title": "t", "content": "x".repeat(2 << 20) }));
    assert_eq!(huge, "TOO_LARGE");
    let gone = client.code("submit_findings", json!({ "branch_id": "br_0", "findings": [] }));
    assert_eq!(gone, "BRANCH_NOT_FOUND");
    still_works(&mut client);
}

#[test]
fn paths_stay_in_the_root() {
    let sandbox = Sandbox::new();
    let outside = tempfile::tempdir().expect("a folder elsewhere");
    std::fs::write(outside.path().join("secret.rs"), "pub fn secret() {}\n").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), sandbox.root().join("link")).expect("a link");
    let elsewhere = outside.path().display().to_string();
    let mut client = Client::start(&sandbox, &[]);
    let folders = ["..", "/", "/proc/self/cwd", "/proc/1", "link", "src/../..", elsewhere.as_str()];
    for folder in folders {
        for tool in ["repository_map", "review_status", "memory_search", "plan"] {
            let arguments = match tool {
                "memory_search" => json!({ "query": "x", "project_path": folder }),
                _ => json!({ "project_path": folder }),
            };
            assert_eq!(client.code(tool, arguments), "OUTSIDE_ROOTS", "{tool} {folder}");
        }
    }
    let elsewhere = format!("{elsewhere}/secret.rs");
    let files =
        ["../x", "/etc/passwd", "/proc/self/environ", "link/secret.rs", "src/../../x", &elsewhere];
    for file in files {
        let cases = [
            ("symbol", json!({ "file": file })),
            ("size_task", json!({ "files": [file] })),
            ("plan", json!({ "paths": [file] })),
            ("plan", json!({ "scope": file })),
            ("review", json!({ "paths": [file] })),
            ("review_begin", json!({ "paths": [file] })),
            ("semantic_search", json!({ "query": "secret", "paths": [file] })),
            ("repository_index", json!({ "include_patterns": [file] })),
        ];
        for (tool, arguments) in cases {
            assert_eq!(client.code(tool, arguments), "OUTSIDE_ROOTS", "{tool} {file}");
        }
    }
    let found = client.tool("semantic_search", json!({ "query": "secret" }));
    assert!(!found[0].contains("secret.rs"), "a link is not followed: {}", found[0]);
    still_works(&mut client);
}

#[test]
fn options_of_the_command_line_cannot_be_smuggled_in() {
    let sandbox = Sandbox::new();
    sandbox.write("x.rs", "fn x() {}\n");
    let mut client = Client::start(&sandbox, &[]);
    let smuggled = [
        json!({ "scope": "--provider=command" }),
        json!({ "paths": ["--output=/tmp/owned"] }),
        json!({ "agents": ["security --provider=command"] }),
        json!({ "scope": "commit:--help" }),
        json!({ "scope": "range:-x..y" }),
    ];
    for arguments in smuggled {
        let answer = client.call("plan", arguments.clone());
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
    }
    still_works(&mut client);
}

#[test]
fn runs_of_others_are_not_found() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    other.write("x.rs", "pub fn x() -> u32 {\n    2\n}\n");
    let mut foreign = Client::start(&other, &[]);
    foreign.tool("review_begin", json!({ "scope": "uncommitted", "agents": ["rust"] }));
    let session = other.root().join(".quorum/runs");
    let run = std::fs::read_dir(session).unwrap().next().unwrap().unwrap();
    let name = run.file_name().into_string().unwrap();
    let branches = std::fs::read_to_string(run.path().join("branches.json")).unwrap();
    let branches: serde_json::Value = serde_json::from_str(&branches).unwrap();
    let branch = branches["branches"][0]["id"].clone();
    let mut client = Client::start(&sandbox, &[]);
    for name in [name.as_str(), "../../x", "/etc", "latest"] {
        assert_eq!(client.code("verdicts", json!({ "run": name })), "RUN_NOT_FOUND", "{name}");
        assert_eq!(client.code("review_finish", json!({ "run": name })), "RUN_NOT_FOUND", "{name}");
    }
    let submitted = client.code("submit_findings", json!({ "branch_id": branch, "findings": [] }));
    assert_eq!(submitted, "BRANCH_NOT_FOUND");
    let read = client.request("resources/read", json!({ "uri": "quorum://runs/../../x/report" }));
    assert!(read["error"]["code"].is_number(), "{read}");
}

/// Only root can give a folder away, so that only root can see it refused.
#[cfg(unix)]
#[test]
fn a_run_that_belongs_to_another_user_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.write("x.rs", "pub fn x() -> u32 {\n    2\n}\n");
    let mut client = Client::start(&sandbox, &[]);
    client.tool("review", json!({ "scope": "uncommitted", "wait": 60 }));
    assert!(client.tool("verdicts", json!({}))[0].starts_with("Run "));
    let runs = sandbox.root().join(".quorum/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    if std::os::unix::fs::chown(&run, Some(12_345), None).is_ok() {
        assert_eq!(client.code("verdicts", json!({})), "RUN_NOT_FOUND");
        assert_eq!(client.code("review_status", json!({})), "RUN_NOT_FOUND");
    }
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let ids: Vec<u64> = (0..40)
        .map(|number| {
            let name = if number % 2 == 0 { "repository_map" } else { "no_such_tool" };
            client.send("tools/call", json!({ "name": name, "arguments": {} }))
        })
        .collect();
    let mut open: std::collections::BTreeSet<u64> = ids.into_iter().collect();
    while !open.is_empty() {
        open.remove(&client.next_id());
    }
    still_works(&mut client);
}
