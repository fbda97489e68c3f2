//! Reports to try the formats on: one that reads like a real review, and ones of any size.

use std::collections::BTreeMap;

use quorum_model::budget::Mode;
use quorum_model::coverage::{Coverage, CoverageState, FileCoverage, Gap};
use quorum_model::event::{Event, EventKind};
use quorum_model::finding::{Effort, Finding, FindingState, Replacement, TraceStep};
use quorum_model::gate::{GateCategory, GateResult, GateStatus};
use quorum_model::outcome::{OutcomeStatus, Usage};
use quorum_model::plan::{Plan, Protocol};
use quorum_model::report::CutoffReason;
use quorum_model::result::{
    AgentExecution, Execution, ReviewResult, SkippedCounts, SopResult, SopSeverity, SopStatus,
};
use quorum_model::severity::{Counts, Severity};
use quorum_model::verdict::{AgentVerdict, Verdict};
use quorum_report::{Excerpt, Report};
use serde_json::json;

/// A result with its plan and everything else that a report takes.
pub(crate) struct Sample {
    pub(crate) result: ReviewResult,
    pub(crate) plan: Plan,
    pub(crate) excerpts: BTreeMap<String, Excerpt>,
    pub(crate) events: Vec<Event>,
}

const AGENTS: [(&str, &str); 6] = [
    ("security-reviewer", "Security"),
    ("vulnerability-reviewer", "Vulnerability"),
    ("go-reviewer", "Go"),
    ("typescript-reviewer", "TypeScript"),
    ("code-quality-reviewer", "Code quality"),
    ("documentation-reviewer", "Documentation"),
];

