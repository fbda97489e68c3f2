//! Set-up: what `doctor` sees, what the jobs for GitHub and GitLab do, and what is shipped.

use std::path::Path;
use std::process::{Command, Output};

use crate::sandbox::{Sandbox, text};

#[test]
fn a_sound_set_up_is_good() {
    let output = Sandbox::new().quorum(&["doctor"]);
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("provider builtin: offline"), "{page}");
}

#[test]
fn what_is_wrong_comes_with_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("quorum.toml", "provider = \"anthropic\"\n");
    let output = sandbox.quorum(&["doctor"]);
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("not used without your consent") && page.contains("builtin"), "{page}");
    let output = sandbox.quorum_with(&["doctor"], |command| {
        command.env("QUORUM_PROVIDER", "anthropic");
    });
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{page}");
    assert!(page.contains("set ANTHROPIC_API_KEY"), "{page}");
    sandbox.write("quorum.toml", "fial_on = \"high\"\n");
    let output = sandbox.quorum(&["doctor"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("fail_on"), "{}", text(&output.stdout));
}

#[test]
fn a_key_is_never_shown() {
    let sandbox = Sandbox::new();
    let output = sandbox.quorum_with(&["doctor"], |command| {
        command.env("QUORUM_PROVIDER", "openai");
        command.env("OPENAI_API_KEY", "the-key").env("GITHUB_TOKEN", "the-token");
    });
    let page = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("OPENAI_API_KEY") && page.contains("GITHUB_TOKEN"), "{page}");
    assert!(!page.contains("the-key") && !page.contains("the-token"));
}

#[test]
fn manual_pages_are_written() {
    let sandbox = Sandbox::bare_folder();
    assert!(sandbox.quorum(&["man", "man1"]).status.success());
    let page =
        std::fs::read_to_string(sandbox.root().join("man1/quorum-review.1")).expect("a page");
    assert!(page.contains("fail"), "{page}");
}

/// A file that a merge left in pieces, written so that this one does not look like that.
fn conflict() -> String {
    let [ours, middle, theirs] = ["<", "=", ">"].map(|sign| sign.repeat(7));
    format!("{ours} HEAD\na = 1\n{middle}\na = 2\n{theirs} topic\n")
}

/// Runs the step of the GitHub action as a runner does.
#[expect(clippy::disallowed_methods, reason = "the script under test")]
fn action(sandbox: &Sandbox, base: &str, fail: &str) -> (Output, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/github/review.sh");
    let outputs = sandbox.root().join("outputs.txt");
    let output = Command::new("bash")
        .arg(script)
        .current_dir(sandbox.root())
        .env("RUNNER_TEMP", sandbox.root().join("runner"))
        .env("GITHUB_OUTPUT", &outputs)
        .env("GITHUB_STEP_SUMMARY", sandbox.root().join("summary.md"))
        .env("QUORUM_BINARY", env!("CARGO_BIN_EXE_quorum"))
        .env("QUORUM_SOURCE", "unused")
        .env("QUORUM_BASE", base)
        .env("QUORUM_FAIL", fail)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("bash runs");
    (output, std::fs::read_to_string(outputs).unwrap_or_default())
}

#[test]
fn the_action_fails_with_the_review_and_says_why() {
    let sandbox = Sandbox::new();
    let base = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.write("app.py", conflict());
    sandbox.commit("merge");
    let (output, outputs) = action(&sandbox, base.trim(), "true");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(outputs.contains("exit-code=1\n") && outputs.contains("verdict="), "{outputs}");
    assert!(text(&output.stdout).contains("::error file=app.py"), "{}", text(&output.stdout));
    for name in ["sarif", "html", "markdown", "result"] {
        let line = outputs.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        assert!(line.is_some_and(|path| Path::new(path).is_file()), "{name}: {outputs}");
    }
    let (output, _) = action(&sandbox, base.trim(), "false");
    assert!(output.status.success(), "the caller wants to decide: {}", text(&output.stderr));
}

#[test]
fn the_action_never_passes_without_a_verdict() {
    let sandbox = Sandbox::new();
    let (output, outputs) = action(&sandbox, "no-such-revision", "false");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(outputs.contains("verdict=\n"), "{outputs}");
}

/// The script of the GitLab job, one line for each entry, as the runner joins them.
fn gitlab_script() -> String {
    let template =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/gitlab/quorum.gitlab-ci.yml");
    let text = std::fs::read_to_string(template).expect("the template");
    let jobs: serde_json::Value = serde_saphyr::from_str(&text).expect("YAML");
    let lines = jobs["quorum"]["script"].as_array().expect("a script");
    lines.iter().filter_map(|line| line.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the script under test")]
fn the_gitlab_job_leaves_its_reports_and_fails_with_the_review() {
    let sandbox = Sandbox::new();
    let base = sandbox.git(&["rev-parse", "HEAD"]);
    let job = |base: &str| {
        let output = Command::new("bash")
            .args(["-e", "-c", &gitlab_script()])
            .current_dir(sandbox.root())
            .env("QUORUM_COMMAND", env!("CARGO_BIN_EXE_quorum"))
            .env("QUORUM_IMAGE", "quorum:latest")
            .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.trim())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output();
        output.expect("bash runs")
    };
    sandbox.write("README.md", "# Fine\n");
    sandbox.commit("fine");
    assert_eq!(job(&base).status.code(), Some(0));
    sandbox.write("app.py", conflict());
    sandbox.commit("merge");
    let output = job(&base);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    for report in ["gl-code-quality-report.json", "quorum.junit.xml", "quorum.html"] {
        let report = std::fs::read_to_string(sandbox.root().join(report)).expect("a report");
        assert!(report.contains("app.py"), "{report}");
    }
    assert_eq!(job("no-such-revision").status.code(), Some(2));
}
