//! Who looked at a change, in words.

use std::collections::BTreeSet;

use crate::seat::Seat;

/// `rules alone`, or `rules and claude-opus-5-5`; empty where nobody looked.
pub(crate) fn looked(seats: &[Seat<'_>]) -> String {
    let outcomes = seats.iter().filter(|seat| seat.unfinished().is_none());
    let outcomes: Vec<_> = outcomes.filter_map(|seat| Some((seat, seat.outcome?))).collect();
    if outcomes.is_empty() {
        return String::new();
    }
    let mut models = BTreeSet::new();
    for (seat, outcome) in &outcomes {
        if outcome.engine == "host" {
            models.insert("a coding assistant's agents");
        } else if seat.is_modelled() {
            models.insert(outcome.model.as_deref().unwrap_or(&outcome.engine));
        }
    }
    let models: Vec<&str> = models.into_iter().collect();
    match models.as_slice() {
        [] => "rules alone".to_owned(),
        [one] => format!("rules and {one}"),
        [most @ .., last] => format!("rules, {} and {last}", most.join(", ")),
    }
}
