//! Values for tests.

use quorum_model::budget::Mode;
use quorum_model::finding::{AgentFinding, Finding, Position};
use quorum_model::outcome::{AgentOutcome, Covered, OutcomeStatus, Usage};
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;

use crate::clock::Clock;

pub(crate) fn clock() -> Clock {
    Clock::fixed("2026-11-16T05:21:11.009Z".parse().unwrap())
}

pub(crate) fn finding(file: &str, line: u64) -> AgentFinding {
    serde_json::from_value(serde_json::json!({
        "severity": Severity::High,
        "category": "errors",
        "file": file,
        "line": line,
        "evidence": "_ = f()",
        "issue": format!("The error of line {line} is dropped."),
        "recommendation": "Return it.",
        "confidence": 0.1 + 0.2,
    }))
    .unwrap()
}

pub(crate) fn outcome(run: &str, agent: &str, findings: Vec<AgentFinding>) -> AgentOutcome {
    AgentOutcome {
        run: run.to_owned(),
        agent: agent.to_owned(),
        engine: "builtin".to_owned(),
        model: None,
        status: OutcomeStatus::Completed,
        cutoff_reason: None,
        error: None,
        mode: Mode::FullAnalysis,
        usage: Usage { budget: 8192, budget_used: 100, tokens: 100, usd: 0.0, calls: 1 },
        covered: vec![Covered::reviewed("a.go", 1, 40)],
        bounded: Vec::new(),
        unreadable: Vec::new(),
        not_compared: None,
        findings,
        suppressed: Vec::new(),
        skipped: None,
        rejected: std::collections::BTreeMap::new(),
        reactions: Vec::new(),
        sops: Vec::new(),
        patterns: Vec::new(),
        notes: Vec::new(),
    }
}

/// A plan for one file and one agent.
pub(crate) fn plan() -> Plan {
    serde_json::from_value(serde_json::json!({
        "scope": {
            "kind": "base", "label": "main...HEAD", "base": "1", "head": "2",
            "files": [{
                "path": "a.go", "old_path": null, "change": "modified", "language": "Go",
                "kind": "code", "tokens": 10, "flags": [], "hunks": [],
            }],
        },
        "tokenizer": "o200k", "total_tokens": 10,
        "tier": {
            "name": "SIMPLE", "base_score": 7, "adjusted_score": 7.0, "dimensions": {},
            "multipliers": [],
        },
        "isolation": "shared", "protocol": "veto",
        "agents": [{
            "name": "go-reviewer", "budget": 8192, "base_budget": 8192, "veto": true,
            "engine": "builtin", "model": null, "reason": "Go files", "files": ["a.go"],
            "shard_limit": 4096, "shards": [],
        }],
        "unassigned": [],
        "ceilings": { "calls": 1, "tokens": 100, "seconds": 1, "usd": null },
        "warnings": [],
    }))
    .unwrap()
}

/// A result without findings.
pub(crate) fn result(run: &str) -> ReviewResult {
    serde_json::from_value(serde_json::json!({
        "run": run, "verdict": "APPROVED", "exit_code": 0, "reasons": [],
        "execution": { "agents": [] },
        "coverage": { "files": [], "uncovered": [], "gaps": [] },
        "findings": [],
    }))
    .unwrap()
}

/// A finding of a review.
pub(crate) fn published(fingerprint: &str, file: &str, line: u64) -> Finding {
    serde_json::from_value(serde_json::json!({
        "id": "GO-001", "fingerprint": fingerprint, "severity": "HIGH", "category": "errors",
        "rule": "go/dropped-error", "file": file, "line": line, "end_line": line,
        "evidence": "_ = f()", "issue": "The error is dropped.", "recommendation": "Return it.",
        "cwe": null, "agents": ["go-reviewer"], "corroboration": 1, "confidence": 0.9,
        "state": "new",
    }))
    .unwrap()
}

/// What an agent says about a finding, in the finding's own words.
pub(crate) fn position(agent: &str, finding: &AgentFinding) -> Position {
    Position {
        agent: agent.to_owned(),
        fingerprint: "p".to_owned(),
        severity: finding.severity,
        confidence: 0.9,
        category: finding.category.clone(),
        rule: None,
        line: finding.line.unwrap(),
        end_line: finding.line.unwrap(),
        evidence: None,
        issue: finding.issue.clone(),
        recommendation: finding.recommendation.clone(),
    }
}
