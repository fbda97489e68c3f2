//! Names of reviewers that live as long as the program.

use std::sync::Mutex;

/// The reviewers that rules name; a team's own are added as they are met, once each.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// The same name, for as long as the program runs. Findings carry it by reference.
pub(super) fn name(agent: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == agent) {
        return known;
    }
    let kept: &'static str = Box::leak(agent.to_owned().into_boxed_str());
    names.push(kept);
    kept
}
