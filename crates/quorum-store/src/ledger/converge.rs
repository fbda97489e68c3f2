//! Reviews of the same change, one after the other, come to an end.

use std::collections::BTreeMap;

use quorum_model::finding::{Finding, FindingState};
use quorum_model::scope::{Scope, ScopeKind};
use quorum_model::severity::Severity;

/// Rounds after which untouched code is left in peace.
const PATIENT_ROUNDS: u32 = 3;

/// What a review is a round of: a pull request, or what a branch adds. Other scopes have no rounds.
pub fn series(scope: &Scope, branch: Option<&str>) -> Option<String> {
    match (scope.kind, branch) {
        (ScopeKind::Pr, _) => Some(format!("pull request {}", scope.label)),
        (ScopeKind::Base | ScopeKind::Branch, Some(branch)) => Some(format!("branch {branch}")),
        _ => None,
    }
}

/// Lines that changed since the round before, by file; a file that is not there is untouched.
pub type Touched = BTreeMap<String, Vec<(u64, u64)>>;

/// Whether a finding is held back: from the fourth round of a change on, code that was not touched
/// since the round before is only spoken of where it matters. `touched` is absent where nobody
/// knows what changed; then everything may have.
pub fn is_held_back(finding: &Finding, round: u32, touched: Option<&Touched>) -> bool {
    let Some(touched) = touched else { return false };
    let lines = touched.get(&finding.file).map_or(&[] as &[_], Vec::as_slice);
    let end = finding.end_line.max(finding.line);
    let is_touched = lines.iter().any(|&(first, last)| first <= end && finding.line <= last);
    round > PATIENT_ROUNDS && finding.severity < Severity::High && !is_touched
}

/// Sorts findings so that what changed since the round before comes first; otherwise the order
/// stays.
pub fn changed_first(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| match finding.state {
        FindingState::New => 0,
        FindingState::Resolved => 1,
        FindingState::Persisting => 2,
        FindingState::NotReviewed => 3,
        FindingState::Dismissed => 4,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::published;

    #[test]
    fn from_the_fourth_round_on_only_what_matters_is_said_of_untouched_code() {
        let touched = Touched::from([("a.go".to_owned(), vec![(10, 12)])]);
        let cases = [
            (3, Severity::Low, 50, false),
            (4, Severity::Low, 50, true),
            (4, Severity::Medium, 50, true),
            (4, Severity::High, 50, false),
            (4, Severity::Critical, 50, false),
            (4, Severity::Low, 12, false),
            (9, Severity::Low, 13, true),
        ];
        for (round, severity, line, held) in cases {
            let mut finding = published("f", "a.go", line);
            finding.severity = severity;
            assert_eq!(is_held_back(&finding, round, Some(&touched)), held, "{round} {severity:?}");
            assert!(!is_held_back(&finding, round, None));
        }
    }

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
