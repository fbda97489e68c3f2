//! Whole commands, beside git doing the least that the same answer takes.
//!
//! The goals: `--version` in 10 ms, and a plan of a 5,000-file change in 2 s.

#![expect(clippy::disallowed_methods, reason = "whole programs are measured")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

fn main() {
    divan::main();
    drop(fs::remove_dir_all(folder()));
}

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("quorum-bench-{}", std::process::id()))
}

#[divan::bench]
fn version() {
    run(Command::new(env!("CARGO_BIN_EXE_quorum")).arg("--version"));
}

#[divan::bench]
fn git_version() {
    run(Command::new("git").arg("--version"));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn plan_of_5000_files() {
    let plan = ["plan", "--commit", "HEAD", "--format", "json", "--quiet"];
    // Nothing is remembered from the sample before.
    drop(fs::remove_dir_all(repository().join(".quorum")));
    run(Command::new(env!("CARGO_BIN_EXE_quorum")).args(plan).current_dir(repository()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn git_diff_of_5000_files() {
    run(Command::new("git").args(["show", "--patch", "HEAD"]).current_dir(repository()));
}

/// A repository whose last commit edits 5,000 files of 6 KB each.
fn repository() -> &'static Path {
    static REPOSITORY: OnceLock<PathBuf> = OnceLock::new();
    REPOSITORY.get_or_init(|| {
        let root = folder();
        let git = |arguments: &[&str]| {
            let who = ["-c", "user.name=B", "-c", "user.email=b@example.org"];
            run(Command::new("git").args(who).args(arguments).current_dir(&root));
        };
        let source = include_str!("../src/output.rs");
        for round in 0..2 {
            for index in 0..5_000 {
                let folder = root.join(format!("src/part{}", index % 50));
                fs::create_dir_all(&folder).expect("a folder");
                let start = index * 7 % 2_000;
                let start = source.ceil_char_boundary(start);
                let end = source.ceil_char_boundary(start + 6_000);
                let text = format!("// file {index}, round {round}\n{}\n", &source[start..end]);
                fs::write(folder.join(format!("file{index}.rs")), text).expect("a file");
            }
            if round == 0 {
                git(&["init", "--quiet"]);
            }
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "-m", "round"]);
        }
        root
    })
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
}
