//! What is special about each protocol.

use quorum_consensus::messages;
use quorum_consensus::{Input, check_grounded};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{Reaction, Stance};
use quorum_model::plan::{Protocol, ReviewScope};
use quorum_model::severity::Severity;
use quorum_model::verdict::Verdict;

use crate::fixture::{RUN, Review, finding};

const NAMES: [&str; 6] = [
    "go-reviewer",
    "code-quality-reviewer",
    "documentation-reviewer",
    "rust-reviewer",
    "java-reviewer",
    "python-reviewer",
];

/// A review by `agents` agents of which the first `flagging` report the same defect.
fn flagged(agents: usize, flagging: usize, protocol: Protocol) -> Review {
    let mut review = Review::of(&["a.go"]).protocol(protocol);
    for (index, name) in NAMES[..agents].iter().enumerate() {
        review = review.agent(name);
        if index < flagging {
            review = review.finds(name, defect());
        }
    }
    review
}

fn defect() -> AgentFinding {
    finding(Severity::High, "a.go", 7, "The handle is never closed")
}

fn reacts(review: &mut Review, name: &str, stance: Stance, evidence: Option<&str>) {
    let fingerprint = quorum_consensus::fingerprint(&defect(), 0);
    let evidence = evidence.map(str::to_owned);
    review.outcome_of(name).reactions.push(Reaction {
        fingerprint,
        stance,
        evidence,
        severity: (stance == Stance::ReRate).then_some(Severity::Low),
        reason: None,
    });
}

#[test]
fn a_second_look_sets_aside_what_one_agent_alone_saw() {
    for protocol in [Protocol::Veto, Protocol::Ci] {
        let mut review = flagged(3, 1, protocol);
        reacts(&mut review, NAMES[1], Stance::Refute, None);
        assert_eq!(review.decide().verdict, Verdict::ChangesRequested, "an opinion weighs nothing");
        reacts(&mut review, NAMES[1], Stance::Refute, Some("defer f.Close()"));
        let result = review.decide();
        assert_eq!(result.verdict, Verdict::Approved);
        let refutation = result.not_agreed[0].refutation.as_ref().expect("it is marked");
        assert_eq!((&*refutation.by, &*refutation.evidence), (NAMES[1], "defer f.Close()"));
    }
}

#[test]
fn a_second_look_outweighs_neither_two_witnesses_nor_a_security_finding() {
    let mut agreed = flagged(3, 2, Protocol::Veto);
    reacts(&mut agreed, NAMES[2], Stance::Refute, Some("defer f.Close()"));
    let mut security = Review::of(&["a.go"]).agent("security-reviewer").agent(NAMES[1]);
    security = security.finds("security-reviewer", defect());
    reacts(&mut security, NAMES[1], Stance::Refute, Some("defer f.Close()"));
    for review in [agreed, security] {
        let result = review.decide();
        assert!(result.findings[0].refutation.is_some(), "it is shown beside the finding");
        assert_ne!(result.verdict, Verdict::Approved);
    }
}

#[test]
fn what_blocks_is_what_vetoes_or_fails() {
    let review = Review::of(&["a.go"])
        .agent(NAMES[0])
        .finds(NAMES[0], finding(Severity::Critical, "a.go", 7, "Data is lost"))
        .finds(NAMES[0], finding(Severity::High, "a.go", 40, "The handle is never closed"))
        .finds(NAMES[0], finding(Severity::Medium, "a.go", 80, "A misleading name"));
    let blocking = quorum_consensus::blocking(&review.input()).expect("it can be decided");
    let severities: Vec<Severity> = blocking.iter().map(|finding| finding.severity).collect();
    assert_eq!(severities, [Severity::Critical, Severity::High]);
}

#[test]
fn two_thirds_agree_and_less_does_not() {
    let cases = [
        (1, 1, true),
        (2, 1, false),
        (3, 2, true),
        (3, 1, false),
        (5, 3, false),
        (5, 4, true),
        (6, 4, true),
        (6, 3, false),
    ];
    for (agents, flagging, agreed) in cases {
        let result = flagged(agents, flagging, Protocol::Vote).decide();
        assert_eq!(result.findings.len(), usize::from(agreed), "{flagging} of {agents}");
        assert_eq!(result.not_agreed.len(), usize::from(!agreed), "{flagging} of {agents}");
        let expected = if agreed { Verdict::ChangesRequested } else { Verdict::Approved };
        assert_eq!(result.verdict, expected, "{flagging} of {agents}");
        let of = result.findings.iter().chain(&result.not_agreed).next().expect("one of the two");
        assert_eq!((of.corroboration, of.covered_by), (flagging as u64, agents as u64));
    }
}

