//! The order in which findings are told.

use quorum_model::finding::{Finding, FindingState};

/// Sorts findings so that what changed since the review before comes first; otherwise the order
/// stays.
pub fn changed_first(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| match finding.state {
        FindingState::New => 0,
        FindingState::Resolved => 1,
        FindingState::Persisting => 2,
        FindingState::NotReviewed => 3,
        FindingState::Suppressed => 4,
        FindingState::Dismissed => 5,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::published;

    #[test]
    fn what_changed_comes_first() {
        use FindingState::{Dismissed, New, NotReviewed, Persisting, Resolved};
        let mut findings: Vec<Finding> = [Persisting, Dismissed, New, NotReviewed, Resolved, New]
            .into_iter()
            .zip(1..)
            .map(|(state, line)| Finding { state, ..published("f", "a.go", line) })
            .collect();
        changed_first(&mut findings);
        let order: Vec<_> = findings.iter().map(|finding| (finding.state, finding.line)).collect();
        assert_eq!(
            order,
            [(New, 3), (New, 6), (Resolved, 5), (Persisting, 1), (NotReviewed, 4), (Dismissed, 2)]
        );
    }
}
