//! The same secrets through everything else that prints, keeps or sends: the other commands in all
//! their formats, hosts, assistants, embeddings, and what models look up.

use std::sync::{Arc, Mutex};

use quorum_testkit::{Reply, Server, Turn};
use serde_json::{Value, json};
use wiremock::matchers::{header, method, path, path_regex};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{KINDS, assert_none, bytes_below, plant};
use crate::mcp::client::Client;
use crate::sandbox::{Sandbox, text};

const RESULTS: [&str; 9] =
    ["terminal", "json", "markdown", "sarif", "html", "gitlab", "junit", "rdjsonl", "github"];

/// What was printed, kept and sent, by place.
#[derive(Default)]
struct Places(Mutex<Vec<(String, Vec<u8>)>>);

impl Places {
    fn add(&self, place: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.lock().expect("nobody panicked").push((place.into(), bytes.into()));
    }

    /// Runs quorum; what it prints is a place. A command that is asked for something must answer.
    fn run(&self, sandbox: &Sandbox, arguments: &[&str]) -> std::process::Output {
        let output = sandbox.quorum(arguments);
        let name: String = arguments.join(" ").chars().take(30).collect();
        self.add(format!("{name}: output"), output.stdout.clone());
        self.add(format!("{name}: error"), output.stderr.clone());
        output
    }
}

/// A repository with all secrets in one commit.
fn committed() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "--quiet", "-b", "change"]);
    let secrets = plant(&sandbox, 500);
    sandbox.commit(&format!("use {} for calls", secrets[0]));
    (sandbox, secrets)
}

#[test]
fn every_other_command_says_nothing_of_five_hundred_secrets() {
    let (sandbox, secrets) = committed();
    let places = Places::default();
    let run = |arguments: &[&str]| places.run(&sandbox, arguments);
    run(&["review", "--base", "main", "--events=events.jsonl", "--format", "json"]);
    assert!(sandbox.root().join("events.jsonl").is_file());
    for format in RESULTS {
        run(&["report", "--format", format]);
        run(&["replay", "--format", format, "--fail-on", "low"]);
        run(&["resume", "--format", format]);
    }
    run(&["replay", "--calls"]);
    for format in ["human", "json"] {
        for arguments in [
            &["verdicts", "--attention"][..],
            &["verdicts", "--tokens"],
            &["show", "security"],
            &["show", "SEC-001"],
            &["show", "SEC-002"],
            &["runs", "list"],
            &["runs", "show"],
            &["plan", "--base", "main"],
            &["agents", "--explain", "src/app.py"],
            &["rules", "list"],
            &["sops", "list"],
            &["sops", "check"],
            &["sops", "explain", "src/app.py"],
            &["conventions", "list"],
            &["context", "src", "deploy"],
            &["map", "--budget", "8000"],
            &["search", "password", "value", "setting", "--content", "full", "--limit", "300"],
            &["search", "--regex", "(?i)password|value_|setting_", "--limit", "500"],
            &["search", "--exact", "db_", "--limit", "500"],
            &["callers", "db_21_password"],
            &["size", "src", "deploy"],
            &["memory", "search", "token"],
            &["config", "show", "--origin"],
            &["eval", "--commits", ".", "1"],
        ] {
            let output = run(&[arguments, &["--format", format]].concat());
            let said = text(&output.stderr);
            assert!(!said.contains("unexpected argument"), "{arguments:?}: {said}");
        }
    }
    for (file, ..) in KINDS {
        run(&["symbols", file, "--format", "json"]);
        run(&["symbols", file, "--references"]);
        run(&["summary", file, "--format", "json"]);
        run(&["context", file, "--format", "json"]);
    }
    // What people type and what fails.
    let token = &secrets[0];
    sandbox.write(
        "src/held.py",
        format!("import os\nos.system(input())  # quorum:ignore command-injection use {token}\n"),
    );
    sandbox.commit("held");
    let reason = format!("rotated {token}");
    run(&["review", "--commit", "HEAD", "--ignore-vetos", &reason, "--format", "json"]);
    let held = run(&["report", "--format", "json"]);
    assert!(text(&held.stdout).contains("quorum:ignore"), "{}", text(&held.stdout));
    let program = format!("echo {token}");
    let refused = run(&["review", "src/app.py", "--provider", "command", "--model", &program]);
    assert!(text(&refused.stderr).contains("has a secret in it"), "{}", text(&refused.stderr));
    run(&["review", "--base", "main", "--quiet"]);
    run(&["dismiss", "SEC-001", "--reason", &format!("rotated: {token}")]);
    run(&["dismiss", "SEC-002", "--shared", "--reason", &format!("rotated: {token}")]);
    run(&["dismiss", "--list"]);
    run(&["review", "--base", "main", "--quiet"]);
    run(&["report", "--format", "json"]);
    // Another tool's page, with the whole line.
    let line = std::fs::read_to_string(sandbox.root().join("src/app.py")).expect("a file");
    let line = line.lines().nth(1).expect("a secret").to_owned();
    sandbox.write(
        "tool.md",
        format!(
            "### Findings Index\n- HIGH | T-1 | \"src/app.py:2\" | The value {token} is here\n\
             Verdict: risky\n\n### T-1\nSee {token}.\n```\n{line}\n```\n"
        ),
    );
    let taken = run(&["ingest", "tool.md", "--format", "json"]);
    assert!(text(&taken.stdout).contains("\"valid\""), "{}", text(&taken.stdout));
    run(&["show", "tool"]);
    // A check that prints a file, and a developer who is told of it.
    sandbox.write(
        "../home/.config/quorum/quorum.toml",
        "[[gates.additional]]\nname = \"prints\"\ncommand = \"cat .env.production src/app.py; exit 1\"\n",
    );
    let gates = run(&["gates", "--format", "json"]);
    assert!(text(&gates.stdout).contains("db_"), "{}", text(&gates.stdout));
    let told =
        ["loop", "--develop", "sh -c 'cat > ../prompt'", "--rounds", "2", "--task", "task.md"];
    sandbox.write("task.md", "Mend it.\n");
    run(&told);
    places.add("the prompt", std::fs::read(sandbox.root().join("../prompt")).expect("a prompt"));
    let events = std::fs::read(sandbox.root().join("events.jsonl"));
    places.add("events", events.expect("it is there"));
    let mut kept = Vec::new();
    bytes_below(&sandbox.root().join(".quorum"), &mut kept);
    bytes_below(&sandbox.root().join("../home"), &mut kept);
    assert_none(kept.into_iter().chain(places.0.into_inner().expect("places")), &secrets);
}

