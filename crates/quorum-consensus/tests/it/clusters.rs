//! What becomes of findings that belong together.

use quorum_model::severity::Severity;

use crate::fixture::{Review, finding};

fn three() -> Review {
    Review::of(&["a.go", "b.go"])
        .agent("security-reviewer")
        .agent("go-reviewer")
        .agent("code-quality-reviewer")
}

const LEAK: &str = "The handle is never closed";

#[test]
fn the_highest_severity_wins_with_the_confidence_that_came_with_it() {
    let mut mild = finding(Severity::Medium, "a.go", 7, LEAK);
    (mild.confidence, mild.recommendation) = (Some(1.0), "Use defer.".to_owned());
    let mut grave = finding(Severity::High, "a.go", 7, "Handle is not closed, never");
    (grave.confidence, grave.recommendation) = (Some(0.4), "Close it.".to_owned());
    let result = three().finds("security-reviewer", mild).finds("go-reviewer", grave).decide();
    let [merged] = result.findings.as_slice() else { panic!("{:?}", result.findings) };
    assert_eq!((merged.severity, merged.confidence), (Severity::High, 0.4));
    assert_eq!(merged.agents, ["security-reviewer", "go-reviewer"]);
    assert_eq!((merged.corroboration, merged.covered_by), (2, 3));
    assert_eq!(merged.recommendation, "Close it.\nUse defer.");
    let positions: Vec<_> = merged.positions.iter().map(|p| (&*p.agent, p.severity)).collect();
    assert_eq!(
        positions,
        [("go-reviewer", Severity::High), ("security-reviewer", Severity::Medium)]
    );
}

#[test]
fn neighbours_and_namesakes_are_linked() {
    let here = finding(Severity::High, "a.go", 7, LEAK);
    let beside = finding(Severity::Low, "a.go", 8, "A misleading name");
    let elsewhere = finding(Severity::High, "b.go", 70, LEAK);
    let result = three()
        .finds("go-reviewer", here)
        .finds("code-quality-reviewer", beside)
        .finds("go-reviewer", elsewhere)
        .decide();
    let ids: Vec<_> = result.findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["GO-001", "GO-002", "CQ-001"]);
    assert_eq!(result.findings[0].same_place, ["CQ-001"]);
    assert_eq!(result.findings[0].same_issue, ["GO-002"]);
    assert_eq!(result.findings[1].same_issue, ["GO-001"]);
    assert!(result.findings[1].same_place.is_empty());
}

#[test]
fn one_rule_that_ran_for_two_agents_is_one_witness() {
    let mut found = finding(Severity::High, "a.go", 7, LEAK);
    found.rule = Some("go.leak".to_owned());
    let review = three().finds("go-reviewer", found.clone()).finds("security-reviewer", found);
    let result = review.decide();
    assert_eq!(result.findings.len(), 1);
    assert_eq!(result.findings[0].corroboration, 1);
    assert_eq!(result.findings[0].agents.len(), 2);
    let own = finding(Severity::High, "a.go", 7, LEAK);
    let result = review.finds("code-quality-reviewer", own).decide();
    assert_eq!(result.findings[0].corroboration, 2);
}

#[test]
fn a_partial_agents_confidence_is_weighed_by_its_coverage() {
    let found = finding(Severity::High, "a.go", 7, LEAK);
    let result = three().finds("go-reviewer", found).skips("go-reviewer", "b.go").decide();
    let confidences = [&result.findings[0].confidence, &result.findings[0].positions[0].confidence];
    assert_eq!(confidences, [&0.45, &0.9], "half of what it said, and what it said");
    assert!(
        result.notes[0].starts_with("go-reviewer was shown 1 of 2 files whole"),
        "{:?}",
        result.notes
    );
}

#[test]
fn identical_lines_have_fingerprints_of_their_own_that_move_with_them() {
    let twice = |first, second| {
        let mut one = finding(Severity::High, "a.go", first, LEAK);
        one.evidence = Some("open(path)".to_owned());
        let mut other = one.clone();
        other.line = Some(second);
        let result = three().finds("go-reviewer", one).finds("go-reviewer", other).decide();
        result.findings.into_iter().map(|finding| finding.fingerprint).collect::<Vec<_>>()
    };
    let before = twice(7, 40);
    assert_ne!(before[0], before[1]);
    assert_eq!(before, twice(17, 50), "moved by ten lines");
}
