//! `quorum mcp` as a client meets it: over standard input and output, and over HTTP.

pub(crate) mod client;
mod delegated;
mod gates;
mod hostile;
mod http;

use std::time::Duration;

use serde_json::{Value, json};

use self::client::{Client, tokens};
use crate::sandbox::{Sandbox, text};

/// A repository whose last change has a defect that the embedded reviewers know.
fn with_a_defect() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "app.py",
        "import sqlite3\nfrom flask import request\n\n\ndef rows(db):\n    name = request.args[\"name\"]\n    \
         return db.execute(\"SELECT * FROM users WHERE name = '\" + name + \"'\")\n",
    );
    sandbox
}

#[test]
fn every_tool_is_listed_with_a_schema() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let wanted = [
        "repository_index",
        "semantic_search",
        "symbol",
        "repository_map",
        "plan",
        "size_task",
        "gates",
        "review",
        "review_status",
        "verdicts",
        "finding",
        "review_begin",
        "submit_findings",
        "review_finish",
        "branch_create",
        "branch_return",
        "branch_status",
        "memory_record",
        "memory_search",
        "memory_feedback",
        "dismiss",
    ];
    assert_eq!(names, wanted);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    assert_eq!(client.server["serverInfo"]["name"], "quorum");
}

#[test]
fn a_repository_is_indexed_searched_and_planned() {
    let sandbox = with_a_defect();
    let mut client = Client::start(&sandbox, &[]);
    let index = client.json("repository_index", json!({ "path": ".", "tenant_id": "t" }));
    assert_eq!(index["files_indexed"], 3);
    assert!(index["total_tokens"].as_u64().unwrap() > 20, "{index}");
    let index = client.json("repository_index", json!({ "include_patterns": ["app.py"] }));
    assert!(index["per_file_tokens"]["app.py"].as_u64().unwrap() > 20, "{index}");
    let found = client.json("semantic_search", json!({ "query": "rows", "content_mode": "full" }));
    assert_eq!(found["results"][0]["file_path"], "app.py");
    assert!(found["results"][0]["content"].as_str().unwrap().contains("db.execute"), "{found}");
    let exact = client.json("semantic_search", json!({ "query": "one()", "mode": "exact" }));
    assert_eq!((&exact["count"], &exact["source"]), (&json!(1), &json!("grep")));
    let symbol = client.json("symbol", json!({ "name": "one" }));
    assert_eq!(symbol["definitions"][0]["path"], "src/lib.rs");
    let file = client.json("symbol", json!({ "file": "app.py" }));
    assert!(file["text"].as_str().unwrap().contains("def rows"), "{file}");
    assert!(client.tool("repository_map", json!({}))[0].contains("one"));
    let plan = client.json("plan", json!({ "scope": "uncommitted" }));
    assert_eq!(plan["files"], 1);
    assert!(plan["agents"].as_array().unwrap().iter().any(|a| a["name"] == "security-reviewer"));
    let size = client.json("size_task", json!({ "files": ["app.py"] }));
    assert_eq!(size["fits"], true);
}

#[test]
fn secrets_do_not_reach_the_assistant() {
    let sandbox = Sandbox::new();
    let secret = ["ghp", "_", "1B4a2e77838347a7E420ce178F2E7c6912E1"].concat();
    sandbox.write("deploy.py", format!("def deploy():\n    token = \"{secret}\"\n"));
    let mut client = Client::start(&sandbox, &[]);
    let found =
        client.tool("semantic_search", json!({ "query": "deploy", "content_mode": "full" }));
    assert!(found[0].contains("deploy.py") && !found[0].contains(&secret), "{}", found[0]);
    let made = client.json("branch_create", json!({ "description": "d" }));
    let message = format!("the token is {secret}");
    let back =
        client.json("branch_return", json!({ "branch_id": made["branch_id"], "message": message }));
    assert!(!back["message"].as_str().unwrap().contains(&secret), "{back}");
}