#[test]
fn who_was_not_shown_the_place_has_no_vote() {
    let review = flagged(3, 1, Protocol::Vote);
    assert_eq!(review.decide().findings.len(), 0);
    let mut two = Review::of(&["a.go", "b.go"]).protocol(Protocol::Vote);
    for name in &NAMES[..3] {
        two = two.agent(name);
    }
    let two = two.finds(NAMES[0], defect()).skips(NAMES[1], "a.go").skips(NAMES[2], "a.go");
    assert_eq!(two.decide().findings[0].covered_by, 1);
}

#[test]
fn a_ballot_counts_with_evidence_only() {
    let mut review = flagged(3, 1, Protocol::Vote);
    reacts(&mut review, NAMES[1], Stance::Confirm, None);
    assert!(review.decide().findings.is_empty(), "hearsay weighs nothing");
    reacts(&mut review, NAMES[1], Stance::Confirm, Some("line_7();"));
    let result = review.decide();
    assert_eq!(result.findings[0].confirmed_by, [NAMES[1]]);
    assert_eq!(result.findings[0].corroboration, 2);
    assert_eq!(result.findings[0].agents, [NAMES[0]]);
}

#[test]
fn nobody_confirms_itself() {
    let mut review = flagged(2, 1, Protocol::Vote);
    reacts(&mut review, NAMES[0], Stance::Confirm, Some("line_7();"));
    let result = review.decide();
    assert!(result.findings.is_empty());
    assert_eq!(result.not_agreed[0].corroboration, 1);
}

#[test]
fn severe_security_findings_cannot_be_outvoted() {
    let mut review = Review::of(&["a.go"]).protocol(Protocol::Vote).agent("security-reviewer");
    for name in NAMES {
        review = review.agent(name);
    }
    let veto =
        review.clone().finds("security-reviewer", finding(Severity::Critical, "a.go", 7, "x"));
    assert_eq!(veto.decide().verdict, Verdict::Blocked);
    let high = review.clone().finds("security-reviewer", defect());
    assert_eq!(high.decide().findings.len(), 1);
    let medium = finding(Severity::Medium, "a.go", 7, "x");
    let medium = review.clone().finds("security-reviewer", medium);
    assert_eq!(medium.decide().not_agreed.len(), 1);
    let mut by_category = defect();
    by_category.category = "injection".to_owned();
    assert_eq!(review.finds(NAMES[0], by_category).decide().findings.len(), 1);
}

#[test]
fn a_withdrawal_takes_one_of_two_defects_in_one_line() {
    let name = NAMES[0];
    let mut review = Review::of(&["a.go"])
        .protocol(Protocol::Ci)
        .agent(name)
        .finds(name, finding(Severity::Critical, "a.go", 7, "Data is lost"))
        .finds(name, finding(Severity::Low, "a.go", 7, "A misleading name"));
    let both = review.decide().findings;
    assert_eq!(both.len(), 2);
    for (withdrawn, kept) in [(&both[0], &both[1]), (&both[1], &both[0])] {
        review.outcome_of(name).reactions = vec![Reaction {
            fingerprint: withdrawn.fingerprint.clone(),
            stance: Stance::Withdraw,
            evidence: None,
            severity: None,
            reason: None,
        }];
        let left = review.decide().findings;
        let left: Vec<&str> = left.iter().map(|finding| finding.issue.as_str()).collect();
        assert_eq!(left, [kept.issue.as_str()]);
    }
}

#[test]
fn authors_revise_their_own_findings_under_ci_alone() {
    let mut review = flagged(2, 1, Protocol::Ci);
    reacts(&mut review, NAMES[0], Stance::ReRate, None);
    let result = review.decide();
    assert_eq!(result.findings[0].severity, Severity::Low);
    assert_eq!(result.verdict, Verdict::Approved);
    reacts(&mut review, NAMES[0], Stance::Withdraw, None);
    let result = review.decide();
    assert!(result.findings.is_empty());
    assert_eq!(result.rejected["withdrawn by its author"], 1);
    for protocol in [Protocol::Veto, Protocol::Aad, Protocol::Vote] {
        let result = review.clone().protocol(protocol).decide();
        let kept = result.findings.iter().chain(&result.not_agreed).next();
        assert_eq!(kept.expect("the finding").severity, Severity::High, "{protocol:?}");
    }
}