impl Sample {
    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            excerpts: self.excerpts.clone(),
            events: self.events.clone(),
            started: Some("2026-03-02T09:15:00Z".to_owned()),
            ended: Some("2026-03-02T09:15:41Z".to_owned()),
            ..Report::new(&self.result, &self.plan)
        }
    }

    /// Only these findings, and nothing else that could be cut short.
    pub(crate) fn of(findings: Vec<Finding>) -> Self {
        let paths: Vec<String> = findings.iter().map(|finding| finding.file.clone()).collect();
        let mut sample = Self::build(findings, paths);
        sample.result.coverage.gaps.clear();
        sample
    }

    /// A review of a checkout service that ends in a veto.
    pub(crate) fn checkout() -> Self {
        let code = include_str!("checkout.txt");
        let mut files: BTreeMap<&str, &str> = BTreeMap::new();
        for part in code.split("=== ").skip(1) {
            let (path, text) = part.split_once('\n').unwrap_or((part, ""));
            files.insert(path, text);
        }
        let mut excerpts = BTreeMap::new();
        let mut findings = Vec::new();
        for spot in spots() {
            let text = files.get(spot.file).copied().unwrap_or_default();
            let (line, count) = place(text, spot.quote);
            let end_line = line + count - 1;
            if let Some(excerpt) = Excerpt::around(text, line, end_line, 3) {
                excerpts.insert(spot.id.to_owned(), excerpt);
            }
            let trace = spot.trace.iter().map(|(file, quote, note)| TraceStep {
                file: (*file).to_owned(),
                line: place(files.get(file).copied().unwrap_or_default(), quote).0,
                note: (*note).to_owned(),
            });
            findings.push(Finding { line, end_line, trace: trace.collect(), ..finding(&spot) });
        }
        let mut paths: Vec<String> = files.keys().map(|path| (*path).to_owned()).collect();
        let more = [
            "cmd/checkout/main.go",
            "internal/cart/cart.go",
            "internal/cart/cart_test.go",
            "internal/orders/handler_test.go",
            "internal/payments/stripe_test.go",
            "internal/telemetry/trace.go",
            "internal/telemetry/metrics.go",
            "migrations/0042_orders.sql",
            "web/src/api/client.ts",
            "web/src/components/CartLine.tsx",
            "web/src/pages/receipt.tsx",
            "web/package-lock.json",
            "docs/runbooks/refunds.md",
            "CHANGELOG.md",
            "go.sum",
            "deploy/helm/checkout/values.yaml",
            ".github/workflows/release.yml",
        ];
        paths.extend(more.iter().map(ToString::to_string));
        let mut sample = Self::build(findings, paths);
        sample.excerpts = excerpts;
        for finding in &mut sample.result.findings {
            if finding.id == "SEC-002" {
                let text =
                    "\tif subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {".to_owned();
                let (start_line, end_line) = (finding.line, finding.end_line);
                finding.replacement = Some(Replacement { start_line, end_line, text });
                finding.effort = Some(Effort::Trivial);
                finding.references = vec!["https://pkg.go.dev/crypto/subtle".to_owned()];
            }
        }
        sample
    }

    /// A report of any size, the same each time.
    pub(crate) fn large(findings: usize, files: usize) -> Self {
        let folders = ["api", "auth", "billing", "catalog", "search", "shipping", "web", "worker"];
        let paths: Vec<String> = (0..files)
            .map(|n| {
                format!(
                    "services/{}/internal/module_{:03}/file_{n:04}.go",
                    folders[n % 8],
                    n / 8 % 100
                )
            })
            .collect();
        let spots = spots();
        let many = (0..findings).map(|n| {
            let spot = &spots[n % spots.len()];
            let mut finding = finding(spot);
            finding.id = format!("Q-{:04}", n + 1);
            finding.fingerprint = format!("{:032x}", n * 7919 + 13);
            finding.file.clone_from(&paths[n * 31 % paths.len()]);
            finding.line = (n * 37 % 900 + 1) as u64;
            finding.end_line = finding.line;
            finding
        });
        let many: Vec<Finding> = many.collect();
        let excerpts = many.iter().map(|finding| {
            let lines = (0..7).map(|n| match n {
                3 => finding.evidence.clone(),
                n => format!("\tresult[{n}] := compute(\"value {n}\", {n}) // step {n}"),
            });
            let start_line = finding.line.saturating_sub(3).max(1);
            (finding.id.clone(), Excerpt { start_line, lines: lines.collect() })
        });
        let excerpts = excerpts.collect();
        Self { excerpts, ..Self::build(many, paths) }
    }

    fn build(findings: Vec<Finding>, mut paths: Vec<String>) -> Self {
        paths.sort();
        paths.dedup();
        let coverage = coverage(&paths);
        let agents = AGENTS.iter().map(|(name, _)| execution(name, &findings, &coverage)).collect();
        // As a review sorts them: what it does not count is history.
        let stands = |finding: &Finding| {
            matches!(finding.state, FindingState::New | FindingState::Persisting)
        };
        let (findings, history) = findings.into_iter().partition(stands);
        let result = ReviewResult {
            schema_version: 1,
            run: "20260302-091500-7c1f".to_owned(),
            scope: "origin/main...feature/order-search".to_owned(),
            protocol: Protocol::Veto,
            ignored_vetos: None,
            notes: Vec::new(),
            verdict: Verdict::Blocked,
            exit_code: 1,
            reviewed_by: "rules and claude-sonnet-4-5".to_owned(),
            reasons: vec![
                "Security vetoes: SEC-001 is CRITICAL".to_owned(),
                "5 findings are HIGH or worse, and the limit is HIGH".to_owned(),
                "Vulnerability stopped at its budget with 4 files left".to_owned(),
            ],
            execution: Execution { agents },
            coverage,
            findings,
            not_agreed: Vec::new(),
            history,
            suppressed: Vec::new(),
            rejected: BTreeMap::from([("quote not found".to_owned(), 2)]),
            gates: vec![gate()],
            sops: vec![SopResult {
                sop: "payments-review".to_owned(),
                severity: SopSeverity::Warning,
                status: SopStatus::Violated,
                evidence: "internal/payments/stripe.go has no idempotency key".to_owned(),
                file: Some("internal/payments/stripe.go".to_owned()),
                line: None,
                finding_severity: Some(Severity::High),
            }],
            delivery: Vec::new(),
        };
        let plan = plan(&paths);
        let events = events(&result);
        Self { result, plan, excerpts: BTreeMap::new(), events }
    }
}

struct Spot {
    id: &'static str,
    severity: Severity,
    category: &'static str,
    rule: Option<&'static str>,
    file: &'static str,
    quote: &'static str,
    issue: &'static str,
    recommendation: &'static str,
    cwe: Option<&'static str>,
    agents: &'static [&'static str],
    state: FindingState,
    trace: &'static [(&'static str, &'static str, &'static str)],
}

