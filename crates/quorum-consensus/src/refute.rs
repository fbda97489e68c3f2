//! Findings that a check has shown to be wrong.
//!
//! A reviewer that says "this does not compile" about what the compiler took is mistaken. Such a
//! finding is marked, not removed: readers decide what to make of it.

use quorum_model::finding::Finding;
use quorum_model::gate::{GateCategory, GateResult, GateStatus};

/// Claims about the form of a file, which reading it disproves.
const SYNTAX: [&str; 6] = [
    "syntax error",
    "does not parse",
    "doesn't parse",
    "cannot be parsed",
    "unbalanced bracket",
    "missing semicolon",
];

/// Claims that a compiler or a type checker disproves.
const COMPILE: [&str; 18] = [
    "not compile",
    "n't compile",
    "cannot compile",
    "fails to compile",
    "fail to compile",
    "compile error",
    "compiler error",
    "compile-time error",
    "compilation error",
    "compilation fail",
    "build fails",
    "fails to build",
    "break the build",
    "breaks the build",
    "build error",
    "undeclared",
    "unresolved import",
    "type mismatch",
];

/// Claims that running the tests disproves.
const TESTS: [&str; 6] = [
    "test fails",
    "tests fail",
    "test will fail",
    "breaks the test",
    "break the test",
    "failing test",
];

/// Marks every finding that one of `gates` disproves.
pub(crate) fn mark(findings: &mut [Finding], gates: &[GateResult]) {
    for finding in findings {
        let by = gates.iter().find(|gate| disproves(gate, finding));
        finding.refuted_by = by.map(|gate| gate.name.clone());
    }
}

fn disproves(gate: &GateResult, finding: &Finding) -> bool {
    if gate.status != GateStatus::Passed || !looks_at(gate, &finding.file) {
        return false;
    }
    let issue = finding.issue.to_lowercase();
    let says = |claims: &[&str]| claims.iter().any(|claim| issue.contains(claim));
    match gate.category {
        // Reading a file is all that some languages do before they run it.
        GateCategory::Build if reads_only(gate) => says(&SYNTAX),
        GateCategory::Build | GateCategory::Typecheck => says(&SYNTAX) || says(&COMPILE),
        GateCategory::Test => says(&TESTS),
        _ => false,
    }
}

fn reads_only(gate: &GateResult) -> bool {
    matches!(gate.preset.as_deref(), Some("python" | "node"))
}

/// Whether the gate looked at `file`: it lies below its folder, in a language of its preset.
fn looks_at(gate: &GateResult, file: &str) -> bool {
    let folder = gate.working_dir.as_str();
    let below =
        folder.is_empty() || file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let ending = file.rsplit('.').next().unwrap_or_default();
    let languages: &[&str] = match gate.preset.as_deref() {
        Some("go") => &["go"],
        Some("rust") => &["rs"],
        Some("python") => &["py", "pyi"],
        Some("maven" | "gradle") => &["java", "kt", "groovy", "scala"],
        Some("cmake") => &["c", "h", "cc", "cpp", "cxx", "hh", "hpp"],
        Some("node") if gate.category == GateCategory::Typecheck => &["ts", "tsx", "mts", "cts"],
        Some("node") => &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        // What a team's own command looks at, nobody else knows; it says what it is about.
        _ => return below,
    };
    below && languages.contains(&ending)
}
