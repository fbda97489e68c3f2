//! What happened to the run itself: the exit, and everything that a reader should know about it.

use quorum_model::gate::GateStatus;
use quorum_model::result::AgentExecution;
use quorum_model::verdict::{AgentVerdict, Verdict};

use super::document::{Invocation, Message, Notification};
use crate::report::Report;
use crate::text;

/// Gaps and warnings are many in a large run; the rest is counted.
const MOST_OF_A_SORT: usize = 200;

pub(super) fn invocation(report: &Report<'_>, left_out: usize) -> Invocation {
    let result = report.result;
    Invocation {
        execution_successful: result.verdict != Verdict::Incomplete,
        exit_code: result.exit_code,
        exit_code_description: text::verdict(result.verdict).to_owned(),
        start_time_utc: report.started.clone(),
        end_time_utc: report.ended.clone(),
        tool_execution_notifications: notifications(report, left_out),
    }
}

fn notifications(report: &Report<'_>, left_out: usize) -> Vec<Notification> {
    let result = report.result;
    let level = if result.exit_code == 0 { "note" } else { "error" };
    let mut all = some(result.reasons.iter().map(|reason| notification(level, reason)));
    if left_out > 0 {
        let count = text::count(left_out, "finding is", "findings are");
        all.push(notification("warning", &format!("{count} not in this file: too many results")));
    }
    all.extend(result.execution.agents.iter().filter_map(|agent| about(report, agent)));
    all.extend(some(result.coverage.gaps.iter().map(|gap| {
        let agent = report.title(&gap.agent);
        let more = match gap.command.as_str() {
            "" => gap.reason.as_deref().unwrap_or("it cannot be read"),
            command => command,
        };
        notification("warning", &format!("{agent} did not look at {}: {more}", gap.path))
    })));
    all.extend(some(
        result
            .coverage
            .uncovered
            .iter()
            .map(|path| notification("error", &format!("nobody looked at {path}"))),
    ));
    all.extend(result.gates.iter().filter_map(|gate| {
        if matches!(gate.status, GateStatus::Passed | GateStatus::Skipped) {
            return None;
        }
        let level = if gate.required { "error" } else { "warning" };
        let text = format!("gate {} {}: {}", gate.name, gate.outcome(), gate.command);
        Some(notification(level, &text))
    }));
    all.extend(result.execution.agents.iter().filter_map(|agent| {
        let text = format!("{} left out {}", report.title(&agent.name), text::left_out(agent)?);
        Some(notification("warning", &text))
    }));
    all.extend(result.rejected.iter().map(|(reason, count)| {
        notification("note", &format!("findings not published: {count} ({reason})"))
    }));
    all.extend(some(result.notes.iter().map(|note| notification("note", note))));
    // Runs of earlier versions have the plan's warnings in the plan alone.
    let warnings = report.plan.warnings.iter().filter(|warning| !result.notes.contains(warning));
    let warnings: Vec<&String> = warnings.collect();
    all.extend(some(warnings.into_iter().map(|warning| notification("note", warning))));
    all
}

fn about(report: &Report<'_>, agent: &AgentExecution) -> Option<Notification> {
    let title = report.title(&agent.name);
    let why = agent.cutoff_reason.map_or("it stopped early", text::cutoff);
    if agent.verdict == AgentVerdict::Error {
        return Some(notification("error", &format!("{title} did not finish: {why}")));
    }
    let skipped = text::number(agent.files_skipped);
    agent.partial.then(|| {
        notification("warning", &format!("{title} is partial, {skipped} files skipped: {why}"))
    })
}

/// The first of `notifications`, and how many more there are.
fn some(notifications: impl ExactSizeIterator<Item = Notification>) -> Vec<Notification> {
    let more = notifications.len().saturating_sub(MOST_OF_A_SORT);
    let mut kept: Vec<Notification> = notifications.take(MOST_OF_A_SORT).collect();
    if more > 0 {
        kept.push(notification("note", &format!("… and {more} more")));
    }
    kept
}

fn notification(level: &'static str, text: &str) -> Notification {
    Notification { level, message: Message::foreign(text, 1_000) }
}