#[expect(clippy::too_many_lines, reason = "a list")]
fn spots() -> Vec<Spot> {
    use FindingState::{Dismissed, New, Persisting, Resolved};
    use Severity::{Critical, High, Low, Medium};
    let spot = |id,
                severity,
                category,
                rule,
                file,
                quote,
                issue,
                recommendation,
                cwe,
                agents,
                state,
                trace| Spot {
        id,
        severity,
        category,
        rule,
        file,
        quote,
        issue,
        recommendation,
        cwe,
        agents,
        state,
        trace,
    };
    vec![
        spot(
            "SEC-001",
            Critical,
            "injection",
            Some("go-sql-format"),
            "internal/orders/handler.go",
            "\trows, err := h.db.QueryContext(ctx, fmt.Sprintf(",
            "SQL is built from the `customer` query parameter with `fmt.Sprintf`, so anyone who can open this page can read and change every order.",
            "Pass the value as an argument: `h.db.QueryContext(ctx, \"SELECT … WHERE customer_id = $1\", customer)`.",
            Some("CWE-89"),
            &["security-reviewer", "go-reviewer"],
            New,
            &[
                (
                    "internal/orders/handler.go",
                    "customer := r.URL.Query()",
                    "`customer` comes from the request",
                ),
                ("internal/orders/handler.go", "fmt.Sprintf(", "it becomes part of the query"),
            ],
        ),
        spot(
            "SEC-002",
            High,
            "authentication",
            Some("timing-compare"),
            "internal/auth/webhook.go",
            "\tif got != want {",
            "The webhook's signature is compared with `!=`, which takes longer the more of it is right; it can be guessed byte by byte.",
            "Compare with `subtle.ConstantTimeCompare`.",
            Some("CWE-208"),
            &["security-reviewer"],
            New,
            &[],
        ),
        spot(
            "SEC-003",
            High,
            "secrets",
            Some("aws-access-key"),
            "deploy/compose.yaml",
            "      AWS_ACCESS_KEY_ID:",
            "An AWS access key is part of the change.",
            "Revoke the key, take it out of the history, and read it from the environment.",
            Some("CWE-798"),
            &["security-reviewer"],
            New,
            &[],
        ),
        spot(
            "VUL-001",
            High,
            "vulnerable-dependency",
            Some("GO-2024-2687"),
            "go.mod",
            "golang.org/x/net v0.17.0",
            "`golang.org/x/net` 0.17.0 lets a client keep the server busy with HTTP/2 CONTINUATION frames.",
            "Update to 0.23.0 or later.",
            Some("CWE-400"),
            &["vulnerability-reviewer"],
            Persisting,
            &[],
        ),
        spot(
            "GO-001",
            High,
            "concurrency",
            Some("go-loop-goroutine-leak"),
            "internal/payments/stripe.go",
            "\tgo func() {",
            "The goroutine sends on an unbuffered channel that nobody reads after the timeout, so it is never freed: one leak for each slow charge.",
            "Give the channel room for one value: `make(chan result, 1)`.",
            None,
            &["go-reviewer", "code-quality-reviewer"],
            New,
            &[],
        ),
        spot(
            "GO-002",
            Medium,
            "error-handling",
            Some("go-ignored-error"),
            "internal/payments/stripe.go",
            "\tdefer resp.Body.Close()",
            "The error of `Close` is dropped.",
            "Log it, or return it where no other error is on its way.",
            None,
            &["go-reviewer"],
            New,
            &[],
        ),
        spot(
            "QUA-001",
            Medium,
            "complexity",
            None,
            "internal/orders/handler.go",
            "func (h *Handler) List(",
            "`List` reads the request, queries, maps rows and writes the answer in one function; none of it can be tested alone.",
            "Split reading the request from the query.",
            None,
            &["code-quality-reviewer"],
            New,
            &[],
        ),
        spot(
            "TS-001",
            Medium,
            "correctness",
            Some("ts-floating-promise"),
            "web/src/pages/checkout.tsx",
            "    submitOrder(cart);",
            "The promise of `submitOrder` is not awaited: a failed order looks like a placed one.",
            "Await it and show the error.",
            None,
            &["typescript-reviewer", "code-quality-reviewer"],
            New,
            &[],
        ),
        spot(
            "TS-002",
            Medium,
            "injection",
            Some("react-dangerous-html"),
            "web/src/pages/checkout.tsx",
            "dangerouslySetInnerHTML",
            "The gift message is written by the customer and put into the page as HTML.",
            "Show it as text: `{order.message}`.",
            Some("CWE-79"),
            &["security-reviewer", "typescript-reviewer"],
            New,
            &[],
        ),
        spot(
            "QUA-002",
            Low,
            "naming",
            None,
            "internal/payments/stripe.go",
            "func (c *Client) do2(",
            "`do2` says nothing about what differs from `do`.",
            "Call it `doWithRetry`.",
            None,
            &["code-quality-reviewer"],
            New,
            &[],
        ),
        spot(
            "DOC-001",
            Low,
            "changelog",
            Some("changelog-missing"),
            "docs/api.md",
            "## GET /orders",
            "The new `status` filter is not in the changelog.",
            "Add a line under Unreleased.",
            None,
            &["documentation-reviewer"],
            New,
            &[],
        ),
        spot(
            "DOC-002",
            Low,
            "api-docs",
            None,
            "docs/api.md",
            "| `customer` |",
            "`customer` is documented as optional; the handler answers 400 without it.",
            "Say that it is required.",
            None,
            &["documentation-reviewer"],
            Persisting,
            &[],
        ),
        spot(
            "SEC-004",
            Medium,
            "configuration",
            Some("go-http-no-timeout"),
            "internal/payments/stripe.go",
            "http: &http.Client{}",
            "The HTTP client has no timeout.",
            "Set `Timeout` to what the caller can wait.",
            Some("CWE-1088"),
            &["security-reviewer"],
            Dismissed,
            &[],
        ),
        spot(
            "GO-003",
            Medium,
            "error-handling",
            None,
            "internal/auth/webhook.go",
            "\tbody, err := io.ReadAll(",
            "The body is read without a limit.",
            "Wrap it in `http.MaxBytesReader`.",
            Some("CWE-770"),
            &["go-reviewer"],
            Resolved,
            &[],
        ),
    ]
}

