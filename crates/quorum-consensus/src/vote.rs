//! Which findings enough agents agree on.

use std::collections::BTreeSet;

use quorum_model::budget::Share;

use crate::coverage::Covers;
use crate::findings::Cluster;
use crate::seat::Seat;

/// The share of the agents that were shown a place who must agree.
const AGREEMENT: Share = Share::percent(66);

/// Whether a finding is in: enough of those who were shown the place flagged it or confirmed it,
/// or it is a CRITICAL or HIGH one about security, which nobody can outvote.
pub(crate) fn agreed(cluster: &Cluster<'_>, seats: &[Seat<'_>], covers: &Covers<'_>) -> bool {
    let agreeing: BTreeSet<usize> = cluster.seats().union(&cluster.confirmed).copied().collect();
    let electorate = cluster.electorate(seats.len(), covers);
    cluster.is_protected(seats) || AGREEMENT.reached(agreeing.len() as u64, electorate.len() as u64)
}
