//! GitLab's answers.

use serde_json::{Value, json};
use wiremock::ResponseTemplate;
use wiremock::matchers::query_param;

use super::support::{BASE, HEAD, Host, MERGE, TOKEN, at_path, json_answer, merge_request, told};
use crate::{ForgeError, PullRequest, PullRequestDiff};

fn host_with(value: &Value) -> Host {
    let host = Host::start();
    host.on(MERGE, json_answer(value));
    host
}

fn page(host: &Host, number: u32, files: &[Value], next: Option<&str>) {
    let mut answer = json_answer(files);
    if let Some(next) = next {
        answer = answer.insert_header("x-next-page", next);
    }
    let mock = at_path(&format!("{MERGE}/diffs"))
        .and(query_param("per_page", "100"))
        .and(query_param("page", number.to_string()));
    host.mount(mock.respond_with(answer));
}

fn files(from: usize, count: usize) -> Vec<Value> {
    let file = |n: usize| {
        let name = format!("f{n}");
        json!({"old_path": name, "new_path": name, "diff": "@@ -1 +1 @@\n-a\n+b\n"})
    };
    (from..from + count).map(file).collect()
}

fn sections(diff: &PullRequestDiff) -> usize {
    let text = String::from_utf8_lossy(&diff.text);
    text.lines().filter(|line| line.starts_with("diff --git ")).count()
}

#[test]
fn a_merge_request_is_read() {
    assert_eq!(
        host_with(&merge_request()).gitlab(&[]).pull_request(7).unwrap(),
        PullRequest {
            number: 7,
            title: "Add a cache".to_owned(),
            description: "It is faster.".to_owned(),
            labels: vec!["perf".to_owned(), "size::S".to_owned()],
            author: "alice".to_owned(),
            base_ref: "main".to_owned(),
            base_sha: BASE.to_owned(),
            start_sha: BASE.to_owned(),
            head_ref: "cache".to_owned(),
            head_sha: HEAD.to_owned(),
            from_fork: false,
            url: "https://gitlab.com/group/sub/project/-/merge_requests/7".to_owned(),
        }
    );
}

#[test]
fn a_fork_is_known_even_when_it_is_gone() {
    for source in [json!(2), Value::Null] {
        let mut value = merge_request();
        value["source_project_id"] = source;
        assert!(host_with(&value).gitlab(&[]).pull_request(7).unwrap().from_fork);
    }
}

#[test]
fn a_merge_request_without_commits_is_not_ready() {
    let mut value = merge_request();
    value["diff_refs"] = Value::Null;
    let (message, hint) = told(&host_with(&value).gitlab(&[]).pull_request(7).unwrap_err());
    assert!(message.contains("is still preparing merge request 7"), "{message}");
    assert_eq!(hint, "try again in a minute");
}