/// A finding that says nothing; what is not set here is what a document may leave out.
pub(crate) fn minimal() -> Finding {
    let finding = json!({
        "id": "", "fingerprint": "", "severity": "LOW", "category": "", "rule": null, "file": "",
        "line": 1, "end_line": 1, "evidence": "", "issue": "", "recommendation": "", "cwe": null,
        "agents": [], "corroboration": 1, "confidence": 1.0, "state": "new",
    });
    serde_json::from_value(finding).expect("the minimal finding parses")
}

fn finding(spot: &Spot) -> Finding {
    Finding {
        id: spot.id.to_owned(),
        fingerprint: format!("{:0>32}", spot.id.to_lowercase().replace('-', "f")),
        severity: spot.severity,
        category: spot.category.to_owned(),
        rule: spot.rule.map(str::to_owned),
        file: spot.file.to_owned(),
        line: 1,
        end_line: 1,
        evidence: spot.quote.to_owned(),
        issue: spot.issue.to_owned(),
        recommendation: spot.recommendation.to_owned(),
        cwe: spot.cwe.map(str::to_owned),
        agents: spot.agents.iter().map(ToString::to_string).collect(),
        corroboration: spot.agents.len() as u64,
        confidence: if spot.rule.is_some() { 0.9 } else { 0.7 },
        state: spot.state,
        ..minimal()
    }
}

/// The line of `quote` in `text`, and how many lines it takes.
fn place(text: &str, quote: &str) -> (u64, u64) {
    let Some(at) = text.find(quote) else { return (1, 1) };
    let line = text[..at].matches('\n').count() as u64 + 1;
    (line, quote.trim_end().matches('\n').count() as u64 + 1)
}

fn in_domain(agent: &str, path: &str) -> bool {
    let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    match agent {
        "go-reviewer" => ends(&[".go"]),
        "typescript-reviewer" => ends(&[".ts", ".tsx"]),
        "documentation-reviewer" => ends(&[".md"]),
        "vulnerability-reviewer" => ends(&["go.mod", "go.sum", ".json", ".go", ".ts"]),
        "code-quality-reviewer" => ends(&[".go", ".ts", ".tsx", ".sql"]),
        _ => !ends(&[".md", ".sum"]),
    }
}

