//! What a review asks of a ledger that has 100,000 findings in it.

use std::path::Path;

use divan::Bencher;
use quorum_model::finding::Finding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::scope::Scope;
use quorum_store::ledger::Ledger;
use quorum_store::ledger::judge::{Outside, Review};
use serde_json::json;

const FILES: usize = 10_000;
const PER_FILE: usize = 10;
/// A large pull request.
const CHANGED: usize = 100;

fn main() {
    divan::main();
}

fn finding(file: usize, number: usize) -> Finding {
    serde_json::from_value(json!({
        "id": "GO-001", "fingerprint": format!("{file:016x}{number:016x}"), "severity": "HIGH",
        "category": "errors", "rule": "go/dropped-error", "file": path(file),
        "line": number * 10 + 1, "end_line": number * 10 + 1, "evidence": format!("_ = f{number}()"),
        "issue": "The error is dropped, so nobody learns that the write failed.",
        "recommendation": "Return it.", "cwe": null, "agents": ["go-reviewer"],
        "corroboration": 1, "confidence": 0.9, "state": "new",
    }))
    .expect("a finding")
}

fn path(file: usize) -> String {
    format!("internal/part{}/file{file}.go", file % 100)
}

fn scope(files: impl Iterator<Item = usize>) -> Scope {
    let files: Vec<_> = files
        .map(|file| {
            json!({
                "path": path(file), "old_path": null, "change": "modified", "language": "Go",
                "kind": "code", "tokens": 10, "flags": [], "hunks": [],
            })
        })
        .collect();
    serde_json::from_value(json!({
        "kind": "base", "label": "main...HEAD", "base": "1", "head": "2", "files": files,
    }))
    .expect("a scope")
}

fn outcome(files: usize) -> AgentOutcome {
    let covered =
        (0..files).map(|file| json!({ "path": path(file), "start_line": 1, "end_line": 99 }));
    serde_json::from_value(json!({
        "run": "r", "agent": "go-reviewer", "engine": "builtin", "model": null,
        "status": "completed", "cutoff_reason": null, "error": null, "mode": "full_analysis",
        "usage": { "budget": 0, "budget_used": 0, "tokens": 0, "usd": 0.0, "calls": 0 },
        "covered": covered.collect::<Vec<_>>(), "findings": [],
    }))
    .expect("an outcome")
}

fn review<'a>(
    run: &'a str,
    scope: &'a Scope,
    findings: &'a [Finding],
    outcomes: &'a [AgentOutcome],
    text: &'a dyn Fn(&str) -> Option<String>,
) -> Review<'a> {
    let at = "2026-11-16T00:00:00Z".parse().expect("a moment");
    let outside = &|_: &str| Outside::Unknown;
    Review { run, at, scope, findings, outcomes, text, outside }
}

fn fill(root: &Path) {
    let mut ledger = Ledger::open(root, None).expect("a ledger");
    let scope = scope(0..FILES);
    let findings: Vec<Finding> = (0..FILES)
        .flat_map(|file| (0..PER_FILE).map(move |number| finding(file, number)))
        .collect();
    let review = review("r0", &scope, &findings, &[], &|_| None);
    let judgement = ledger.judge(&review, Vec::new()).expect("a judgement");
    ledger.record(&review, &judgement).expect("it is recorded");
}

/// Half of the findings of the changed files are still there, half are gone.
#[divan::bench(sample_count = 50)]
fn judge_a_large_pull_request(bencher: Bencher<'_, '_>) {
    let root = tempfile::tempdir().expect("a folder");
    fill(root.path());
    let scope = scope(0..CHANGED);
    let findings: Vec<Finding> = (0..CHANGED)
        .flat_map(|file| (0..PER_FILE / 2).map(move |number| finding(file, number)))
        .collect();
    let outcomes = [outcome(CHANGED)];
    let content =
        (0..99).map(|line| ["line ", &line.to_string(), "\n"].concat()).collect::<String>();
    let text = |_: &str| Some(content.clone());
    bencher.bench_local(|| {
        let ledger = Ledger::open(root.path(), None).expect("a ledger");
        let review = review("r1", &scope, &findings, &outcomes, &text);
        let judgement = ledger.judge(&review, Vec::new()).expect("a judgement");
        assert_eq!((judgement.findings.len(), judgement.gone.len()), (500, 500));
        judgement
    });
}
