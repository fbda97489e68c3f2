//! Results in every format, from real runs.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use crate::sandbox::{Sandbox, text};

/// A repository with a change that is blocked: a merge conflict that was committed, and a secret
/// beside it. The key is put together here, because this file is reviewed too.
fn conflicted() -> Sandbox {
    let sandbox = Sandbox::new();
    let key = ["AKIA", "Z7QN4XWJ2MPK6RTB"].concat();
    let ours = "<".repeat(7);
    let (middle, theirs) = ("=".repeat(7), ">".repeat(7));
    let body =
        format!("KEY = \"{key}\"\n{ours} HEAD\nvalue = 1\n{middle}\nvalue = 2\n{theirs} topic\n");
    sandbox.write("app/settings.py", body);
    sandbox.commit("settings");
    sandbox
}

fn review(sandbox: &Sandbox, format: &str) -> String {
    let output = sandbox.quorum(&["-q", "review", "--commit", "HEAD", "--format", format]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn ids(result: &Value) -> Vec<String> {
    let findings = result["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn every_format_of_a_run_names_its_findings_and_its_verdict() {
    let sandbox = conflicted();
    let result: Value = serde_json::from_str(&review(&sandbox, "json")).expect("JSON");
    let ids = ids(&result);
    assert!(!ids.is_empty());
    for format in ["markdown", "sarif", "html", "gitlab", "junit", "rdjsonl", "github"] {
        let output = sandbox.quorum(&["report", "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}: the exit code is the run's");
        let report = text(&output.stdout);
        for id in &ids {
            assert!(report.contains(id.as_str()), "{format} does not name {id}");
        }
    }
}

#[test]
fn only_who_asks_for_it_is_shown_a_secret() {
    let sandbox = conflicted();
    let arguments = ["review", "--commit", "HEAD", "--agents", "security", "--format", "json"];
    let result: Value = serde_json::from_slice(&sandbox.quorum(&arguments).stdout).expect("JSON");
    let findings = result["findings"].as_array().expect("findings");
    let secret = findings.iter().find(|finding| finding["category"] == "secrets").expect("it");
    let id = secret["id"].as_str().expect("an id");
    let masked = text(&sandbox.quorum(&["show", id]).stdout);
    assert!(masked.contains("KEY = \"") && !masked.contains("Z7QN4XWJ2MPK6RTB"), "{masked}");
    let revealed = text(&sandbox.quorum(&["show", id, "--reveal"]).stdout);
    assert!(revealed.contains("Z7QN4XWJ2MPK6RTB"), "{revealed}");
    assert!(!text(&sandbox.quorum(&["report"]).stdout).contains("Z7QN4XWJ2MPK6RTB"));
}

#[test]
fn no_format_shows_a_secret_that_stands_beside_a_finding() {
    let sandbox = conflicted();
    let key = ["Z7QN4XWJ2MPK6RTB"].concat();
    review(&sandbox, "terminal");
    for format in ["json", "markdown", "sarif", "html", "gitlab", "junit", "rdjsonl", "github"] {
        let report = text(&sandbox.quorum(&["report", "--format", format]).stdout);
        assert!(!report.is_empty(), "{format}");
        assert!(!report.contains(&key), "{format} shows the key");
    }
}

#[test]
fn a_report_shows_the_code_as_it_was_reviewed() {
    let sandbox = conflicted();
    review(&sandbox, "terminal");
    sandbox.write("app/settings.py", "something = \"else\"\n");
    let page = text(&sandbox.quorum(&["report", "--format", "markdown"]).stdout);
    assert!(page.contains("│ value = 1"), "{page}");
    assert!(!page.contains("something"), "{page}");
}

#[test]
fn a_report_goes_to_a_file() {
    let sandbox = conflicted();
    review(&sandbox, "terminal");
    let output = sandbox.quorum(&["report", "--format", "sarif", "-o", "out.sarif"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let sarif = std::fs::read(sandbox.root().join("out.sarif")).expect("the file");
    let sarif: Value = serde_json::from_slice(&sarif).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["invocations"][0]["exitCode"], 1);
}

/// Whoever may write to `/dev/null` may also replace it, and every program would read the report there.
#[test]
fn a_pipe_that_a_report_goes_to_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt as _;

    let sandbox = conflicted();
    let result = review(&sandbox, "json");
    assert!(!result.is_empty());
    let pipe = sandbox.root().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    let named = pipe.display().to_string();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).expect("what was written")
    });
    let output = sandbox.quorum(&["report", "--format", "markdown", "--output", &named]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let kind = std::fs::symlink_metadata(&pipe).expect("it is there").file_type();
    assert!(kind.is_fifo(), "{kind:?}");
    let read = reader.join().expect("the reader");
    assert!(read.contains("app/settings.py"), "{read}");
}

#[test]
fn a_workflow_gets_annotations_and_a_summary() {
    let sandbox = conflicted();
    let summary = sandbox.root().join("summary.md");
    let arguments = ["-q", "review", "--commit", "HEAD", "--format", "github"];
    let output = sandbox.quorum_with(&arguments, |command| {
        command.env("GITHUB_STEP_SUMMARY", &summary);
    });
    assert!(text(&output.stdout).starts_with("::error file=app/settings.py,line="));
    let summary = std::fs::read_to_string(summary).expect("a summary");
    assert!(summary.starts_with("## "), "{summary}");
}

#[test]
fn a_run_that_is_not_there_has_no_report() {
    let sandbox = Sandbox::new();
    assert!(sandbox.fails(&["report"]).contains("hint"));
}