fn coverage(paths: &[String]) -> Coverage {
    let mut gaps = Vec::new();
    let files = paths.iter().enumerate().map(|(n, path)| {
        let mut lines = BTreeMap::new();
        let agents = AGENTS.iter().map(|(agent, _)| {
            let state = match n % 9 {
                _ if !in_domain(agent, path) => CoverageState::OutOfDomain,
                5 if *agent == "vulnerability-reviewer" => CoverageState::Skipped,
                7 if *agent == "vulnerability-reviewer" => CoverageState::Partial,
                _ => CoverageState::Reviewed,
            };
            if state == CoverageState::Skipped {
                gaps.push(Gap {
                    path: path.clone(),
                    agent: (*agent).to_owned(),
                    reason: Some("budget".to_owned()),
                    command: format!("quorum review {path} --agents vulnerability"),
                });
            }
            if state == CoverageState::Partial {
                lines.insert((*agent).to_owned(), vec![(1, 80), (120, 160)]);
            }
            ((*agent).to_owned(), state)
        });
        let agents = agents.collect();
        FileCoverage { path: path.clone(), agents, engines: BTreeMap::new(), lines }
    });
    let files = files.collect();
    Coverage { files, uncovered: Vec::new(), gaps }
}

#[expect(clippy::cast_precision_loss, reason = "a made-up price")]
fn execution(name: &str, findings: &[Finding], coverage: &Coverage) -> AgentExecution {
    let own = || findings.iter().filter(|f| f.agents.iter().any(|agent| agent == name));
    let state = |wanted| coverage.files.iter().filter(move |f| f.agents.get(name) == Some(&wanted));
    let skipped: Vec<String> =
        state(CoverageState::Skipped).map(|file| file.path.clone()).collect();
    let partial = name == "vulnerability-reviewer";
    let counts = Counts::of(own().map(|finding| finding.severity));
    let verdict = match counts {
        Counts { critical: 1.., .. } => AgentVerdict::Veto,
        Counts { high: 1.., .. } => AgentVerdict::Warn,
        _ => AgentVerdict::Ok,
    };
    let budget = 24_576 - name.len() as u64 * 311;
    let used =
        if partial { budget * 97 / 100 } else { budget * (20 + name.len() as u64 * 2) / 100 };
    AgentExecution {
        name: name.to_owned(),
        title: AGENTS
            .iter()
            .find(|(other, _)| *other == name)
            .map_or("", |(_, title)| title)
            .to_owned(),
        error: None,
        verdict,
        engine: "anthropic".to_owned(),
        model: Some("claude-sonnet-4-5".to_owned()),
        partial,
        cutoff_reason: partial.then_some(CutoffReason::Budget),
        mode: if partial { Mode::ForceReturn } else { Mode::FullAnalysis },
        budget,
        budget_used: used,
        tokens: used * 3,
        usd: used as f64 * 0.000_009,
        calls: used / 4_000 + 1,
        files_reviewed: state(CoverageState::Reviewed).count() as u64,
        files_read: 0,
        files_skipped: skipped.len() as u64,
        skipped_files: skipped,
        veto_reasons: match verdict {
            AgentVerdict::Veto => vec!["SEC-001 is CRITICAL".to_owned()],
            _ => Vec::new(),
        },
        counts,
        skipped: SkippedCounts::default(),
        not_compared: None,
    }
}

