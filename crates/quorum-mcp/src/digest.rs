//! A result in at most fifteen lines: what a host's own context is given of a review.

use std::fmt::Write as _;

use quorum_model::report::CutoffReason;
use quorum_model::result::{AgentExecution, ReviewResult};
use quorum_model::severity::{Counts, Severity};
use quorum_model::verdict::AgentVerdict;

/// The most lines.
pub(crate) const LINES: usize = 15;
/// The longest line, in characters.
const LONGEST: usize = 160;
/// Reasons that are named.
const REASONS: usize = 3;
/// Findings that are named.
const FINDINGS: usize = 4;
/// Partial reviewers that have a line of their own; the others are named in one.
const PARTIAL: usize = 2;

/// The verdict, why, the worst findings, what did not finish, and where the rest is.
pub(crate) fn of(result: &ReviewResult) -> String {
    let mut lines = Vec::new();
    let counts = Counts::of(result.findings.iter().map(|finding| finding.severity));
    lines.push(format!(
        "{} (run {}): {} critical, {} high, {} medium, {} low{}",
        word(result),
        result.run,
        counts.critical,
        counts.high,
        counts.medium,
        counts.low,
        left_out(result)
    ));
    few(&mut lines, &result.reasons, REASONS, |reason| format!("- {reason}"), "more reasons");
    let mut worst: Vec<_> = result.findings.iter().collect();
    worst.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    worst.retain(|finding| finding.severity >= Severity::High);
    let named = |finding: &&quorum_model::finding::Finding| {
        let severity = finding.severity.as_str();
        format!("{severity} {} {}:{} {}", finding.id, finding.file, finding.line, finding.issue)
    };
    few(&mut lines, &worst, FINDINGS, named, "more of CRITICAL and HIGH");
    let failed =
        result.execution.agents.iter().filter(|agent| agent.verdict == AgentVerdict::Error);
    let failed: Vec<&str> = failed.map(|agent| agent.name.as_str()).collect();
    if !failed.is_empty() {
        lines.push(format!("Did not finish: {}", failed.join(", ")));
    }
    partial(&mut lines, result);
    lines.push(format!(
        "`verdicts` has a line per agent, `finding` opens one; in full: .quorum/runs/{}/report.md",
        result.run
    ));
    let mut text = String::new();
    for line in lines.iter().take(LINES) {
        // Writing to a string cannot fail.
        _ = writeln!(text, "{}", one_line(line));
    }
    text
}

/// What reviewers saw and left out.
fn left_out(result: &ReviewResult) -> String {
    let agents = result.execution.agents.iter();
    let (medium, low) = agents.fold((0, 0), |(medium, low), agent| {
        (medium + agent.skipped.medium, low + agent.skipped.low)
    });
    match (medium, low) {
        (0, 0) => String::new(),
        _ => format!("; left out for lack of budget: {medium} medium, {low} low"),
    }
}

/// Whoever reads only this must learn who did not read everything, and what.
fn partial(lines: &mut Vec<String>, result: &ReviewResult) {
    let unread = |agent: &&AgentExecution| {
        agent.verdict != AgentVerdict::Error && (agent.partial || agent.files_skipped > 0)
    };
    let partial: Vec<&AgentExecution> = result.execution.agents.iter().filter(unread).collect();
    for agent in partial.iter().take(PARTIAL) {
        let all = agent.files_reviewed + agent.files_skipped;
        let why = agent.error.as_deref().unwrap_or_else(|| why(agent.cutoff_reason));
        let missing = match agent.skipped_files.as_slice() {
            [] => String::new(),
            files => format!("; not read: {}", files.join(", ")),
        };
        lines.push(format!(
            "PARTIAL {}: {} of {all} files, {why}{missing}",
            agent.name, agent.files_reviewed
        ));
    }
    let rest: Vec<&str> = partial.iter().skip(PARTIAL).map(|agent| agent.name.as_str()).collect();
    if !rest.is_empty() {
        lines.push(format!("PARTIAL as well: {}", rest.join(", ")));
    }
}