/// A host that takes everything, and a pull request whose words are secrets, too.
async fn host(sandbox: &Sandbox, secrets: &[String]) -> MockServer {
    let server = MockServer::start().await;
    let commit = |name: &str| sandbox.git(&["rev-parse", name]).trim().to_owned();
    let about = json!({
        "number": 7, "title": format!("Use {}", secrets[0]), "state": "open",
        "body": format!("token: {}\npassword = \"{}\"", secrets[1], secrets[26]),
        "html_url": "https://example.org/7", "user": {"login": "dev"}, "labels": [], "changed_files": 18,
        "base": {"ref": "main", "sha": commit("main"), "repo": {"id": 1, "full_name": "team/app"}},
        "head": {"ref": format!("use-{}", secrets[0]), "sha": commit("change"),
            "repo": {"id": 1, "full_name": "team/app"}},
    });
    let diff = sandbox.git(&["diff", "main", "change"]);
    let pull = || path("/repos/team/app/pulls/7");
    Mock::given(method("GET"))
        .and(pull())
        .and(header("accept", "application/vnd.github.diff"))
        .respond_with(ResponseTemplate::new(200).set_body_string(diff))
        .with_priority(1)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(pull())
        .respond_with(ResponseTemplate::new(200).set_body_json(about))
        .with_priority(2)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/user"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({ "login": "bot", "id": 2 })))
        .with_priority(2)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path_regex("/(comments|reviews|check-runs|commits)$"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!([])))
        .with_priority(3)
        .mount(&server)
        .await;
    let taken = json!({ "id": 1, "node_id": "x", "html_url": "https://example.org/1", "data": {} });
    Mock::given(wiremock::matchers::any())
        .respond_with(ResponseTemplate::new(200).set_body_json(taken))
        .with_priority(9)
        .mount(&server)
        .await;
    server
}

