//! The two reports that the terminal must print well, decided from what agents return.

use quorum_consensus::{Input, Policy, decide};
use quorum_model::agent::Agent;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;
use serde_json::{Value, json};

use super::{Options, render, text};
use crate::report::Report;

const AGENTS: [(&str, &str); 3] = [
    ("security-reviewer", "Security"),
    ("vulnerability-reviewer", "Vulnerability"),
    ("code-quality-reviewer", "Code Quality"),
];

fn plan(label: &str, files: &[String]) -> Plan {
    let units: Vec<Value> = files
        .iter()
        .map(|path| json!({"path": path, "kind": "span", "start_line": 1, "end_line": 80, "tokens": 900}))
        .collect();
    let entries: Vec<Value> = files
        .iter()
        .map(|path| {
            json!({"path": path, "old_path": null, "change": "modified", "language": "Go",
                   "kind": "code", "tokens": 900, "flags": [], "hunks": []})
        })
        .collect();
    let agents: Vec<Value> = AGENTS
        .iter()
        .map(|(name, _)| {
            json!({"name": name, "budget": 8192, "base_budget": 8192, "veto": true,
                   "engine": "openai", "model": "gpt", "reason": "selected", "files": files,
                   "shard_limit": 8000,
                   "shards": [{"wave": 1, "tokens": 9000, "units": units}]})
        })
        .collect();
    serde_json::from_value(json!({
        "scope": {"kind": "paths", "label": label, "base": null, "head": null, "files": entries},
        "tokenizer": "o200k", "total_tokens": 10_800,
        "tier": {"name": "STANDARD", "base_score": 12, "adjusted_score": 12.0,
                 "dimensions": {}, "multipliers": []},
        "isolation": "shared", "protocol": "veto", "agents": agents, "unassigned": [],
        "ceilings": {"calls": 12, "tokens": 100_000, "seconds": 600, "usd": null},
        "warnings": [],
    }))
    .expect("a plan")
}

fn definitions() -> Vec<Agent> {
    AGENTS
        .iter()
        .map(|(name, title)| {
            serde_json::from_value(json!({
                "name": name, "title": title, "focus": "", "base_budget": 8192, "veto": true,
                "domain": {}, "categories": [], "instructions": "", "origin": "embedded",
                "veto_criteria": [{"id": "secret-in-code", "min_severity": "MEDIUM",
                                   "categories": ["secrets"], "when": "A secret is in the code."}],
            }))
            .expect("an agent")
        })
        .collect()
}

fn outcome(agent: usize, seen: &[String], findings: &[Value]) -> AgentOutcome {
    let covered: Vec<Value> =
        seen.iter().map(|path| json!({"path": path, "start_line": 1, "end_line": 80})).collect();
    serde_json::from_value(json!({
        "run": "01J", "agent": AGENTS[agent].0, "engine": "openai", "model": "gpt",
        "status": "completed", "cutoff_reason": null, "error": null, "mode": "full_analysis",
        "usage": {"budget": 8192, "budget_used": 6100, "tokens": 7200, "usd": 0.0123, "calls": 2},
        "covered": covered, "findings": findings,
    }))
    .expect("an outcome")
}

fn finding(
    severity: &str,
    category: &str,
    place: (&str, u64),
    quote: &str,
    says: [&str; 2],
) -> Value {
    json!({"severity": severity, "category": category, "file": place.0, "line": place.1,
           "evidence": quote, "issue": says[0], "recommendation": says[1], "confidence": 0.9})
}

fn result(plan: &Plan, outcomes: &[AgentOutcome]) -> ReviewResult {
    let policy = Policy { fail_on: Some(Severity::High), ..Policy::default() };
    let agents = definitions();
    decide(&Input { run: "01J", plan, agents: &agents, outcomes, gates: &[], policy })
        .expect("a decision")
}

