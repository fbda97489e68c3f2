//! Set-up: what `doctor` sees, what the GitHub action's step does, and what is shipped.

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
    sandbox.write("quorum.toml", "provider = \"openai\"\n");
    let output = sandbox.quorum_with(&["doctor"], |command| {
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
    let markers = ["<".repeat(7), "=".repeat(7), ">".repeat(7)];
    let [ours, middle, theirs] = &markers;
    sandbox.write("app.py", format!("{ours} HEAD\na = 1\n{middle}\na = 2\n{theirs} topic\n"));
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
