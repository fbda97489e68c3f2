//! A git that cannot be told to start no program is not used. The gits here are stand-ins, scripts
//! before the real one; `cargo xtask gits` tries real releases.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, text};

/// Commands that ask git about the repository.
const COMMANDS: [&[&str]; 14] = [
    &["plan"],
    &["plan", "--base", "HEAD~1"],
    &["plan", "--diff", "../change.patch"],
    &["review"],
    &["review", "--commit", "HEAD"],
    &["gates", "--list"],
    &["size", "src"],
    &["index"],
    &["symbols", "src/lib.rs"],
    &["config", "show"],
    &["agents"],
    &["rules", "list"],
    &["runs", "list"],
    &["doctor"],
];

/// A repository whose configuration names programs for all that git does here.
fn hostile() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let marker = sandbox.root().join("../marker");
    let touch = format!("sh -c 'touch \"{}\"; cat'", marker.display());
    sandbox.write(".gitattributes", "*.rs filter=evil diff=evil\n");
    sandbox.commit("attributes");
    for key in ["filter.evil.clean", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor"] {
        sandbox.git(&["config", key, &touch]);
    }
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    sandbox.write("../change.patch", "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n");
    (sandbox, marker)
}

/// A script that stands before the real git, in a folder of its own.
fn before_git(sandbox: &Sandbox, script: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a search path");
    let real = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let real = real.into_iter().find(|program| program.is_file()).expect("git");
    let folder = sandbox.root().join("../stand-in");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("git");
    let script = format!("#!/bin/sh\n{script}\nexec '{}' \"$@\"\n", real.display());
    std::fs::write(&program, script).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, mode).expect("an executable script");
    folder
}

/// Runs every command with the git in `folder`: each is refused for the reason in `words`.
fn all_are_refused(sandbox: &Sandbox, folder: Option<&Path>, marker: &Path, words: &str) {
    for arguments in COMMANDS {
        let output = sandbox.quorum_with(arguments, |command| {
            if let Some(folder) = folder {
                let path = std::env::var_os("PATH").expect("a search path");
                let mut folders = vec![folder.to_owned()];
                folders.extend(std::env::split_paths(&path));
                command.env("PATH", std::env::join_paths(folders).expect("a search path"));
            }
        });
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(!marker.exists(), "{arguments:?}: a program of the repository was started");
    }
}

#[test]
fn a_git_without_a_readable_or_new_enough_version_is_refused() {
    let (sandbox, marker) = hostile();
    for (version, words) in [
        ("git version 2.30.9", "git 2.30 is too old: Quorum needs git 2.31 or newer"),
        ("git version 1.99.0", "git 1.99 is too old"),
        ("git version unknown", "the version of git cannot be read from `git version unknown`"),
    ] {
        let script = format!("if [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi");
        let folder = before_git(&sandbox, &script);
        all_are_refused(&sandbox, Some(&folder), &marker, words);
    }
    let said = sandbox.quorum(&["plan"]);
    assert!(said.status.success() && !marker.exists(), "the real git is not refused");
}

#[test]
fn a_git_that_does_not_say_what_it_would_start_is_refused() {
    let (sandbox, marker) = hostile();
    let fails = "case \"$*\" in *--show-scope*) echo 'error: unknown option `show-scope' >&2; exit 129;; esac";
    let folder = before_git(&sandbox, fails);
    all_are_refused(&sandbox, Some(&folder), &marker, "`git config` failed: error: unknown option");
    // An answer without scopes, an empty one, and one of a git that ignores our settings.
    for script in [
        "case \"$*\" in *--show-scope*) printf 'core.bare\\0filter.evil.clean\\0'; exit 0;; esac",
        "case \"$*\" in *--show-scope*) exit 0;; esac",
        "unset GIT_CONFIG_COUNT",
    ] {
        let folder = before_git(&sandbox, script);
        let words = "this git cannot be kept from starting programs";
        all_are_refused(&sandbox, Some(&folder), &marker, words);
    }
}

#[test]
fn a_guard_that_git_does_not_answer_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("src/lib.rs", "pub fn two() {}\n");
    sandbox.commit("two");
    for (query, arguments) in [
        // Whether a past is committed.
        ("ls-files -- .quorum/runs", &["review", "--commit", "HEAD"][..]),
        ("ls-files -- .quorum/runs", &["runs", "list"]),
        // What the policy at the base is.
        ("cat-file blob", &["review", "--commit", "HEAD"]),
        ("check-attr", &["plan", "--commit", "HEAD"]),
        // Which commit is the base.
        ("HEAD^{commit}", &["plan", "--base", "HEAD~1"]),
        ("for-each-ref", &["plan"]),
    ] {
        let script =
            format!("case \"$*\" in *'{query}'*) echo 'fatal: disk on fire' >&2; exit 128;; esac");
        let folder = before_git(&sandbox, &script);
        let path = std::env::var_os("PATH").expect("a search path");
        let mut folders = vec![folder];
        folders.extend(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).expect("a search path");
        let output = sandbox.quorum_with(arguments, |command| {
            command.env("PATH", path);
        });
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{query} for {arguments:?}: {said}");
        assert!(said.contains("failed: "), "{query} for {arguments:?}: {said}");
    }
}

/// With a real git of before 2.31 on the search path, which `cargo xtask gits` puts there.
#[test]
#[ignore = "needs an old git: cargo xtask gits"]
fn an_old_git_is_refused() {
    let (sandbox, marker) = hostile();
    assert!(!marker.exists(), "making the repository starts nothing");
    all_are_refused(&sandbox, None, &marker, "is too old: Quorum needs git 2.31 or newer");
}