/// Two vetoes of a security reviewer that saw eight of twelve files.
fn blocked() -> (Plan, ReviewResult) {
    let names = [
        "validate",
        "handler",
        "login",
        "session",
        "token",
        "password",
        "oauth",
        "errors",
        "cache",
        "middleware",
        "types",
        "worker",
    ];
    let files: Vec<String> = names.iter().map(|name| format!("src/auth/{name}.go")).collect();
    let plan = plan("src/auth/", &files);
    let mut security = outcome(
        0,
        &files[..8],
        &[
            finding(
                "CRITICAL",
                "injection",
                ("src/auth/validate.go", 45),
                "\tquery := fmt.Sprintf(\"SELECT * FROM users WHERE id = %s\", userID)",
                [
                    "SQL injection: the user id is formatted into the query. Anyone who can log in can read and change every row of the table.",
                    "Use a parameterised query: db.Query(\"SELECT … WHERE id = $1\", userID)",
                ],
            ),
            finding(
                "MEDIUM",
                "secrets",
                ("src/auth/token.go", 12),
                "const signingKey = \"dev-only-change-me\"",
                [
                    "A default signing key is compiled in",
                    "Read the key from the environment and refuse to start without it.",
                ],
            ),
            finding(
                "MEDIUM",
                "auth",
                ("src/auth/session.go", 30),
                "http.SetCookie(w, &http.Cookie{\n\tName:  \"session\",\n\tValue: id,\n})",
                [
                    "The session cookie is neither HttpOnly nor Secure",
                    "Set HttpOnly, Secure and SameSite.",
                ],
            ),
        ],
    );
    security.status = quorum_model::outcome::OutcomeStatus::Partial;
    security.cutoff_reason = Some(quorum_model::report::CutoffReason::Budget);
    let vulnerability = outcome(
        1,
        &files,
        &[finding(
            "MEDIUM",
            "outdated",
            ("src/auth/oauth.go", 5),
            "import \"golang.org/x/oauth2\"",
            ["The OAuth library is two years behind", "Update it."],
        )],
    );
    let quality = outcome(
        2,
        &files,
        &[
            finding(
                "HIGH",
                "error-handling",
                ("src/auth/validate.go", 46),
                "rows, _ := db.Query(query)",
                ["The error of the query is dropped", "Return it."],
            ),
            finding(
                "MEDIUM",
                "testing",
                ("src/auth/login.go", 1),
                "func Login(",
                ["Login has no test", "Add one."],
            ),
        ],
    );
    let result = result(&plan, &[security, vulnerability, quality]);
    (plan, result)
}

fn approved() -> (Plan, ReviewResult) {
    let files: Vec<String> =
        ["handler.go", "routes.go"].map(|name| format!("src/api/{name}")).to_vec();
    let plan = plan("src/api/", &files);
    let minor = |severity, line: u64, what: &str| {
        finding(severity, "style", ("src/api/handler.go", line), "x := y", [what, "Rename it."])
    };
    let outcomes = [
        outcome(
            0,
            &files,
            &[
                minor("MEDIUM", 3, "Requests have no size limit"),
                minor("LOW", 20, "A header is set twice"),
                minor("LOW", 30, "The log line holds the address of the caller"),
            ],
        ),
        outcome(1, &files, &[minor("LOW", 40, "A newer patch release exists")]),
        outcome(
            2,
            &files,
            &[
                minor("MEDIUM", 50, "The handler does two things"),
                minor("MEDIUM", 60, "No test covers the error path"),
                minor("LOW", 70, "A misleading name"),
                minor("LOW", 75, "An unused parameter"),
                minor("LOW", 78, "A comment repeats the code"),
            ],
        ),
    ];
    let result = result(&plan, &outcomes);
    (plan, result)
}

fn at(width: usize, (plan, result): &(Plan, ReviewResult)) -> String {
    let options =
        Options { width, full_report: Some(".quorum/runs/01J/report.md"), ..Options::default() };
    render(&Report::new(result, plan), &options)
}

fn fits(width: usize, page: &str) {
    for line in page.lines() {
        assert!(text::width(line) <= width, "{} columns: {line}", text::width(line));
    }
}

