//! How much of a review an orchestrator has to read. `cargo xtask context` prints the numbers.

use quorum_index::Counter;
use quorum_model::config::Tokenizer;
use quorum_model::finding::{AgentFinding, Finding};
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_store::{Clock, Run};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

/// Six agents with 40 findings between them.
const AGENTS: [(&str, usize); 6] = [
    ("security-reviewer", 9),
    ("vulnerability-reviewer", 4),
    ("go-reviewer", 11),
    ("code-quality-reviewer", 10),
    ("documentation-reviewer", 6),
    ("user-persona-reviewer", 0),
];

const PROSE: &str = "The handler takes the identifier from the request and joins it into the query \
    without a placeholder, so whoever can reach the endpoint decides what the database runs. The \
    service account that the handler uses may read every table, and the log keeps the whole \
    statement, which means that what is read this way also ends up where more people can see it. \
    The same helper is called from the export job, which runs with higher rights. ";

fn finding(agent: &str, number: usize) -> AgentFinding {
    let severity = ["CRITICAL", "HIGH", "MEDIUM", "LOW"][number % 4];
    serde_json::from_value(json!({
        "severity": severity, "category": "injection", "cwe": "CWE-89",
        "file": format!("internal/store/query_{number}.go"), "line": 40 + number,
        "evidence": "rows, err := db.Query(\"SELECT * FROM users WHERE id = \" + id)",
        "issue": format!("{agent} sees that query {number} is built from input. {}", PROSE.repeat(5)),
        "recommendation": format!("Use a placeholder. {}", PROSE.repeat(2)),
        "confidence": 0.9,
    }))
    .expect("a finding")
}

/// Writes the run, as a review would.
fn record(sandbox: &Sandbox) {
    let plan = plan(sandbox);
    let run = Run::create(sandbox.root(), &plan, Clock::new(jiff::Timestamp::now)).expect("a run");
    let mut outcomes = Vec::new();
    for (agent, count) in AGENTS {
        let findings: Vec<AgentFinding> = (0..count).map(|n| finding(agent, n)).collect();
        let outcome: AgentOutcome = serde_json::from_value(json!({
            "run": run.id(), "agent": agent, "engine": "anthropic", "model": "claude-sonnet-4-5",
            "status": if agent == "go-reviewer" { "partial" } else { "completed" }, "cutoff_reason": null, "error": null, "mode": "full_analysis",
            "usage": { "budget": 24576, "budget_used": 18000, "tokens": 52000, "usd": 0.2, "calls": 3 },
            "covered": [{ "path": "internal/store/query_1.go", "start_line": 1, "end_line": 90 }],
            "findings": findings,
        }))
        .expect("an outcome");
        outcomes.push(run.write_agent(outcome).expect("it is written"));
    }
    run.finish(&result(run.id(), &outcomes), &outcomes).expect("it is finished");
}

fn plan(sandbox: &Sandbox) -> Plan {
    sandbox.write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
    serde_json::from_value(sandbox.plan(&[])).expect("a plan")
}

fn result(run: &str, outcomes: &[AgentOutcome]) -> ReviewResult {
    let all =
        outcomes.iter().flat_map(|outcome| outcome.findings.iter().map(move |f| (outcome, f)));
    let published = all.enumerate().map(|(number, (outcome, finding))| -> Finding {
        let mut value = serde_json::to_value(finding).expect("a finding");
        let more = json!({
            "id": format!("F-{number:03}"), "fingerprint": format!("{number:032x}"), "rule": null,
            "end_line": finding.line, "agents": [outcome.agent], "corroboration": 1, "state": "new",
            "positions": [{
                "agent": outcome.agent, "fingerprint": "p", "severity": finding.severity,
                "confidence": 0.9, "category": "injection", "line": finding.line,
                "end_line": finding.line, "issue": finding.issue,
                "recommendation": finding.recommendation,
            }],
        });
        value.as_object_mut().expect("an object").extend(more.as_object().expect("it").clone());
        serde_json::from_value(value).expect("a published finding")
    });
    serde_json::from_value(json!({
        "run": run, "verdict": "BLOCKED", "exit_code": 1, "reasons": [],
        "execution": { "agents": AGENTS.map(|(agent, count)| execution(agent, count)) }, "coverage": { "files": [], "uncovered": [], "gaps": [] },
        "findings": published.collect::<Vec<_>>(),
    }))
    .expect("a result")
}

/// A veto for two, a warning for the rest that found something.
fn execution(agent: &str, count: usize) -> Value {
    let verdict = match agent {
        "security-reviewer" | "vulnerability-reviewer" => "VETO",
        _ if count > 0 => "WARN",
        _ => "OK",
    };
    json!({
        "name": agent, "verdict": verdict, "engine": "anthropic", "model": "claude-sonnet-4-5",
        "partial": false, "cutoff_reason": null, "mode": "full_analysis", "budget": 24576,
        "budget_used": 18000, "tokens": 52000, "usd": 0.2, "calls": 3, "files_reviewed": 1,
        "files_skipped": 0, "skipped_files": [], "veto_reasons": [],
        "counts": { "critical": 0, "high": 0, "medium": 0, "low": 0 },
    })
}

#[test]
fn an_orchestrator_reads_a_twentieth_of_what_is_on_disk() {
    let sandbox = Sandbox::new();
    record(&sandbox);
    let counter = Counter::new(Tokenizer::O200k);
    let print = |arguments: &[&str]| {
        let output = sandbox.quorum(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let count = |text: &str| counter.count(text.as_bytes());
    let verdicts = print(&["verdicts"]);
    let attention = print(&["verdicts", "--attention"]);
    let indexes = ["security", "go"].map(|agent| print(&["show", agent, "--index"]));
    let files: Vec<Value> =
        serde_json::from_str(&print(&["verdicts", "--format", "json"])).expect("verdict files");
    let pages = files.iter().map(|file| {
        let path = file["detail_path"].as_str().expect("a path");
        std::fs::read_to_string(sandbox.root().join(path)).expect("a page")
    });
    let on_disk: u64 = pages.map(|page| count(&page)).sum();
    let (header, lines) = verdicts.split_once('\n').expect("a header");
    let longest = lines.lines().map(|line| count(&format!("{line}\n"))).max().expect("lines");
    let read = count(&verdicts)
        + count(&attention)
        + indexes.each_ref().map(|i| count(i)).iter().sum::<u64>();
    println!("{verdicts}");
    println!("on disk, all pages            {on_disk:>6} tokens (o200k)");
    println!("quorum verdicts               {:>6}", count(&verdicts));
    println!("  header                      {:>6}", count(header));
    println!("  longest line                {longest:>6}");
    println!("quorum verdicts --attention   {:>6}", count(&attention));
    println!(
        "two agents' indexes           {:>6}",
        indexes.each_ref().map(|i| count(i)).iter().sum::<u64>()
    );
    println!("read in all                   {read:>6}");
    assert!(on_disk >= 25_000, "the example is full prose: {on_disk}");
    assert!(longest <= 25, "{longest} tokens in a line of\n{verdicts}");
    assert!(read < 1_500, "{read} tokens: {verdicts}{attention}{}", indexes.concat());
    let indexed = indexes.concat().matches(" | F-").count();
    assert_eq!(indexed, 20, "every finding of the two is in its index");
}
