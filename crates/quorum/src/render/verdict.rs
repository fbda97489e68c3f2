//! Words for verdicts.

use quorum_model::verdict::Verdict;

/// The verdict as documents spell it.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "APPROVED",
        Verdict::Advisory => "ADVISORY",
        Verdict::ChangesRequested => "CHANGES_REQUESTED",
        Verdict::Blocked => "BLOCKED",
        Verdict::Incomplete => "INCOMPLETE",
        Verdict::NothingToReview => "NOTHING_TO_REVIEW",
    }
}
