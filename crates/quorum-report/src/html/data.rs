//! What the page's script shows.
//!
//! Text is made visible and cut here, once, so that the script has nothing to decide about it.

use std::collections::BTreeMap;

use quorum_model::coverage::{CoverageState, FileCoverage};
use quorum_model::event::EventKind;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::gate::{GateResult, GateStatus};
use quorum_model::result::{AgentExecution, SopResult};
use quorum_model::severity::Severity;
use serde::Serialize;

use crate::report::{Excerpt, Report, is_gated, worst_first};
use crate::text;

#[derive(Serialize)]
struct Data<'a> {
    version: &'static str,
    run: String,
    verdict: &'static str,
    exit_code: u8,
    /// Whether a gate kept the reviewers from running.
    gated: bool,
    started: Option<&'a str>,
    ended: Option<&'a str>,
    scope: Scope,
    agents: Vec<Agent<'a>>,
    files: Vec<File>,
    findings: Vec<Entry>,
    gaps: Vec<Gap>,
    uncovered: Vec<String>,
    gates: Vec<Gate>,
    sops: Vec<Sop>,
    rejected: &'a BTreeMap<String, u64>,
    warnings: Vec<String>,
    timeline: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Scope {
    label: String,
    base: Option<String>,
    head: Option<String>,
    tokens: u64,
    tier: &'static str,
    protocol: &'static str,
    isolation: &'static str,
}

#[derive(Serialize)]
struct Agent<'a> {
    name: String,
    title: String,
    verdict: &'static str,
    engine: String,
    model: Option<String>,
    /// Why it stopped, where it did.
    partial: Option<&'static str>,
    budget: u64,
    used: u64,
    tokens: u64,
    usd: f64,
    calls: u64,
    reviewed: u64,
    /// Files that were searched for secrets, hidden characters and injections alone.
    read: u64,
    /// Why dependencies were not compared with advisories, where they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<String>,
    skipped: u64,
    /// What it saw and left out for lack of budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    counts: [u64; 4],
    vetoes: Vec<String>,
    #[serde(skip)]
    key: &'a str,
}

#[derive(Serialize)]
struct File {
    path: String,
    tokens: u64,
    sensitive: bool,
    /// One letter for each agent: reviewed, partial, skipped, or `-` for not in its domain.
    states: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lines: BTreeMap<usize, String>,
}

#[derive(Serialize)]
struct Entry {
    id: String,
    severity: Severity,
    state: FindingState,
    agreed: bool,
    category: String,
    rule: Option<String>,
    cwe: Option<String>,
    file: String,
    line: u64,
    end_line: u64,
    issue: String,
    recommendation: String,
    agents: Vec<String>,
    corroboration: u64,
    confidence: f64,
    start: u64,
    code: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<(u64, String)>,
    confirmed_by: Vec<String>,
    disputed_by: Vec<String>,
    refuted_by: Option<String>,
    /// Who refuted it at a second look, and why.
    refutation: Option<(String, String)>,
    related: Vec<String>,
    references: Vec<String>,
    effort: Option<&'static str>,
    user_impact: Option<String>,
    trace: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Gap {
    path: String,
    agent: String,
    reason: Option<String>,
    command: String,
}

#[derive(Serialize)]
struct Gate {
    name: String,
    command: String,
    required: bool,
    status: GateStatus,
    outcome: String,
    output: String,
}

#[derive(Serialize)]
struct Sop {
    name: String,
    severity: quorum_model::result::SopSeverity,
    status: quorum_model::result::SopStatus,
    evidence: String,
}

/// One agent's way through the run, in milliseconds.
#[derive(Default, Serialize)]
struct Row<'a> {
    agent: &'a str,
    start: u64,
    end: u64,
    charges: Vec<(u64, u64)>,
    findings: Vec<(u64, Severity)>,
}

pub(super) fn json(report: &Report<'_>) -> String {
    // Strings and numbers alone: nothing can fail.
    serde_json::to_string(&data(report)).unwrap_or_else(|_| "{}".to_owned())
}