#[test]
fn each_token_has_its_header() {
    let host = host_with(&merge_request());
    let both = [("CI_JOB_TOKEN", "job"), ("GITLAB_TOKEN", TOKEN)];
    host.gitlab(&both).pull_request(7).unwrap();
    host.gitlab(&both[..1]).pull_request(7).unwrap();
    host.gitlab(&[("GITHUB_TOKEN", TOKEN), ("GITLAB_TOKEN", " ")]).pull_request(7).unwrap();
    let requests = host.requests();
    let header = |index: usize, name| {
        requests[index].headers.get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(header(0, "private-token").as_deref(), Some(TOKEN));
    assert_eq!(header(0, "job-token"), None);
    assert_eq!(header(1, "private-token"), None);
    assert_eq!(header(1, "job-token").as_deref(), Some("job"));
    for name in ["private-token", "job-token", "authorization"] {
        assert_eq!(header(2, name), None);
    }
}

#[test]
fn a_diff_is_built_of_files() {
    let host = host_with(&merge_request());
    let listed = [
        json!({"old_path": "m.rs", "new_path": "m.rs", "a_mode": "100644", "b_mode": "100755",
               "diff": "@@ -1 +1 @@\n-a\n+b\n"}),
        json!({"old_path": "n.rs", "new_path": "n.rs", "a_mode": "0", "b_mode": "100755",
               "new_file": true, "diff": "@@ -0,0 +1 @@\n+a\n"}),
        json!({"old_path": "d.rs", "new_path": "d.rs", "a_mode": "100644", "b_mode": "0",
               "deleted_file": true, "diff": "@@ -1 +0,0 @@\n-a\n"}),
        json!({"old_path": "o \u{e9}", "new_path": "o", "a_mode": "100644", "b_mode": "100644",
               "renamed_file": true, "diff": "", "too_large": false, "collapsed": false}),
        json!({"old_path": "big", "new_path": "big", "diff": "", "too_large": true}),
        json!({"old_path": "folded", "new_path": "folded", "diff": "", "collapsed": true}),
        json!({"old_path": "x.png", "new_path": "x.png",
               "diff": "Binary files a/x.png and b/x.png differ\n"}),
    ];
    page(&host, 1, &listed, Some(""));
    let diff = host.gitlab(&[]).diff(7).unwrap();
    assert_eq!(
        String::from_utf8(diff.text).unwrap(),
        "diff --git a/m.rs b/m.rs\nold mode 100644\nnew mode 100755\n--- a/m.rs\n+++ b/m.rs\n\
         @@ -1 +1 @@\n-a\n+b\n\
         diff --git a/n.rs b/n.rs\nnew file mode 100755\n--- /dev/null\n+++ b/n.rs\n\
         @@ -0,0 +1 @@\n+a\n\
         diff --git a/d.rs b/d.rs\ndeleted file mode 100644\n--- a/d.rs\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-a\n\
         diff --git \"a/o \\303\\251\" b/o\nrename from \"o \\303\\251\"\nrename to o\n\
         diff --git a/big b/big\n\
         diff --git a/folded b/folded\n\
         diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n"
    );
    assert_eq!(diff.withheld, ["big", "folded"]);
}

#[test]
fn all_pages_are_read() {
    let host = host_with(&merge_request());
    page(&host, 1, &files(0, 100), Some("2"));
    page(&host, 2, &files(100, 100), Some("3"));
    page(&host, 3, &files(200, 3), Some(""));
    assert_eq!(sections(&host.gitlab(&[]).diff(7).unwrap()), 203);
}

#[test]
fn a_full_page_without_the_header_is_not_the_last() {
    let host = host_with(&merge_request());
    page(&host, 1, &files(0, 100), None);
    page(&host, 2, &files(100, 3), None);
    assert_eq!(sections(&host.gitlab(&[]).diff(7).unwrap()), 103);
}

#[test]
fn pages_that_go_in_circles_end() {
    let host = host_with(&merge_request());
    page(&host, 1, &files(0, 100), Some("1"));
    assert_eq!(sections(&host.gitlab(&[]).diff(7).unwrap()), 100);
}

#[test]
fn a_list_that_ends_early_is_an_error() {
    let mut value = merge_request();
    value["changes_count"] = json!("2+");
    let host = host_with(&value);
    page(&host, 1, &files(0, 2), Some(""));
    let error = host.gitlab(&[]).diff(7).unwrap_err();
    assert!(matches!(error, ForgeError::Truncated { listed: 2, .. }), "{error}");
    assert!(told(&error).1.contains("--base"));
}

#[test]
fn a_job_token_that_does_not_suffice_is_named() {
    let host = Host::always(ResponseTemplate::new(404));
    let error = host.gitlab(&[("CI_JOB_TOKEN", TOKEN)]).pull_request(7).unwrap_err();
    let (message, hint) = told(&error);
    assert!(message.ends_with("shows no merge request 7 of group/sub/project"), "{message}");
    assert!(hint.contains("set GITLAB_TOKEN") && hint.contains("CI_JOB_TOKEN"), "{hint}");
}
