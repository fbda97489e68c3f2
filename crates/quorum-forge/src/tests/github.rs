//! GitHub's answers.

use serde_json::{Value, json};
use wiremock::ResponseTemplate;
use wiremock::matchers::{header, query_param};

use super::support::{BASE, HEAD, Host, PULL, TOKEN, at_path, json_answer, pull, told};
use crate::{ForgeError, PullRequest, PullRequestDiff};

const DIFF: &str = "application/vnd.github.diff";
const FILES: &str = "/repos/octo/repo/pulls/7/files";

/// A host whose diff is too large, so that the files are asked for.
fn too_large() -> Host {
    let host = Host::start();
    host.mount(
        at_path(PULL).and(header("accept", DIFF)).respond_with(
            ResponseTemplate::new(406).set_body_json(json!({"message": "too_large"})),
        ),
    );
    host
}

fn page(host: &Host, number: u32, files: &[Value], has_next: bool) {
    let mut answer = json_answer(files);
    if has_next {
        let next = format!("<{}/next>; rel=\"next\"", host.server.uri());
        answer = answer.insert_header("link", next.as_str());
    }
    let mock = at_path(FILES)
        .and(query_param("per_page", "100"))
        .and(query_param("page", number.to_string()));
    host.mount(mock.respond_with(answer));
}

fn files(from: usize, count: usize) -> Vec<Value> {
    let file = |n| {
        json!({"filename": format!("f{n}"), "status": "modified", "changes": 2,
                          "patch": "@@ -1 +1 @@\n-a\n+b"})
    };
    (from..from + count).map(file).collect()
}

fn sections(diff: &PullRequestDiff) -> usize {
    let text = String::from_utf8_lossy(&diff.text);
    text.lines().filter(|line| line.starts_with("diff --git ")).count()
}

#[test]
fn a_pull_request_is_read() {
    let host = Host::start();
    host.on(PULL, json_answer(pull()));
    assert_eq!(
        host.github(&[]).pull_request(7).unwrap(),
        PullRequest {
            number: 7,
            title: "Add a cache".to_owned(),
            description: "It is faster.".to_owned(),
            labels: vec!["perf".to_owned(), "size/S".to_owned()],
            author: "alice".to_owned(),
            base_ref: "main".to_owned(),
            base_sha: BASE.to_owned(),
            start_sha: BASE.to_owned(),
            head_ref: "cache".to_owned(),
            head_sha: HEAD.to_owned(),
            from_fork: false,
            url: "https://github.com/octo/repo/pull/7".to_owned(),
        }
    );
    let request = &host.requests()[0];
    assert_eq!(request.headers["accept"], "application/vnd.github+json");
    assert!(request.headers["user-agent"].to_str().unwrap().starts_with("quorum/"));
}

#[test]
fn what_may_be_missing_is_empty() {
    let mut value = pull();
    value["body"] = Value::Null;
    value["user"] = Value::Null;
    let host = Host::always(json_answer(value));
    let pull = host.github(&[]).pull_request(7).unwrap();
    assert_eq!((pull.description.as_str(), pull.author.as_str()), ("", ""));
}

#[test]
fn a_fork_is_known_even_when_it_is_gone() {
    for repo in [json!({"id": 2}), Value::Null] {
        let mut value = pull();
        value["head"]["repo"] = repo;
        let host = Host::always(json_answer(value));
        assert!(host.github(&[]).pull_request(7).unwrap().from_fork);
    }
}

#[test]
fn a_commit_that_is_none_is_refused() {
    for sha in ["--upload-pack=evil", "abc", ""] {
        let mut value = pull();
        value["head"]["sha"] = json!(sha);
        let host = Host::always(json_answer(value));
        let error = host.github(&[]).pull_request(7).unwrap_err();
        assert!(matches!(error, ForgeError::Malformed { .. }), "{error}");
    }
}

#[test]
fn the_token_goes_into_the_authorization() {
    let host = Host::always(json_answer(pull()));
    host.github(&[("GH_TOKEN", TOKEN)]).pull_request(7).unwrap();
    host.github(&[]).pull_request(7).unwrap();
    let requests = host.requests();
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {TOKEN}"));
    assert!(!requests[1].headers.contains_key("authorization"));
}