#[test]
fn a_blocked_review_reads_well() {
    let sample = blocked();
    for width in [80, 120] {
        let page = at(width, &sample);
        fits(width, &page);
        insta::assert_snapshot!(format!("blocked_{width}"), page);
    }
}

#[test]
fn an_approved_review_reads_well() {
    let sample = approved();
    for width in [80, 120] {
        let page = at(width, &sample);
        fits(width, &page);
        insta::assert_snapshot!(format!("approved_{width}"), page);
    }
}

#[test]
fn the_samples_say_what_they_must() {
    let page = at(80, &blocked());
    for part in [
        "═══ Consensus Review: src/auth/ ═══\n",
        "Verdict: BLOCKED (2 vetoes) by rules and gpt\n",
        "⚠️ Partial results: security-reviewer hit budget limit (8/12 files)\n",
        "│ Agent         │ Verdict │ C │ H │ M │ L │ Coverage │\n",
        "│ Security      │ VETO    │ 1 │ 0 │ 2 │ 0 │ 67% ⚠️   │\n",
        "│ Vulnerability │ OK      │ 0 │ 0 │ 1 │ 0 │ 100%     │\n",
        "Files not reviewed by security-reviewer: cache.go, middleware.go, types.go,",
    ] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
    let page = at(80, &approved());
    for part in ["Verdict: APPROVED by rules and gpt\n", "Medium (3):\n", "Low (6):\n"] {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
}

#[test]
fn ascii_and_colour_are_asked_for() {
    let (plan, result) = blocked();
    let report = Report::new(&result, &plan);
    let plain = render(&report, &Options { unicode: false, ..Options::default() });
    let own = plain.lines().filter(|line| !line.contains("Fix:"));
    assert!(
        own.clone().all(str::is_ascii),
        "{:?}",
        own.filter(|l| !l.is_ascii()).collect::<Vec<_>>()
    );
    let color = render(&report, &Options { color: true, ..Options::default() });
    assert!(color.contains("\u{1b}[1m\u{1b}[31mBLOCKED\u{1b}[0m"), "{color}");
    assert!(!at(80, &(plan, result)).contains('\u{1b}'));
}

#[test]
fn hostile_text_is_text_and_is_cut() {
    let (plan, mut result) = blocked();
    let hostile =
        format!("\u{1b}[2J\u{1b}]0;owned\u{7} \u{202e}desrever\r\n{}", "x".repeat(1 << 20));
    for finding in &mut result.findings {
        for field in [
            &mut finding.issue,
            &mut finding.recommendation,
            &mut finding.evidence,
            &mut finding.category,
            &mut finding.file,
        ] {
            field.clone_from(&hostile);
        }
        finding.agents = vec![hostile.clone()];
    }
    result.reasons = vec![hostile.clone(); 20];
    result.scope.clone_from(&hostile);
    result.notes = vec![hostile.clone()];
    result.coverage.uncovered = vec![hostile.clone()];
    for width in [1, 40, 80, 120] {
        let options = Options { width, ..Options::default() };
        let page = render(&Report::new(&result, &plan), &options);
        assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']));
        assert!(page.contains(r"\u{1b}[2J"), "shown as text");
        assert!(page.len() < 60_000, "{}", page.len());
        fits(width.max(53), &page);
    }
}

#[test]
fn many_files_are_folded_and_gaps_come_first() {
    let files: Vec<String> = (0..50).map(|number| format!("src/file{number:02}.go")).collect();
    let plan = plan("src/", &files);
    let outcomes =
        [outcome(0, &files[..49], &[]), outcome(1, &files, &[]), outcome(2, &files, &[])];
    let result = result(&plan, &outcomes);
    let page = at(80, &(plan, result));
    let first = page.lines().position(|line| line.contains("file49.go") && line.contains("SKIP"));
    let second = page.lines().position(|line| line.contains("file00.go"));
    assert!(first.is_some() && first < second, "{page}");
    assert!(page.contains("30 more files are folded, 0 of them with gaps"), "{page}");
    assert!(page.contains("Coverage: 49/50 files reviewed whole"));
    assert!(page.contains("→ Consider: quorum review src/file49.go --agents security"));
}
