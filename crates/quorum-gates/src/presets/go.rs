//! Go modules.

use quorum_model::gate::GateCategory;

use super::{Draft, NOT_PROSE, coverage, optional, required};
use crate::tree::{Tree, first_of, folders_with, is_below};

const SOURCES: [&str; 5] = ["*.go", "go.mod", "go.sum", "go.work", "*.s"];

/// Every module by itself: `./...` does not reach into another one.
pub(super) fn folders(tree: &dyn Tree) -> Vec<String> {
    folders_with(tree, &["go.mod"])
}

pub(super) fn checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let mut checks = vec![
        required("build", GateCategory::Build, "go build ./...", 300).on(&SOURCES),
        required("vet", GateCategory::Lint, "go vet ./...", 180).on(&SOURCES),
        optional(
            "format",
            GateCategory::Format,
            // It lists what it would change and succeeds all the same.
            "unformatted=$(gofmt -l .) && echo \"$unformatted\" && test -z \"$unformatted\"",
            30,
        )
        .on(&["*.go"]),
    ];
    let inner = folders(tree);
    let inner: Vec<&String> =
        inner.iter().filter(|other| *other != folder && is_below(other, folder)).collect();
    let mut own = tree
        .paths()
        .iter()
        .filter(|path| is_below(path, folder) && !inner.iter().any(|other| is_below(path, other)));
    if let Some(first) = own.find(|path| path.ends_with("_test.go")) {
        let test = required("test", GateCategory::Test, "go test ./...", 600);
        checks.push(test.on(&NOT_PROSE).because(first.clone()));
    }
    checks.push(
        coverage(
            "go test -coverprofile=\"$QUORUM_REPORTS/cover.out\" ./...",
            600,
            &["$QUORUM_REPORTS/cover.out"],
        )
        .on(&NOT_PROSE),
    );
    let linter = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    if let Some(file) = first_of(tree, folder, &linter) {
        let lint = optional("lint", GateCategory::Lint, "golangci-lint run", 300);
        checks.push(lint.on(&SOURCES).because(file));
    }
    checks
}