/// The same on GitLab.
async fn gitlab(sandbox: &Sandbox, secrets: &[String]) -> MockServer {
    let server = MockServer::start().await;
    let commit = |name: &str| sandbox.git(&["rev-parse", name]).trim().to_owned();
    let (base, head) = (commit("main"), commit("change"));
    let about = json!({
        "iid": 7, "title": format!("Use {}", secrets[0]), "state": "opened", "labels": [],
        "description": format!("token: {}\npassword = \"{}\"", secrets[1], secrets[26]),
        "author": {"username": "dev"}, "target_branch": "main",
        "source_branch": format!("use-{}", secrets[0]), "target_project_id": 1,
        "source_project_id": 1, "changes_count": "18", "web_url": "https://example.org/7",
        "diff_refs": {"base_sha": base, "start_sha": base, "head_sha": head},
    });
    let diffs = crate::rounds::host::diffs(&sandbox.git(&["diff", "main", "change"]));
    let request = "/projects/team%2Fapp/merge_requests/7";
    for (place, answer) in [
        (request.to_owned(), about),
        (format!("{request}/diffs"), Value::Array(diffs)),
        ("/user".to_owned(), json!({ "id": 2, "username": "bot" })),
        (format!("{request}/discussions"), json!([])),
        (format!("{request}/draft_notes"), json!([])),
    ] {
        Mock::given(method("GET"))
            .and(path(place))
            .respond_with(ResponseTemplate::new(200).set_body_json(answer))
            .mount(&server)
            .await;
    }
    Mock::given(path_regex("/(notes|draft_notes|bulk_publish)$|/statuses/|/discussions/"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({ "id": 1 })))
        .with_priority(9)
        .mount(&server)
        .await;
    server
}

#[tokio::test]
async fn nothing_that_is_posted_or_asked_of_a_model_has_a_secret_of_a_pull_request() {
    let (sandbox, secrets) = committed();
    let host = host(&sandbox, &secrets).await;
    nothing_leaves(&sandbox, &secrets, &host, ["GITHUB_API_URL", "GITHUB_REPOSITORY"]).await;
}

#[tokio::test]
async fn nothing_that_is_posted_or_asked_of_a_model_has_a_secret_of_a_merge_request() {
    let (sandbox, secrets) = committed();
    let host = gitlab(&sandbox, &secrets).await;
    nothing_leaves(&sandbox, &secrets, &host, ["CI_API_V4_URL", "CI_PROJECT_PATH"]).await;
    let requests = host.received_requests().await.expect("recorded");
    for part in ["/draft_notes", "/notes", "/statuses/"] {
        let wrote = |request: &Request| {
            request.method.as_str() == "POST" && request.url.path().contains(part)
        };
        assert!(requests.iter().any(wrote), "{part} was written to");
    }
}

