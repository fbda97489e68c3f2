//! The one line that an orchestrator reads about an agent.

use std::collections::BTreeSet;

use quorum_model::outcome::{AgentOutcome, Depth, OutcomeStatus};
use quorum_model::severity::{Counts, Severity};
use quorum_model::verdict::{AgentStatus, AgentVerdict, VerdictFile, VerdictFileKind};

/// What will follow from an agent's findings, as far as that can be said before the review is
/// decided: its own veto criteria and its limits are not known here.
pub(crate) fn expected(outcome: &AgentOutcome, veto: bool) -> AgentVerdict {
    let worst = outcome.findings.iter().map(|finding| finding.severity).max();
    match worst {
        Some(Severity::Critical) if veto => AgentVerdict::Veto,
        _ if outcome.status == OutcomeStatus::Failed => AgentVerdict::Error,
        Some(Severity::Critical | Severity::High) => AgentVerdict::Warn,
        _ => AgentVerdict::Ok,
    }
}

/// Whether an agent's result needs a look. A veto stands even where the agent did not finish.
pub fn status_of(outcome: &AgentOutcome, verdict: AgentVerdict) -> AgentStatus {
    let worst = outcome.findings.iter().map(|finding| finding.severity).max();
    match (outcome.status, verdict) {
        (_, AgentVerdict::Veto) => AgentStatus::Blocked,
        (OutcomeStatus::Failed, _) | (_, AgentVerdict::Error) => AgentStatus::Error,
        _ if worst >= Some(Severity::High) => AgentStatus::NeedsAttention,
        (OutcomeStatus::Partial, _) => AgentStatus::Partial,
        (OutcomeStatus::Completed, _) => AgentStatus::Clean,
    }
}

/// The verdict file of an agent. It is made of counts alone, so that its length has a bound and
/// nothing that a stranger wrote is in it.
pub(crate) fn file(
    outcome: &AgentOutcome,
    verdict: AgentVerdict,
    detail_path: String,
    timestamp: String,
) -> VerdictFile {
    VerdictFile {
        schema_version: quorum_model::SCHEMA_VERSION,
        kind: VerdictFileKind::Verdict,
        agent: outcome.agent.clone(),
        status: status_of(outcome, verdict),
        model: outcome.model.clone(),
        tokens_spent: outcome.usage.tokens,
        files_changed: Vec::new(),
        findings_count: outcome.findings.len() as u64,
        summary: summary(outcome),
        detail_path,
        timestamp,
        run: outcome.run.clone(),
    }
}

/// How much there is, and how much of it is bad. The rest is in the index.
fn summary(outcome: &AgentOutcome) -> String {
    let counts = Counts::of(outcome.findings.iter().map(|finding| finding.severity));
    let mut summary = match outcome.findings.len() {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    for (count, name) in [(counts.critical, "critical"), (counts.high, "high")] {
        if count > 0 {
            summary.extend([", ", &count.to_string(), " ", name]);
        }
    }
    let read = only_read(outcome);
    if read > 0 {
        let files = if read == 1 { "file" } else { "files" };
        summary.extend(["; ", &read.to_string(), " ", files, " only read"]);
    }
    let left_out = outcome.skipped.unwrap_or_default();
    if left_out.medium_count + left_out.low_count > 0 {
        let (medium, low) = (left_out.medium_count.to_string(), left_out.low_count.to_string());
        summary.extend(["; left out ", &medium, " medium, ", &low, " low"]);
    }
    match outcome.status {
        OutcomeStatus::Completed => {}
        OutcomeStatus::Partial => summary.push_str("; partial"),
        OutcomeStatus::Failed => summary.push_str("; failed"),
    }
    summary
}

/// Files that it searched for secrets and hidden text, and did not review any line of.
fn only_read(outcome: &AgentOutcome) -> usize {
    let paths = |depth: Depth| -> BTreeSet<&str> {
        let covered = outcome.covered.iter().filter(|covered| covered.depth == depth);
        covered.map(|covered| covered.path.as_str()).collect()
    };
    paths(Depth::Read).difference(&paths(Depth::Reviewed)).count()
}

/// How many agents have each status, such as `3 CLEAN, 1 NEEDS_ATTENTION`.
pub fn count_by_status(verdicts: &[VerdictFile]) -> String {
    const ORDER: [AgentStatus; 5] = [
        AgentStatus::Clean,
        AgentStatus::NeedsAttention,
        AgentStatus::Blocked,
        AgentStatus::Partial,
        AgentStatus::Error,
    ];
    let count = |status| verdicts.iter().filter(|verdict| verdict.status == status).count();
    let counts = ORDER.map(|status| (status, count(status)));
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{count} {}", name(status)))
        .collect();
    if parts.is_empty() { "0 verdicts".to_owned() } else { parts.join(", ") }
}

/// Whether somebody should look at what the agent wrote.
pub fn needs_a_look(verdict: &VerdictFile) -> bool {
    verdict.status != AgentStatus::Clean
}

/// What an orchestrator reads of one agent.
pub fn line(verdict: &VerdictFile) -> String {
    format!("{} {}: {}", name(verdict.status), verdict.agent, verdict.summary)
}

/// The status as it is spelt in documents.
pub fn name(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Clean => "CLEAN",
        AgentStatus::NeedsAttention => "NEEDS_ATTENTION",
        AgentStatus::Blocked => "BLOCKED",
        AgentStatus::Partial => "PARTIAL",
        AgentStatus::Error => "ERROR",
    }
}
