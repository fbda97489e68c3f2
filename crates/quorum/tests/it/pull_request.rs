//! Pull requests, against a stand-in for the host: the real one needs a network and an account.

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::sandbox::{Sandbox, paths, text};

async fn host(sandbox: &Sandbox, base: &str, head: &str) -> MockServer {
    let server = MockServer::start().await;
    let about = json!({
        "number": 7, "title": "Add two", "body": "", "state": "open", "html_url": "https://example.org/7",
        "user": {"login": "dev"}, "labels": [], "changed_files": 1,
        "base": {"ref": "main", "sha": base, "repo": {"id": 1, "full_name": "team/app"}},
        "head": {"ref": "feature", "sha": head, "repo": {"id": 1, "full_name": "team/app"}},
    });
    let diff = sandbox.git(&["diff", "main~1", "main"]);
    Mock::given(method("GET"))
        .and(path("/repos/team/app/pulls/7"))
        .and(header("accept", "application/vnd.github.diff"))
        .respond_with(ResponseTemplate::new(200).set_body_string(diff))
        .with_priority(1)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .and(path("/repos/team/app/pulls/7"))
        .respond_with(ResponseTemplate::new(200).set_body_json(about))
        .with_priority(2)
        .mount(&server)
        .await;
    server
}

fn changed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
    sandbox.commit("two");
    sandbox
}

fn plan(sandbox: &Sandbox, server: &MockServer) -> Value {
    let arguments = ["plan", "--pr", "7", "--format", "json"];
    let output = sandbox.quorum_with(&arguments, |command| {
        command.env("GITHUB_API_URL", server.uri()).env("GITHUB_REPOSITORY", "team/app");
    });
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[tokio::test]
async fn commits_in_the_clone_are_taken_from_it() {
    let sandbox = changed();
    let base = sandbox.git(&["rev-parse", "main~1"]);
    let head = sandbox.git(&["rev-parse", "main"]);
    let server = host(&sandbox, base.trim(), head.trim()).await;
    let plan = plan(&sandbox, &server);
    assert_eq!(plan["scope"]["kind"], "pr");
    assert_eq!(plan["scope"]["head"], head.trim());
    assert_eq!(paths(&plan), ["src/lib.rs"]);
    assert_eq!(plan["warnings"], json!([]));
}

#[tokio::test]
async fn commits_elsewhere_come_as_the_hosts_diff() {
    let sandbox = changed();
    let server = host(&sandbox, &"a".repeat(40), &"b".repeat(40)).await;
    let elsewhere = Sandbox::bare_folder();
    let plan = plan(&elsewhere, &server);
    assert_eq!(plan["scope"]["label"], "pull request 7: Add two");
    assert_eq!(paths(&plan), ["src/lib.rs"]);
    assert_eq!(plan["scope"]["files"][0]["hunks"][0]["new_lines"], 3);
    assert!(plan["warnings"][0].as_str().expect("a text").contains("not in this clone"));
}

#[tokio::test]
async fn a_request_that_is_not_there() {
    let sandbox = changed();
    let server = MockServer::start().await;
    let output = sandbox.quorum_with(&["plan", "--pr", "8"], |command| {
        command.env("GITHUB_API_URL", server.uri()).env("GITHUB_REPOSITORY", "team/app");
    });
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 2, "{said}");
}

/// A pull request with a finding on a line that its diff shows.
async fn reviewed() -> (Sandbox, MockServer) {
    let sandbox = Sandbox::new();
    let conflict = "<<<<<<< ours\nfn b() {}\n=======\nfn c() {}\n>>>>>>> theirs\n";
    sandbox.write("src/lib.rs", format!("pub fn one() -> u32 {{\n    1\n}}\n{conflict}"));
    sandbox.commit("two");
    let base = sandbox.git(&["rev-parse", "main~1"]);
    let head = sandbox.git(&["rev-parse", "main"]);
    let server = host(&sandbox, base.trim(), head.trim()).await;
    for list in ["/repos/team/app/issues/7/comments", "/repos/team/app/pulls/7/comments"] {
        Mock::given(method("GET"))
            .and(path(list))
            .respond_with(ResponseTemplate::new(200).set_body_json(json!([])))
            .mount(&server)
            .await;
    }
    let output = sandbox.quorum_with(&["review", "--pr", "7", "--format", "json"], |command| {
        command.env("GITHUB_API_URL", server.uri()).env("GITHUB_REPOSITORY", "team/app");
    });
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    (sandbox, server)
}

fn post(sandbox: &Sandbox, server: &MockServer, arguments: &[&str]) -> std::process::Output {
    let mut all = vec!["post", "--pr", "7"];
    all.extend(arguments);
    sandbox.quorum_with(&all, |command| {
        command.env("GITHUB_API_URL", server.uri()).env("GITHUB_REPOSITORY", "team/app");
        command.env("GITHUB_TOKEN", "tok-0123456789");
    })
}

#[tokio::test]
async fn a_dry_run_prints_what_would_be_sent_and_sends_nothing() {
    let (sandbox, server) = reviewed().await;
    let output = post(&sandbox, &server, &["--dry-run"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let calls: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let comment = &calls[0]["body"]["comments"][0];
    assert_eq!((&comment["path"], &comment["line"]), (&json!("src/lib.rs"), &json!(8)));
    assert!(text(&output.stdout).contains("quorum:summary"));
    let sent = server.received_requests().await.expect("they are recorded");
    assert!(sent.iter().all(|request| request.method.as_str() == "GET"));
}

#[tokio::test]
async fn without_the_right_to_write_the_text_is_kept_as_a_file() {
    let (sandbox, server) = reviewed().await;
    let refusal = json!({ "message": "Resource not accessible by integration" });
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(403).set_body_json(refusal))
        .mount(&server)
        .await;
    let output = post(&sandbox, &server, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("comment.md"), "{}", text(&output.stderr));
}