/// Reviews a request by rules and by a model and posts it, to a host whose address and repository are in
/// these variables.
async fn nothing_leaves(
    sandbox: &Sandbox,
    secrets: &[String],
    host: &MockServer,
    [address, repository]: [&str; 2],
) {
    // A model that looks everything up before it answers, and quotes what it was shown.
    let asked = Arc::new(Mutex::new(0_usize));
    let counted = asked.clone();
    let model = Server::start(move |asked| {
        let number = {
            let mut counted = counted.lock().expect("nobody panicked");
            *counted += 1;
            *counted
        };
        let turn = Turn::default();
        let turn = match number % 6 {
            1 => turn.call("search", &json!({ "query": "password value setting" })),
            2 => turn.call("read_file", &json!({ "path": ".env.production", "start": 1, "end": 40 })),
            3 => turn.call("symbols", &json!({ "path": "src/app.py" })),
            4 => turn.call("grep", &json!({ "pattern": "password" })),
            _ => {
                let quoted = asked.text.lines().find(|line| line.contains("password")).unwrap_or("");
                Turn::json(&json!({ "findings": [{
                    "severity": "HIGH", "category": "secrets", "file": "src/app.py", "line": 2,
                    "evidence": quoted, "issue": quoted, "recommendation": "Rotate it.", "cwe": null,
                    "confidence": 0.9, "cause_file": null, "cause_quote": null,
                }], "skipped_medium": 0, "skipped_low": 0, "sops": [] }))
            }
        };
        Reply::Say(turn)
    })
    .expect("it starts");
    let places = Places::default();
    let run = |arguments: &[&str]| {
        let output = sandbox.quorum_with(arguments, |command| {
            command
                .env(address, host.uri())
                .env(repository, "team/app")
                .env("GITHUB_TOKEN", "tok-0123456789")
                .env("GITLAB_TOKEN", "tok-0123456789")
                .env("OPENAI_BASE_URL", model.openai_url())
                .env("OPENAI_API_KEY", "never-shown-0123");
        });
        places.add(format!("{}: output", arguments.join(" ")), output.stdout.clone());
        places.add(format!("{}: error", arguments.join(" ")), output.stderr.clone());
        output
    };
    let rules = ["review", "--pr", "7", "--format", "json"];
    assert!(!run(&rules).stdout.is_empty());
    run(&["post", "--pr", "7", "--dry-run"]);
    let posted = run(&["post", "--pr", "7"]);
    assert_eq!(posted.status.code(), Some(0), "{}", text(&posted.stderr));
    let models = ["--provider", "openai", "--model", "m", "--complete", "--verify", "--events=-"];
    run(&[&rules[..], &models].concat());
    run(&["post", "--pr", "7"]);
    run(&["plan", "--pr", "7", "--provider", "openai", "--model", "m", "--prompts", "../out"]);
    let requests: Vec<Request> = host.received_requests().await.expect("recorded");
    let writes = requests.iter().filter(|request| request.method.as_str() != "GET");
    let written: String = writes.map(|request| text(&request.body)).collect();
    assert!(written.contains("quorum:") && written.contains("src/app.py"), "{written}");
    for request in &requests {
        places.add(format!("{} {}", request.method, request.url), request.body.clone());
        places.add("an address", request.url.as_str());
    }
    assert!(model.recorded().len() > 6);
    let sent: String = model.recorded().iter().map(|request| request.text.clone()).collect();
    assert!(sent.contains("****"), "what is masked is shown");
    for request in model.recorded() {
        places.add("a request to a model", request.body.to_string());
        places.add("a request to a model", request.text.clone());
    }
    let mut kept = Vec::new();
    bytes_below(&sandbox.root().join(".quorum"), &mut kept);
    bytes_below(&sandbox.root().join("../out"), &mut kept);
    assert_none(kept.into_iter().chain(places.0.into_inner().expect("places")), secrets);
}

#[tokio::test]
async fn no_text_for_embeddings_has_a_secret() {
    let (sandbox, secrets) = committed();
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/embeddings"))
        .respond_with(|request: &Request| {
            let body: Value = serde_json::from_slice(&request.body).expect("JSON");
            let count = body["input"].as_array().map_or(0, Vec::len);
            let data: Vec<Value> = (0..count)
                .map(|index| json!({ "index": index, "embedding": [1.0, 0.5, 0.25] }))
                .collect();
            ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
        })
        .mount(&server)
        .await;
    sandbox.write(
        "../home/.config/quorum/quorum.toml",
        format!("[embeddings]\nurl = \"{}/v1\"\nmodel = \"m\"\n", server.uri()),
    );
    let places = Places::default();
    places.run(&sandbox, &["index"]);
    let query = format!("where is {} used", secrets[0]);
    places.run(&sandbox, &["search", &query, "--content", "full"]);
    let requests = server.received_requests().await.expect("recorded");
    assert!(requests.len() > 1);
    for request in requests {
        places.add("a request for embeddings", request.body);
    }
    let mut kept = Vec::new();
    bytes_below(&sandbox.root().join(".quorum"), &mut kept);
    assert_none(kept.into_iter().chain(places.0.into_inner().expect("places")), &secrets);
}