#[test]
fn nobody_revises_another_agents_finding() {
    let mut review = flagged(3, 2, Protocol::Ci);
    for stance in [Stance::Withdraw, Stance::ReRate, Stance::Dispute] {
        reacts(&mut review, NAMES[2], stance, None);
    }
    let result = review.decide();
    assert_eq!(result.findings[0].severity, Severity::High);
    assert_eq!(result.findings[0].agents.len(), 2);
    assert_eq!(result.findings[0].disputed_by, [NAMES[2]]);
    reacts(&mut review, NAMES[0], Stance::Withdraw, None);
    let result = review.decide();
    assert_eq!(result.findings[0].agents, [NAMES[1]], "the other author stays");
}

#[test]
fn messages_carry_severity_place_and_title() {
    let mut review = flagged(3, 1, Protocol::Ci);
    review.outcome_of(NAMES[0]).findings[0].issue =
        "The handle is never closed. It is opened by a helper that nobody calls twice.".to_owned();
    let input = |review: &Review, reader: &str| {
        messages(
            &Input {
                run: RUN,
                plan: &review.plan,
                agents: &review.agents,
                outcomes: &review.outcomes,
                gates: &[],
                policy: review.policy.clone(),
            },
            reader,
        )
        .expect("messages")
    };
    let told = input(&review, NAMES[1]);
    let json = serde_json::to_value(&told).expect("messages are data");
    let fingerprint = quorum_consensus::fingerprint(&defect(), 0);
    assert_eq!(
        json,
        serde_json::json!([{
            "fingerprint": fingerprint, "severity": "HIGH", "file": "a.go", "line": 7,
            "title": "The handle is never closed", "own": false,
        }])
    );
    assert!(input(&review, NAMES[0])[0].own);
    assert_eq!(input(&review.clone().protocol(Protocol::Vote), NAMES[0]), []);
    assert_eq!(input(&review.protocol(Protocol::Veto), NAMES[1]), []);
}

#[test]
fn requirements_are_data() {
    let [veto, aad, ci, vote] =
        [Protocol::Veto, Protocol::Aad, Protocol::Ci, Protocol::Vote].map(Protocol::requirements);
    assert_eq!((aad.scope, veto.scope), (ReviewScope::Whole, ReviewScope::Domain));
    assert_eq!((veto.rounds, aad.rounds, ci.rounds, vote.rounds), (1, 1, 2, 1));
    assert!(ci.exchange && !ci.ballot && vote.ballot && !vote.exchange);
    assert!(!aad.shares_hints && veto.shares_hints);
    assert_eq!(ci.exchange_share.floor_of(8192), 2048);
}

#[test]
fn a_blocking_finding_that_nobody_made_is_an_error() {
    let review = flagged(2, 1, Protocol::Veto);
    let mut result = review.decide();
    assert!(check_grounded(&result, &review.outcomes).is_ok());
    result.findings[0].positions[0].issue = "Invented".to_owned();
    assert!(check_grounded(&result, &review.outcomes).is_err());
    result.findings[0].positions.clear();
    assert!(check_grounded(&result, &review.outcomes).is_err());
    let mut stale = review.outcomes.clone();
    for outcome in &mut stale {
        outcome.run = "run-0".to_owned();
    }
    assert!(check_grounded(&review.decide(), &stale).is_err());
}

/// A reviewer that only ran rules says nothing about what it has no rule for.
#[test]
fn rules_beside_models_have_no_vote() {
    let review = || {
        Review::of(&["a.go"])
            .protocol(Protocol::Vote)
            .agent("go-reviewer")
            .agent("code-quality-reviewer")
            .agent("documentation-reviewer")
            .by_rules("code-quality-reviewer")
            .by_rules("documentation-reviewer")
    };
    let found = || finding(Severity::Medium, "a.go", 7, "The handle is never closed");
    let model = review().finds("go-reviewer", found()).decide();
    assert_eq!((model.findings.len(), model.not_agreed.len()), (1, 0));
    let rules = review().finds("code-quality-reviewer", found()).decide();
    assert_eq!((rules.findings.len(), rules.not_agreed.len()), (0, 1));
    let alone = review().by_rules("go-reviewer").finds("go-reviewer", found()).decide();
    assert_eq!((alone.findings.len(), alone.not_agreed.len()), (0, 1), "all of them vote");
}

#[test]
fn no_veto_is_outvoted() {
    let veto = finding(Severity::Critical, "a.go", 7, "Data is lost");
    let result = Review::of(&["a.go"])
        .protocol(Protocol::Vote)
        .agent("go-reviewer")
        .agent("code-quality-reviewer")
        .agent("documentation-reviewer")
        .finds("go-reviewer", veto)
        .decide();
    assert_eq!(result.verdict, Verdict::Blocked);
}
