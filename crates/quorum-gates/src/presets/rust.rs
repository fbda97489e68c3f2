//! Cargo packages and workspaces.

use quorum_model::gate::GateCategory;

use super::{Draft, coverage, optional, required};
use crate::tree::{Tree, folders_with, outermost};

const SOURCES: [&str; 5] = ["*.rs", "Cargo.toml", "Cargo.lock", ".cargo/*", "rust-toolchain*"];

/// Doc comments include pages, so prose can break a test.
const TESTED: [&str; 3] = ["*", "!LICENSE*", "!.github/**"];

pub(super) fn folders(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &["Cargo.toml"]))
}

pub(super) fn checks(_: &dyn Tree, _: &str) -> Vec<Draft> {
    let build = "cargo build --workspace --all-targets";
    let clippy = "cargo clippy --workspace --all-targets -- -D warnings";
    vec![
        required("build", GateCategory::Build, build, 900).on(&SOURCES),
        optional("clippy", GateCategory::Lint, clippy, 600).on(&SOURCES),
        optional("format", GateCategory::Format, "cargo fmt --all --check", 60).on(&["*.rs"]),
        required("test", GateCategory::Test, "cargo test --workspace", 900).on(&TESTED),
        coverage(
            "cargo llvm-cov --workspace --lcov --output-path \"$QUORUM_REPORTS/lcov.info\"",
            900,
            &["$QUORUM_REPORTS/lcov.info"],
        )
        .on(&TESTED),
    ]
}
