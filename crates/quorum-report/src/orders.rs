//! Violated standing orders, for formats that know nothing but findings.

use quorum_model::finding::{Finding, FindingState};
use quorum_model::result::{ReviewResult, SopResult, SopSeverity, SopStatus};
use quorum_model::severity::Severity;

/// One finding for each violated order, with the same id in every format: `SOP-name`, by the rule
/// `sop/name`.
pub(crate) fn violated(result: &ReviewResult) -> Vec<Finding> {
    let violated = result.sops.iter().filter(|sop| sop.status == SopStatus::Violated);
    violated.map(finding).collect()
}

fn finding(sop: &SopResult) -> Finding {
    let name = &sop.sop;
    // Where no code shows it, the order itself is what a reader has to open.
    let file = sop.file.clone().unwrap_or_else(|| format!(".quorum/sops/{name}.md"));
    let line = sop.line.unwrap_or(1);
    Finding {
        id: format!("SOP-{name}"),
        fingerprint: format!("sop/{name}:{file}"),
        severity: match sop.severity {
            SopSeverity::Error => Severity::High,
            SopSeverity::Warning => Severity::Medium,
            SopSeverity::Info => Severity::Low,
        },
        category: "sop".to_owned(),
        rule: Some(format!("sop/{name}")),
        line,
        end_line: line,
        evidence: String::new(),
        issue: format!("the SOP {name} is violated: {}", sop.evidence),
        recommendation: format!("Keep to .quorum/sops/{name}.md."),
        cwe: None,
        agents: Vec::new(),
        corroboration: 1,
        covered_by: 0,
        confidence: 1.0,
        state: FindingState::New,
        positions: Vec::new(),
        confirmed_by: Vec::new(),
        disputed_by: Vec::new(),
        refuted_by: None,
        refutation: None,
        same_place: Vec::new(),
        same_issue: Vec::new(),
        trace: Vec::new(),
        replacement: None,
        references: Vec::new(),
        effort: None,
        dependency: None,
        user_impact: None,
        suppression: None,
        file,
    }
}
