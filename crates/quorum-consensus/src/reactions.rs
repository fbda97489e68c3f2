//! What agents said about findings when they were asked.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::outcome::{Reaction, Stance};
use quorum_model::plan::Protocol;

use crate::coverage::Covers;
use crate::findings::Cluster;
use crate::seat::Seat;

/// Applies what agents said, as far as they were asked. Returns how many findings their authors
/// withdrew.
///
/// Under any protocol a second look may refute a finding, by code that it quotes. Under `ci` an agent may withdraw or re-rate its own findings. Under `ci` and `vote` it may
/// confirm or dispute those of others, if it was shown the place; a confirmation without evidence
/// is hearsay and weighs nothing. No reaction changes what another agent said.
pub(crate) fn apply<'a>(
    clusters: &mut Vec<Cluster<'a>>,
    protocol: Protocol,
    seats: &[Seat<'a>],
    covers: &Covers<'_>,
) -> u64 {
    let by_fingerprint = index(clusters);
    refute(clusters, seats, &by_fingerprint);
    let asked = protocol.requirements();
    if !asked.exchange && !asked.ballot {
        return 0;
    }
    let mut withdrawn = 0;
    // Stances first: whose finding it is does not change when its author takes it back.
    for (number, seat) in seats.iter().enumerate() {
        let reactions = seat.outcome.iter().flat_map(|outcome| &outcome.reactions);
        for reaction in reactions {
            for &cluster in by_fingerprint.get(&reaction.fingerprint).into_iter().flatten() {
                react(&mut clusters[cluster], reaction, number, covers);
            }
        }
    }
    if asked.exchange {
        // Of several ratings of one finding the worst counts, whatever came last, and a withdrawal
        // counts whatever else was said.
        for (number, seat) in seats.iter().enumerate() {
            let mut reactions: Vec<&Reaction> =
                seat.outcome.iter().flat_map(|outcome| &outcome.reactions).collect();
            reactions
                .sort_by_key(|reaction| (reaction.stance == Stance::Withdraw, reaction.severity));
            for reaction in reactions {
                for &cluster in by_fingerprint.get(&reaction.fingerprint).into_iter().flatten() {
                    withdrawn += revise(&mut clusters[cluster], reaction, number, seat);
                }
            }
        }
    }
    for cluster in &mut *clusters {
        // Who says both says nothing.
        let both: BTreeSet<usize> =
            cluster.confirmed.intersection(&cluster.disputed).copied().collect();
        cluster.confirmed.retain(|seat| !both.contains(seat));
        cluster.disputed.retain(|seat| !both.contains(seat));
    }
    clusters.retain(|cluster| !cluster.members.is_empty());
    withdrawn
}

/// Notes who refuted what; of several the first agent of the plan speaks.
fn refute<'a>(
    clusters: &mut [Cluster<'a>],
    seats: &[Seat<'a>],
    by_fingerprint: &BTreeMap<String, BTreeSet<usize>>,
) {
    for (number, seat) in seats.iter().enumerate() {
        let reactions = seat.outcome.into_iter().flat_map(|outcome| &outcome.reactions);
        let evident = |reaction: &&Reaction| {
            let evidence = reaction.evidence.as_deref().unwrap_or_default();
            reaction.stance == Stance::Refute && !evidence.trim().is_empty()
        };
        for reaction in reactions.filter(evident) {
            for &cluster in by_fingerprint.get(&reaction.fingerprint).into_iter().flatten() {
                clusters[cluster].refuted.get_or_insert((number, reaction));
            }
        }
    }
}

/// The clusters by their own fingerprint, and by a member's where no cluster has that for its own:
/// two defects in one line may share a member's fingerprint, and a reaction to one of them is not
/// one to the other.
fn index(clusters: &[Cluster<'_>]) -> BTreeMap<String, BTreeSet<usize>> {
    let own = clusters.iter().enumerate().map(|(number, cluster)| (&cluster.fingerprint, number));
    let own: BTreeMap<&String, usize> = own.collect();
    let mut index: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (number, cluster) in clusters.iter().enumerate() {
        index.entry(cluster.fingerprint.clone()).or_default().insert(number);
        for member in cluster.members.iter().filter(|m| !own.contains_key(&m.fingerprint)) {
            index.entry(member.fingerprint.clone()).or_default().insert(number);
        }
    }
    index
}

fn react(cluster: &mut Cluster<'_>, reaction: &Reaction, seat: usize, covers: &Covers<'_>) {
    let leader = cluster.leader();
    let author = cluster.seats().contains(&seat);
    if author || !covers.saw(seat, leader.file, leader.lines()) {
        return;
    }
    let evidence = reaction.evidence.as_deref().unwrap_or_default();
    match reaction.stance {
        Stance::Confirm if !evidence.trim().is_empty() => {
            cluster.confirmed.insert(seat);
        }
        Stance::Dispute => {
            cluster.disputed.insert(seat);
        }
        Stance::Confirm | Stance::Withdraw | Stance::ReRate | Stance::Refute => {}
    }
}

/// Lets an author take back or re-rate what it said; others' members are left alone.
fn revise(cluster: &mut Cluster<'_>, reaction: &Reaction, index: usize, seat: &Seat<'_>) -> u64 {
    let own_fingerprint = reaction.fingerprint != cluster.fingerprint;
    let meant = |fingerprint: &str| !own_fingerprint || fingerprint == reaction.fingerprint;
    match (reaction.stance, reaction.severity) {
        (Stance::Withdraw, _) => {
            let before = cluster.members.len();
            cluster.members.retain(|m| m.seat != index || !meant(&m.fingerprint));
            (before - cluster.members.len()) as u64
        }
        (Stance::ReRate, Some(severity)) => {
            let own = cluster.members.iter_mut().filter(|member| member.seat == index);
            for member in own.filter(|member| meant(&member.fingerprint)) {
                member.severity = seat.cap(severity);
            }
            cluster.sort();
            0
        }
        _ => 0,
    }
}