#[test]
fn no_answer_to_an_assistant_has_a_secret() {
    let (sandbox, secrets) = committed();
    sandbox.write(
        ".quorum/sops/orders.md",
        format!("---\nname: orders\nseverity: warning\n---\nUse {} for calls.\n", secrets[0]),
    );
    let places = Places::default();
    let mut client = Client::start(&sandbox, &[]);
    let token = secrets[0].clone();
    let call = |client: &mut Client, tool: &str, arguments: Value| -> String {
        let answer = client.call(tool, arguments).to_string();
        places.add(format!("{tool}: answer"), answer.clone());
        answer
    };
    call(&mut client, "repository_index", json!({}));
    for mode in ["semantic", "exact", "regex"] {
        call(
            &mut client,
            "semantic_search",
            json!({ "query": "password", "mode": mode, "content_mode": "full", "limit": 50 }),
        );
    }
    call(&mut client, "symbol", json!({ "name": "db_21_password" }));
    for (file, ..) in KINDS {
        call(&mut client, "symbol", json!({ "file": file }));
    }
    call(&mut client, "repository_map", json!({ "budget": 8000 }));
    call(&mut client, "plan", json!({ "scope": "base:main" }));
    call(
        &mut client,
        "size_task",
        json!({ "files": ["src/app.py"], "task": format!("use {token}") }),
    );
    call(
        &mut client,
        "memory_record",
        json!({ "title": format!("use {token}"), "content": token }),
    );
    call(&mut client, "memory_search", json!({ "query": "use" }));
    let answer = call(&mut client, "review", json!({ "scope": "base:main", "wait": 60 }));
    assert!(answer.contains("BLOCKED"), "{answer}");
    call(&mut client, "review_status", json!({}));
    call(&mut client, "verdicts", json!({}));
    for number in 1..12 {
        call(&mut client, "finding", json!({ "id": format!("SEC-{number:03}") }));
    }
    call(&mut client, "dismiss", json!({ "id": "SEC-001", "reason": format!("rotated {token}") }));
    let begun = call(&mut client, "review_begin", json!({ "scope": "base:main" }));
    let branch = begun.split("br_").nth(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        format!("br_{}", &rest[..end])
    });
    let branch = branch.unwrap_or_else(|| panic!("{begun}"));
    let line = std::fs::read_to_string(sandbox.root().join("src/app.py")).expect("a file");
    let line = line.lines().nth(1).expect("a secret").to_owned();
    let found = json!({ "severity": "HIGH", "category": "secrets", "file": "src/app.py", "line": 2,
        "evidence": line, "issue": format!("{token} is here"), "recommendation": "Rotate it.",
        "cwe": null, "confidence": 0.9, "cause_file": null, "cause_quote": null });
    call(
        &mut client,
        "submit_findings",
        json!({ "branch_id": branch, "findings": [found], "done": true }),
    );
    call(&mut client, "branch_status", json!({ "branch_id": branch }));
    // What fails says what it was given.
    for tool in ["symbol", "finding", "verdicts", "review", "branch_return", "gates", "size_task"] {
        call(
            &mut client,
            tool,
            json!({ "file": token, "id": token, "run": token, "scope": token,
            "branch_id": token, "files": [token], "only": [token], "project_path": token }),
        );
    }
    let listed = client.request("resources/list", json!({}));
    places.add("resources", listed.to_string());
    let resources = listed["result"]["resources"].as_array().cloned().unwrap_or_default();
    assert!(!resources.is_empty(), "{listed}");
    for resource in resources {
        let read = client.request("resources/read", json!({ "uri": resource["uri"] }));
        // The team's own orders are the team's own words.
        if !resource["uri"].to_string().contains("sop") {
            places.add(format!("resource {}", resource["uri"]), read.to_string());
        }
    }
    let prompts = client.request("prompts/list", json!({}));
    places.add("prompts", prompts.to_string());
    drop(client);
    let mut kept = Vec::new();
    bytes_below(&sandbox.root().join(".quorum"), &mut kept);
    kept.retain(|(place, _)| !place.ends_with("sops/orders.md"));
    assert_none(kept.into_iter().chain(places.0.into_inner().expect("places")), &secrets);
}