fn data<'a>(report: &'a Report<'_>) -> Data<'a> {
    let (result, plan) = (report.result, report.plan);
    let gated = is_gated(result);
    // Of reviewers that were not asked there is nothing to show.
    let asked = result.execution.agents.iter().filter(|_| !gated);
    let agents: Vec<Agent<'a>> = asked.map(|agent| executed(report, agent)).collect();
    let gaps = result.coverage.gaps.iter().filter(|_| !gated);
    let uncovered = result.coverage.uncovered.iter().filter(|_| !gated);
    let planned: BTreeMap<&str, &quorum_model::scope::FileEntry> =
        plan.scope.files.iter().map(|file| (&*file.path, file)).collect();
    let files = result.coverage.files.iter().map(|file| covered(file, &agents, &planned));
    let agreed = report.findings().into_iter().map(|finding| entry(report, finding, true));
    let rest = worst_first(&result.not_agreed).into_iter();
    let rest = rest.map(|finding| entry(report, finding, false));
    Data {
        version: env!("CARGO_PKG_VERSION"),
        run: text::line(&result.run, 100),
        verdict: text::verdict(result.verdict),
        exit_code: result.exit_code,
        gated,
        started: report.started.as_deref(),
        ended: report.ended.as_deref(),
        scope: Scope {
            label: text::line(&plan.scope.label, 300),
            base: plan.scope.base.as_deref().map(|id| text::line(id, 80)),
            head: plan.scope.head.as_deref().map(|id| text::line(id, 80)),
            tokens: plan.total_tokens,
            tier: plan.tier.name.as_str(),
            protocol: plan.protocol.as_str(),
            isolation: plan.isolation.as_str(),
        },
        files: files.collect(),
        findings: agreed.chain(rest).collect(),
        gaps: gaps.map(|gap| missed(report, gap)).collect(),
        uncovered: uncovered.map(|path| text::line(path, 500)).collect(),
        gates: result.gates.iter().map(gate).collect(),
        sops: result.sops.iter().map(sop).collect(),
        rejected: &result.rejected,
        warnings: result
            .notes
            .iter()
            // Runs of earlier versions have the plan's warnings in the plan alone.
            .chain(plan.warnings.iter().filter(|warning| !result.notes.contains(warning)))
            .take(200)
            .map(|text| text::line(text, 1_000))
            .collect(),
        timeline: timeline(report),
        agents,
    }
}

fn executed<'a>(report: &Report<'_>, agent: &'a AgentExecution) -> Agent<'a> {
    let counts = agent.counts;
    let stopped = agent.cutoff_reason.map_or("it stopped early", text::cutoff);
    Agent {
        name: text::line(&agent.name, 100),
        title: text::line(report.title(&agent.name), 100),
        verdict: text::agent_verdict(agent.verdict),
        engine: text::line(&agent.engine, 60),
        model: agent.model.as_deref().map(|model| text::line(model, 100)),
        partial: agent.partial.then_some(stopped),
        budget: agent.budget,
        used: agent.budget_used,
        tokens: agent.tokens,
        usd: agent.usd,
        calls: agent.calls,
        reviewed: agent.files_reviewed,
        read: agent.files_read,
        not_compared: agent.not_compared.as_deref().map(|why| text::line(why, 300)),
        skipped: agent.files_skipped,
        left_out: text::left_out(agent),
        counts: [counts.critical, counts.high, counts.medium, counts.low],
        vetoes: agent.veto_reasons.iter().take(20).map(|why| text::line(why, 500)).collect(),
        key: &agent.name,
    }
}

fn covered(
    file: &FileCoverage,
    agents: &[Agent<'_>],
    planned: &BTreeMap<&str, &quorum_model::scope::FileEntry>,
) -> File {
    let letter = |agent: &Agent<'_>| match file.agents.get(agent.key) {
        Some(CoverageState::Reviewed) => 'r',
        Some(CoverageState::Partial) => 'p',
        Some(CoverageState::Read) => 'd',
        Some(CoverageState::Skipped) => 's',
        Some(CoverageState::Unreadable) => 'u',
        Some(CoverageState::OutOfDomain) | None => '-',
    };
    let lines = agents.iter().enumerate().filter_map(|(index, agent)| {
        let ranges = file.lines.get(agent.key)?;
        let shown = ranges.iter().take(20).map(|(first, last)| format!("{first}–{last}"));
        Some((index, shown.collect::<Vec<_>>().join(", ")))
    });
    let entry = planned.get(file.path.as_str());
    File {
        path: text::line(&file.path, 500),
        tokens: entry.map_or(0, |entry| entry.tokens),
        sensitive: entry
            .is_some_and(|entry| entry.has(quorum_model::scope::Flag::SecuritySensitive)),
        states: agents.iter().map(letter).collect(),
        lines: lines.collect(),
    }
}