#[test]
fn a_diff_is_taken_as_it_comes() {
    let text = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\xff\n+b\n";
    let host = Host::start();
    host.mount(
        at_path(PULL)
            .and(header("accept", DIFF))
            .respond_with(ResponseTemplate::new(200).set_body_bytes(text)),
    );
    let diff = host.github(&[]).diff(7).unwrap();
    assert_eq!(diff, PullRequestDiff { text: text.to_vec(), withheld: vec![] });
}

#[test]
fn an_empty_diff_is_a_diff_and_a_page_is_none() {
    let host = Host::always(ResponseTemplate::new(200));
    assert_eq!(host.github(&[]).diff(7).unwrap(), PullRequestDiff::default());
    let host = Host::always(ResponseTemplate::new(200).set_body_string("<html>Log in</html>"));
    let (message, _) = told(&host.github(&[]).diff(7).unwrap_err());
    assert!(message.ends_with("with something else: it is no diff"), "{message}");
}

#[test]
fn a_diff_that_is_too_large_is_built_of_files() {
    let host = too_large();
    let listed = [
        json!({"filename": "n\u{e9}w.rs", "status": "added", "changes": 1,
               "patch": "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file"}),
        json!({"filename": "new", "previous_filename": "old", "status": "renamed", "changes": 0}),
        json!({"filename": "huge.rs", "status": "modified", "changes": 9000}),
        json!({"filename": "x.png", "status": "modified", "changes": 0}),
        json!({"filename": "gone", "status": "removed", "changes": 1, "patch": "@@ -1 +0,0 @@\n-a"}),
    ];
    page(&host, 1, &listed, false);
    let diff = host.github(&[("GITHUB_TOKEN", TOKEN)]).diff(7).unwrap();
    assert_eq!(
        String::from_utf8(diff.text).unwrap(),
        "diff --git \"a/n\\303\\251w.rs\" \"b/n\\303\\251w.rs\"\nnew file mode 100644\n\
         --- /dev/null\n+++ \"b/n\\303\\251w.rs\"\n@@ -0,0 +1 @@\n+a\n\
         \\ No newline at end of file\n\
         diff --git a/old b/new\nrename from old\nrename to new\n\
         diff --git a/huge.rs b/huge.rs\n\
         diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n\
         diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-a\n"
    );
    assert_eq!(diff.withheld, ["huge.rs"]);
    let token = format!("Bearer {TOKEN}");
    assert!(host.requests().iter().all(|request| request.headers["authorization"] == token));
}

#[test]
fn all_pages_are_read() {
    let host = too_large();
    page(&host, 1, &files(0, 100), true);
    page(&host, 2, &files(100, 100), true);
    page(&host, 3, &files(200, 5), false);
    assert_eq!(sections(&host.github(&[]).diff(7).unwrap()), 205);
    assert_eq!(host.requests().len(), 4);
}

#[test]
fn a_short_page_with_a_next_one_is_not_the_last() {
    let host = too_large();
    page(&host, 1, &files(0, 60), true);
    page(&host, 2, &files(60, 1), false);
    assert_eq!(sections(&host.github(&[]).diff(7).unwrap()), 61);
}

/// Thirty full pages, and a pull request that says how many files it has.
fn longest_list(changed_files: &Value) -> Result<PullRequestDiff, ForgeError> {
    let host = too_large();
    for number in 1..=30 {
        let name =
            |n| json!({"filename": format!("{number}-{n}"), "status": "changed", "changes": 0});
        page(&host, number, &(0..100).map(name).collect::<Vec<_>>(), number < 30);
    }
    let mut value = pull();
    value["changed_files"] = changed_files.clone();
    let json = at_path(PULL).and(header("accept", "application/vnd.github+json"));
    host.mount(json.respond_with(json_answer(value)));
    let mut limits = super::support::QUICK;
    limits.body = 1024 * 1024;
    let kind = quorum_model::config::ForgeKind::GitHub;
    super::support::connect_to(kind, &host.server.uri(), &[], limits).diff(7)
}

#[test]
fn a_list_that_ends_early_is_an_error() {
    assert_eq!(sections(&longest_list(&json!(3000)).unwrap()), 3000);
    for count in [json!(3001), Value::Null] {
        let (message, hint) = told(&longest_list(&count).unwrap_err());
        assert!(message.contains("lists only 3000 of the files"), "{message}");
        assert!(hint.contains("--base"), "{hint}");
    }
}
