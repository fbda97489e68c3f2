//! Which findings enough agents agree on.

use std::collections::BTreeSet;

use quorum_model::budget::Share;

use crate::coverage::Covers;
use crate::findings::Cluster;
use crate::seat::Seat;

/// The share of the agents that were shown a place who must agree.
const AGREEMENT: Share = Share::percent(66);

/// Whether a finding is in: enough of those who were shown the place flagged it or confirmed it,
/// or nobody can outvote it, because it is a veto or a CRITICAL or HIGH one about security.
///
/// Reviewers that only ran rules beside models have no vote where a model was shown the place: they
/// say nothing about what they have no rule for.
pub(crate) fn agreed(cluster: &Cluster<'_>, seats: &[Seat<'_>], covers: &Covers<'_>) -> bool {
    if cluster.is_protected(seats) || cluster.is_vetoed(seats) {
        return true;
    }
    let electorate = cluster.electorate(seats.len(), covers);
    let modelled: BTreeSet<usize> =
        electorate.iter().copied().filter(|&seat| seats[seat].is_modelled()).collect();
    let voters = if modelled.is_empty() { electorate } else { modelled };
    let agreeing: BTreeSet<usize> = cluster.seats().union(&cluster.confirmed).copied().collect();
    let agreeing = agreeing.intersection(&voters).count();
    AGREEMENT.reached(agreeing as u64, voters.len() as u64)
}