fn entry(report: &Report<'_>, finding: &Finding, agreed: bool) -> Entry {
    let (line, end_line) = text::lines(finding);
    let (start, code) = match report.excerpts.get(&finding.id) {
        Some(Excerpt { start_line, lines }) => {
            (*start_line, lines.iter().take(60).map(|line| text::block(line, 400)).collect())
        }
        None => (line, quoted(&finding.evidence)),
    };
    let trace = finding.trace.iter().take(50).map(|step| {
        (format!("{}:{}", text::line(&step.file, 300), step.line), text::line(&step.note, 500))
    });
    Entry {
        id: text::line(&finding.id, 60),
        severity: finding.severity,
        state: finding.state,
        agreed,
        category: text::line(&finding.category, 100),
        rule: finding.rule.as_deref().map(|rule| text::line(rule, 200)),
        cwe: finding.cwe.as_deref().map(|cwe| text::line(cwe, 40)),
        file: text::line(&finding.file, 500),
        line,
        end_line,
        issue: text::block(finding.issue.trim(), 4_000),
        recommendation: text::block(finding.recommendation.trim(), 4_000),
        agents: names(&finding.agents),
        corroboration: finding.corroboration,
        confidence: finding.confidence,
        start,
        code,
        fix: text::replacement(finding)
            .map(|fix| (text::replaced(fix).0, text::block(&fix.text, 20_000))),
        confirmed_by: names(&finding.confirmed_by),
        disputed_by: names(&finding.disputed_by),
        refuted_by: finding.refuted_by.as_deref().map(|gate| text::line(gate, 100)),
        refutation: finding.refutation.as_ref().map(|refutation| {
            (text::line(&refutation.by, 100), text::block(&refutation.reason, 2_000))
        }),
        related: finding
            .same_place
            .iter()
            .chain(&finding.same_issue)
            .take(20)
            .map(|id| text::line(id, 60))
            .collect(),
        references: finding.references.iter().take(5).map(|url| text::line(url, 500)).collect(),
        effort: finding.effort.map(text::effort),
        user_impact: finding.user_impact.as_deref().map(|impact| text::block(impact, 1_000)),
        trace: trace.collect(),
    }
}

fn names(agents: &[String]) -> Vec<String> {
    agents.iter().map(|agent| text::line(agent, 100)).collect()
}

fn quoted(evidence: &str) -> Vec<String> {
    if evidence.trim().is_empty() {
        return Vec::new();
    }
    evidence.lines().take(40).map(|line| text::block(line, 400)).collect()
}

fn missed(report: &Report<'_>, gap: &quorum_model::coverage::Gap) -> Gap {
    Gap {
        path: text::line(&gap.path, 500),
        agent: text::line(report.title(&gap.agent), 100),
        reason: gap.reason.as_deref().map(|reason| text::line(reason, 300)),
        command: text::line(&gap.command, 1_000),
    }
}

fn gate(gate: &GateResult) -> Gate {
    Gate {
        name: text::line(&gate.name, 100),
        command: text::line(&gate.command, 500),
        required: gate.required,
        status: gate.status,
        outcome: text::line(&gate.outcome(), 300),
        output: text::block(&gate.output, 20_000),
    }
}

fn sop(sop: &SopResult) -> Sop {
    Sop {
        name: text::line(&sop.sop, 200),
        severity: sop.severity,
        status: sop.status,
        evidence: text::block(&sop.evidence, 2_000),
    }
}

/// When each agent worked, was charged and found something. Empty where no event was kept.
fn timeline<'a>(report: &'a Report<'_>) -> Vec<Row<'a>> {
    let mut rows: BTreeMap<&str, Row<'a>> = BTreeMap::new();
    for event in &report.events {
        let time = event.elapsed_ms;
        match &event.kind {
            EventKind::AgentStarted { agent, .. } => {
                let row = Row { agent, start: time, end: time, ..Row::default() };
                rows.entry(agent).or_insert(row);
            }
            EventKind::Charged { agent, budget_used, .. } => {
                if let Some(row) = rows.get_mut(agent.as_str()) {
                    row.charges.push((time, *budget_used));
                    row.end = row.end.max(time);
                }
            }
            EventKind::Finding { agent, severity, .. } => {
                if let Some(row) = rows.get_mut(agent.as_str()) {
                    row.findings.push((time, *severity));
                    row.end = row.end.max(time);
                }
            }
            EventKind::AgentFinished { agent, .. } => {
                if let Some(row) = rows.get_mut(agent.as_str()) {
                    row.end = row.end.max(time);
                }
            }
            EventKind::RunStarted { .. }
            | EventKind::GateFinished { .. }
            | EventKind::Decided { .. } => {}
        }
    }
    let mut rows: Vec<Row<'a>> = rows.into_values().collect();
    rows.sort_by_key(|row| row.start);
    rows
}