fn plan(paths: &[String]) -> Plan {
    let files: Vec<_> = paths
        .iter()
        .enumerate()
        .map(|(n, path)| {
            let language = match path.rsplit('.').next() {
                Some("go") => Some("Go"),
                Some("ts" | "tsx") => Some("TypeScript"),
                Some("md") => Some("Markdown"),
                Some("yaml" | "yml") => Some("YAML"),
                Some("sql") => Some("SQL"),
                _ => None,
            };
            let flags: &[&str] = if path.contains("auth") { &["security_sensitive"] } else { &[] };
            json!({"path": path, "old_path": null, "change": "modified", "language": language,
            "kind": "code", "tokens": 300 + n * 137 % 4_000, "flags": flags, "hunks": []})
        })
        .collect();
    let score = |score: u8| json!({"score": score, "reason": "r"});
    let plan = json!({
        "scope": {"kind": "base", "label": "origin/main...feature/order-search", "files": files,
            "base": "8f14e45fceea167a5a36dedd4bea2543f1d2c3b4", "head": "c9f0f895fb98ab9159f51fd0297e236d0e1f2a3b"},
        "tokenizer": "o200k", "total_tokens": 48_213, "isolation": "branch", "protocol": "veto",
        "tier": {"name": "COMPLEX", "base_score": 16, "adjusted_score": 19.2, "multipliers": [],
            "dimensions": {"scope": score(3), "integration": score(2), "infrastructure": score(2),
                "knowledge": score(3), "risk": score(3), "testing": score(1), "decomposability": score(2)}},
        "agents": [], "unassigned": [], "warnings": ["2 uncommitted files are left out: HEAD is reviewed"],
        "ceilings": {"calls": 64, "tokens": 900_000, "seconds": 600, "usd": 4.2},
    });
    serde_json::from_value(plan).expect("the sample is a plan")
}

fn events(result: &ReviewResult) -> Vec<Event> {
    let mut timed: Vec<(u64, EventKind)> = vec![(
        0,
        EventKind::RunStarted {
            time: "2026-03-02T09:15:00Z".to_owned(),
            scope: "origin/main...feature/order-search".to_owned(),
            files: result.coverage.files.len() as u64,
            total_tokens: 48_213,
            agents: AGENTS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        },
    )];
    for (n, agent) in (0u64..).zip(&result.execution.agents) {
        let (start, steps) = (1_200 + n * 900, 4 + n % 4);
        let name = agent.name.clone();
        timed.push((
            start,
            EventKind::AgentStarted {
                agent: name.clone(),
                engine: agent.engine.clone(),
                model: agent.model.clone(),
                budget: agent.budget,
                files: agent.files_reviewed,
            },
        ));
        for step in 1..=steps {
            timed.push((
                start + step * 4_100 + n * 350,
                EventKind::Charged {
                    agent: name.clone(),
                    budget_used: agent.budget_used * step / steps,
                    budget: agent.budget,
                    mode: agent.mode,
                },
            ));
        }
        let own = result.findings.iter().filter(|f| f.agents.first() == Some(&agent.name));
        for (k, finding) in (1u64..).zip(own.take(20)) {
            timed.push((
                start + k * 3_300,
                EventKind::Finding {
                    agent: name.clone(),
                    fingerprint: finding.fingerprint.clone(),
                    severity: finding.severity,
                    category: finding.category.clone(),
                    file: finding.file.clone(),
                    line: finding.line,
                    issue: finding.issue.clone(),
                },
            ));
        }
        let usage = Usage {
            budget: agent.budget,
            budget_used: agent.budget_used,
            tokens: agent.tokens,
            usd: agent.usd,
            calls: agent.calls,
        };
        timed.push((
            start + steps * 4_100 + n * 350 + 200,
            EventKind::AgentFinished {
                agent: name,
                status: if agent.partial {
                    OutcomeStatus::Partial
                } else {
                    OutcomeStatus::Completed
                },
                verdict: agent.verdict,
                counts: agent.counts,
                usage,
                cutoff_reason: agent.cutoff_reason,
                error: None,
            },
        ));
    }
    timed.sort_by_key(|(time, _)| *time);
    let end = timed.last().map_or(0, |(time, _)| *time) + 300;
    timed.push((
        end,
        EventKind::Decided {
            verdict: result.verdict,
            exit_code: result.exit_code,
            reasons: result.reasons.clone(),
            counts: Counts::of(result.findings.iter().map(|finding| finding.severity)),
        },
    ));
    (1..)
        .zip(timed)
        .map(|(sequence, (elapsed_ms, kind))| Event {
            schema_version: 1,
            run: result.run.clone(),
            sequence,
            elapsed_ms,
            kind,
        })
        .collect()
}

fn gate() -> GateResult {
    GateResult {
        name: "test".to_owned(),
        command: "go test ./...".to_owned(),
        required: true,
        status: GateStatus::Passed,
        exit_code: Some(0),
        output: String::new(),
        category: GateCategory::Test,
        preset: Some("go".to_owned()),
        working_dir: String::new(),
        duration_ms: 2100,
        reason: None,
        findings: Vec::new(),
        coverage: None,
    }
}