#[test]
fn a_review_runs_in_the_background_and_is_read_afterwards() {
    let sandbox = with_a_defect();
    let mut client = Client::start(&sandbox, &[]);
    let started = client.json("review", json!({ "scope": "uncommitted" }));
    let run = started["run"].as_str().expect("a run").to_owned();
    let mut answer = String::new();
    for _ in 0..600 {
        answer = client.tool("review_status", json!({ "run": run }))[0].clone();
        if !answer.contains("\"running\"") {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(answer.starts_with("BLOCKED (run "), "{answer}");
    assert!(answer.lines().count() <= 15, "{answer}");
    let verdicts = client.tool("verdicts", json!({ "attention": true }))[0].clone();
    assert!(verdicts.contains("BLOCKED security-reviewer"), "{verdicts}");
    let finding = client.json("finding", json!({ "id": "SEC-001" }));
    assert_eq!((&finding["file"], &finding["line"]), (&json!("app.py"), &json!(7)));
    let aside = client.json("dismiss", json!({ "id": "SEC-001", "reason": "a fixture" }));
    assert_eq!(aside["dismissed"], "SEC-001");
    let again = client.tool("review", json!({ "scope": "uncommitted", "wait": 60 }))[0].clone();
    assert!(!again.starts_with("BLOCKED"), "what was set aside does not block: {again}");
}

#[test]
fn a_watched_review_tells_how_far_it_is() {
    let sandbox = with_a_defect();
    let mut client = Client::start(&sandbox, &[]);
    let answer = client.call_with(
        "review",
        json!({ "scope": "uncommitted" }),
        json!({ "progressToken": "p" }),
    );
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("BLOCKED"), "{said}");
    let told: Vec<f64> = client
        .notifications
        .iter()
        .filter(|told| told["method"] == "notifications/progress")
        .map(|told| told["params"]["progress"].as_f64().unwrap())
        .collect();
    assert!(!told.is_empty() && told.is_sorted_by(|a, b| a < b), "{told:?}");
}

#[test]
fn a_review_can_be_cancelled_and_the_server_goes_on() {
    let sandbox = Sandbox::new();
    for number in 0..150 {
        sandbox.write(&format!("src/m{number}.rs"), "pub fn f() -> u32 {\n    1\n}\n".repeat(40));
    }
    let mut client = Client::start(&sandbox, &[]);
    let id = client.send(
        "tools/call",
        json!({ "name": "review",
        "arguments": { "scope": "uncommitted", "wait": 60 } }),
    );
    client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
    let plan = client.json("plan", json!({ "scope": "uncommitted", "agents": ["security"] }));
    assert_eq!(plan["files"], 150);
}

#[test]
fn memories_are_recorded_found_and_judged() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let made = client.json(
        "memory_record",
        json!({ "title": "Retries", "content": "Back off with jitter",
        "tags": ["http"], "project_id": "p" }),
    );
    let found = client.json("memory_search", json!({ "query": "jitter" }));
    assert_eq!(found["memories"][0]["id"], made["id"]);
    let before = made["confidence"].as_f64().unwrap();
    let judged =
        client.json("memory_feedback", json!({ "memory_id": made["id"], "helpful": true }));
    assert!(judged["new_confidence"].as_f64().unwrap() >= before, "{judged}");
    assert_eq!(
        client.code("memory_feedback", json!({ "memory_id": "m-0", "helpful": true })),
        "NOT_FOUND"
    );
}

#[test]
fn resources_and_prompts_can_be_read() {
    let sandbox = with_a_defect();
    sandbox.write(".quorum/sops/errors.md", "---\nseverity: error\n---\n\nWrap errors.\n");
    let mut client = Client::start(&sandbox, &[]);
    client.tool("review", json!({ "scope": "uncommitted", "wait": 60 }));
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    for wanted in ["quorum://runs", "quorum://agents/security-reviewer", "quorum://sops/errors"] {
        assert!(uris.contains(&wanted), "{wanted} in {uris:?}");
    }
    for uri in &uris {
        let read = client.request("resources/read", json!({ "uri": uri }));
        assert!(!read["result"]["contents"][0]["text"].as_str().unwrap().is_empty(), "{uri}");
    }
    let prompts = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(prompts[0]["name"], "consensus-review");
    assert_eq!(prompts.as_array().unwrap().len(), 11);
    let got = client.request(
        "prompts/get",
        json!({ "name": "consensus-review",
        "arguments": { "scope": "staged" } }),
    );
    let said = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(said.contains("staged") && said.contains("review_begin"), "{said}");
}

