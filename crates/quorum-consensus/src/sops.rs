//! How the change stands against each SOP, from all answers.

use std::collections::BTreeMap;

use quorum_model::plan::Plan;
use quorum_model::result::{SopResult, SopSeverity, SopStatus};

use crate::seat::Seat;

/// One result for each SOP that was planned or answered for: the worst of its answers.
pub(crate) fn merge(plan: &Plan, seats: &[Seat<'_>]) -> Vec<SopResult> {
    let mut merged: BTreeMap<&str, SopResult> = BTreeMap::new();
    for answer in seats.iter().filter_map(|seat| seat.outcome).flat_map(|outcome| &outcome.sops) {
        match merged.get_mut(answer.sop.as_str()) {
            Some(kept) if weight(kept) >= weight(answer) => {}
            Some(kept) => kept.clone_from(answer),
            None => {
                merged.insert(&answer.sop, answer.clone());
            }
        }
    }
    let planned = plan.agents.iter().flat_map(|agent| &agent.shards).flat_map(|shard| &shard.sops);
    for sop in planned {
        merged.entry(sop).or_insert_with(|| SopResult {
            sop: sop.clone(),
            severity: SopSeverity::default(),
            status: SopStatus::NotReviewed,
            evidence: "no reviewer answered for it".to_owned(),
            file: None,
            line: None,
            finding_severity: None,
        });
    }
    merged.into_values().collect()
}

/// What a reader should know of SOPs that are violated and do not block.
pub(crate) fn notes(sops: &[SopResult]) -> impl Iterator<Item = String> {
    let violated = sops.iter().filter(|sop| sop.status == SopStatus::Violated);
    violated.filter_map(|sop| {
        let severity = match sop.severity {
            SopSeverity::Error => return None,
            SopSeverity::Warning => "warning",
            SopSeverity::Info => "info",
        };
        Some(format!("the SOP {} ({severity}) is violated: {}", sop.sop, sop.evidence))
    })
}

/// A violation outweighs everything, and any answer outweighs none; the text makes it a total
/// order, so that the order of the agents does not matter.
fn weight(answer: &SopResult) -> (u8, u8, &str) {
    let status = match answer.status {
        SopStatus::NotChecked => 0,
        SopStatus::NotReviewed => 1,
        SopStatus::NotApplicable => 2,
        SopStatus::Passed => 3,
        SopStatus::Violated => 4,
    };
    let severity = match answer.severity {
        SopSeverity::Info => 0,
        SopSeverity::Warning => 1,
        SopSeverity::Error => 2,
    };
    (status, severity, &answer.evidence)
}
