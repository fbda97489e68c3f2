//! How the change stands against each SOP, from all answers.

use std::collections::{BTreeMap, BTreeSet};

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

/// Error-level SOPs that were put to a reviewer who did not answer, with files that nobody who did
/// was given with the SOP.
pub(crate) fn unanswered(seats: &[Seat<'_>]) -> BTreeMap<String, Vec<String>> {
    let given = |seat: &Seat<'_>, sop: &str| -> BTreeSet<String> {
        let shards = seat.planned.shards.iter();
        let shards = shards.filter(|shard| shard.sops.iter().any(|other| other == sop));
        shards.flat_map(|shard| &shard.units).map(|unit| unit.path.to_string()).collect()
    };
    let (mut open, mut answered) = (BTreeMap::new(), BTreeMap::new());
    for (seat, outcome) in seats.iter().filter_map(|seat| Some((seat, seat.outcome?))) {
        for answer in outcome.sops.iter().filter(|answer| answer.severity == SopSeverity::Error) {
            let side: &mut BTreeMap<String, BTreeSet<String>> = match answer.status {
                SopStatus::NotReviewed => &mut open,
                SopStatus::NotChecked => continue,
                SopStatus::Passed | SopStatus::Violated | SopStatus::NotApplicable => &mut answered,
            };
            side.entry(answer.sop.clone()).or_default().extend(given(seat, &answer.sop));
        }
    }
    let left = open.into_iter().filter_map(|(sop, files)| {
        let known = answered.get(&sop);
        let without_files = files.is_empty() && known.is_none();
        let left: Vec<String> = files
            .into_iter()
            .filter(|file| known.is_none_or(|known| !known.contains(file)))
            .collect();
        (without_files || !left.is_empty()).then_some((sop, left))
    });
    left.collect()
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