#[test]
fn a_branch_is_charged_exactly_what_it_is_sent_and_refused_at_its_budget() {
    let sandbox = Sandbox::new();
    for number in 0..40 {
        let body = format!(
            "/// Number {number} of many.\npub fn needle_{number}() -> u32 {{\n    {number}\n}}\n"
        );
        sandbox.write(&format!("src/n{number}.rs"), body);
    }
    let mut client = Client::start(&sandbox, &[]);
    let branch = client.json(
        "branch_create",
        json!({ "session_id": "s", "description": "reads",
        "budget": 2000 }),
    )["branch_id"]
        .clone();
    let other = client.json("branch_create", json!({ "session_id": "s", "description": "idle" }));
    assert_eq!(other["depth"], 1, "siblings do not nest");
    let (mut sent, mut notes) = (0, Vec::new());
    let refused = loop {
        let answer = client.call(
            "semantic_search",
            json!({ "query": "needle", "limit": 5,
            "content_mode": "preview", "branch_id": branch }),
        );
        let blocks = answer["result"]["content"].as_array().unwrap().clone();
        let texts: Vec<&str> = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
        if answer["result"]["isError"] == true {
            break texts[0].to_owned();
        }
        sent += texts.iter().map(|text| tokens(text)).sum::<u64>();
        notes.extend(texts.get(1).map(|note| (*note).to_owned()));
        // A server that is started again knows its branches.
        client = Client::start(&sandbox, &[]);
    };
    assert!(refused.contains("BUDGET_"), "{refused}");
    assert!(notes.iter().any(|note| note.contains("80 %")), "{notes:?}");
    let status = client.json("branch_status", json!({ "branch_id": branch }));
    assert_eq!(status["budget_used"], sent);
    assert!(sent < 1960, "never past 98 %: {sent}");
    let idle = client.json("branch_status", json!({ "branch_id": other["branch_id"] }));
    assert_eq!(idle["budget_used"], 0);
    let back = client.json("branch_return", json!({ "branch_id": branch, "message": "partial" }));
    assert_eq!((&back["success"], &back["tokens_used"]), (&json!(true), &json!(sent)));
    let again = client.code("branch_return", json!({ "branch_id": branch, "message": "again" }));
    assert_eq!(again, "BRANCH_NOT_ACTIVE");
    assert_eq!(client.json("branch_status", json!({ "session_id": "none" }))["status"], "none");
}

/// The plugin in the repository is what `cargo xtask plugin` would write.
#[test]
fn the_plugin_is_up_to_date() {
    let sandbox = Sandbox::bare_folder();
    let made = sandbox.quorum(&["plugin", "made"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    let files = |root: &std::path::Path| {
        let mut all = std::collections::BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(root).expect("inside").to_owned();
                    all.insert(name, std::fs::read_to_string(&path).expect("text"));
                }
            }
        }
        all
    };
    assert_eq!(files(&sandbox.root().join("made")), files(&kept), "run `cargo xtask plugin`");
}

#[test]
fn setup_shows_first_and_writes_when_told() {
    let sandbox = Sandbox::new();
    sandbox.write("AGENTS.md", "# Ours\n");
    let shown = sandbox.quorum(&["setup", "codex"]);
    let said = text(&shown.stdout);
    assert!(said.contains(".codex/config.toml (new)") && said.contains("`--yes`"), "{said}");
    assert!(!sandbox.root().join(".codex").exists());
    assert!(sandbox.quorum(&["setup", "codex", "--yes"]).status.success());
    let page = std::fs::read_to_string(sandbox.root().join("AGENTS.md")).expect("it is there");
    assert!(page.starts_with("# Ours\n") && page.contains("review_begin"), "{page}");
    let again = text(&sandbox.quorum(&["setup", "codex", "--yes"]).stdout);
    assert_eq!(again, "everything is as it should be\n");
    for assistant in ["claude", "gemini", "cursor"] {
        assert!(sandbox.quorum(&["setup", assistant, "--yes"]).status.success(), "{assistant}");
    }
    let servers = std::fs::read(sandbox.root().join(".mcp.json")).expect("it is there");
    let servers: Value = serde_json::from_slice(&servers).expect("JSON");
    assert_eq!(servers["mcpServers"]["quorum"]["command"], "quorum");
}
