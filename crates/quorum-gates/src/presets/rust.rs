//! Cargo packages and workspaces.

use quorum_model::gate::GateCategory;

use super::{Draft, coverage, optional, required};
use crate::tree::{Tree, folders_with, is_below, outermost};

const SOURCES: [&str; 5] = ["*.rs", "Cargo.toml", "Cargo.lock", ".cargo/*", "rust-toolchain*"];

/// Doc comments include pages, so prose can break a test.
const TESTED: [&str; 3] = ["*", "!LICENSE*", "!.github/**"];

pub(super) fn folders(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &["Cargo.toml"]))
}

pub(super) fn checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let build = "cargo build --workspace --all-targets";
    let clippy = "cargo clippy --workspace --all-targets -- -D warnings";
    let mut checks = vec![
        required("build", GateCategory::Build, build, 900).on(&SOURCES),
        optional("clippy", GateCategory::Lint, clippy, 600).on(&SOURCES),
        optional("format", GateCategory::Format, "cargo fmt --all --check", 60).on(&["*.rs"]),
        coverage(
            "cargo llvm-cov --workspace --lcov --output-path \"$QUORUM_REPORTS/lcov.info\"",
            900,
            &["$QUORUM_REPORTS/lcov.info"],
        )
        .on(&TESTED),
    ];
    if let Some(first) = first_test(tree, folder) {
        let test = required("test", GateCategory::Test, "cargo test --workspace", 900);
        checks.insert(3, test.on(&TESTED).because(first));
    }
    checks
}

/// A file with a test in it, or with an example in its documentation, which is one too.
fn first_test(tree: &dyn Tree, folder: &str) -> Option<String> {
    let own = || tree.paths().iter().filter(|path| is_below(path, folder) && path.ends_with(".rs"));
    let in_tests = |path: &&String| path.split('/').any(|part| part == "tests");
    let tested = |path: &&String| tree.text(path).is_some_and(|text| has_test(&text));
    own().find(in_tests).or_else(|| own().find(tested)).cloned()
}

fn has_test(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let attribute = line.starts_with("#[") && line.contains("test");
        let example = (line.starts_with("///") || line.starts_with("//!")) && line.contains("```");
        let included = line.contains("include_str!") && line.contains("doc");
        attribute
            || example
            || included
            || line.starts_with("proptest!")
            || line.starts_with("quickcheck!")
    })
}