fn why(reason: Option<CutoffReason>) -> &'static str {
    match reason {
        Some(CutoffReason::Absent) => "its agent never came back",
        Some(CutoffReason::Budget) => "its budget was used up",
        Some(CutoffReason::Ceiling) => "a ceiling of the run was met",
        Some(CutoffReason::Timeout) => "it ran out of time",
        Some(CutoffReason::Interrupt) => "it was interrupted",
        Some(CutoffReason::Error) => "its engine failed",
        Some(CutoffReason::Canary) => "it missed a planted defect",
        None => "it did not see everything",
    }
}

fn few<T>(
    lines: &mut Vec<String>,
    items: &[T],
    most: usize,
    line: impl Fn(&T) -> String,
    rest: &str,
) {
    lines.extend(items.iter().take(most).map(line));
    if items.len() > most {
        lines.push(format!("… {} {rest}", items.len() - most));
    }
}

/// The verdict as the result spells it.
pub(crate) fn word(result: &ReviewResult) -> String {
    let value = serde_json::to_value(result.verdict).ok();
    value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// What somebody wrote, on one line that ends.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let text = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    let kept: String = text.chars().take(LONGEST - 1).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(reasons: usize, findings: usize) -> ReviewResult {
        let finding = |number: usize| {
            json!({ "id": format!("SEC-{number:03}"), "fingerprint": "f", "severity": "CRITICAL",
                "category": "injection", "rule": null, "file": "src/a.rs", "line": number,
                "end_line": number, "evidence": "e", "issue": "An\nissue ".repeat(60),
                "recommendation": "r", "cwe": null, "agents": [], "corroboration": 1,
                "confidence": 1.0, "state": "new" })
        };
        let agent = json!({ "name": "go-reviewer", "verdict": "ERROR", "engine": "host",
            "model": null, "partial": false, "cutoff_reason": "timeout", "mode": "full_analysis",
            "budget": 1, "budget_used": 0, "tokens": 0, "usd": 0.0, "calls": 0,
            "files_reviewed": 0, "files_skipped": 1, "skipped_files": [], "veto_reasons": [],
            "counts": { "critical": 0, "high": 0, "medium": 0, "low": 0 } });
        let partial = |name: &str| {
            let mut partial = agent.clone();
            partial["name"] = json!(name);
            partial["verdict"] = json!("OK");
            partial["partial"] = json!(true);
            partial["cutoff_reason"] = json!("absent");
            partial["files_skipped"] = json!(400);
            partial["skipped_files"] = json!(vec!["src/unread.rs"; 400]);
            partial
        };
        let agents: Vec<_> = ["one", "two", "three"].map(partial).into_iter().collect();
        let agents: Vec<_> = std::iter::once(agent).chain(agents).collect();
        serde_json::from_value(json!({
            "run": "r", "verdict": "BLOCKED", "exit_code": 1,
            "reasons": (0..reasons).map(|n| format!("reason {n}")).collect::<Vec<_>>(),
            "execution": { "agents": agents },
            "coverage": { "files": [], "uncovered": [], "gaps": [] },
            "findings": (0..findings).map(finding).collect::<Vec<_>>(),
        }))
        .expect("a result")
    }

    #[test]
    fn never_more_than_fifteen_lines_and_none_is_long() {
        for (reasons, findings) in [(0, 0), (1, 1), (4, 6), (50, 400)] {
            let text = of(&result(reasons, findings));
            assert!(text.lines().count() <= LINES, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= LONGEST), "{text}");
            assert!(text.starts_with("BLOCKED (run r): "), "{text}");
            assert!(text.contains("Did not finish: go-reviewer"), "{text}");
            let line =
                "PARTIAL one: 0 of 400 files, its agent never came back; not read: src/unread.rs";
            assert!(text.contains(line), "{text}");
            assert!(text.contains("PARTIAL as well: three"), "{text}");
            assert!(text.trim_end().ends_with("report.md"), "{text}");
        }
    }
}
