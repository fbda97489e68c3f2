//! The table of verdicts, row by row.

use quorum_consensus::ConsensusError;
use quorum_model::coverage::CoverageState;
use quorum_model::gate::{GateResult, GateStatus};
use quorum_model::outcome::OutcomeStatus;
use quorum_model::plan::Protocol;
use quorum_model::result::{SopResult, SopSeverity, SopStatus};
use quorum_model::scope::ScopeKind;
use quorum_model::severity::Severity;
use quorum_model::verdict::{AgentVerdict, Verdict};

use crate::fixture::{Review, finding};

fn two() -> Review {
    Review::of(&["a.go", "b.go"]).agent("security-reviewer").agent("go-reviewer")
}

#[test]
fn nothing_found_and_everything_seen_is_approved() {
    for protocol in [Protocol::Veto, Protocol::Aad, Protocol::Ci, Protocol::Vote] {
        let result = two().protocol(protocol).decide();
        assert_eq!((result.verdict, result.exit_code), (Verdict::Approved, 0));
        assert_eq!(result.reasons, ["no finding at or above HIGH in 2 files, by rules and small"]);
        assert!(result.execution.agents.iter().all(|agent| agent.verdict == AgentVerdict::Ok));
    }
}

#[test]
fn a_veto_blocks_and_names_its_finding() {
    let bad = finding(Severity::Critical, "a.go", 7, "Data is lost. It is gone.");
    let result = two().finds("go-reviewer", bad).decide();
    assert_eq!((result.verdict, result.exit_code), (Verdict::Blocked, 1));
    assert_eq!(result.reasons[0], "go-reviewer vetoes GO-001 (critical): Data is lost (a.go:7)");
    assert_eq!(result.execution.agents[1].verdict, AgentVerdict::Veto);
    assert_eq!(result.execution.agents[0].verdict, AgentVerdict::Ok);
}

#[test]
fn criteria_of_its_own_make_a_high_finding_a_veto() {
    let mut secret = finding(Severity::High, "a.go", 7, "A key is in the code");
    secret.category = "secrets".to_owned();
    let result = two().finds("security-reviewer", secret).decide();
    assert_eq!(result.verdict, Verdict::Blocked);
    assert!(result.reasons[0].contains("secret-in-code"), "{:?}", result.reasons);
}

#[test]
fn an_agent_without_a_veto_warns() {
    let review = Review::of(&["a.go"]).agent("go-reviewer").adviser("style-reviewer");
    let bad = finding(Severity::Critical, "a.go", 7, "Data is lost");
    let result = review.finds("style-reviewer", bad).decide();
    assert_eq!(result.execution.agents[1].verdict, AgentVerdict::Warn);
    assert_eq!(result.verdict, Verdict::ChangesRequested);
}

#[test]
fn the_user_persona_never_rates_above_medium() {
    let review = Review::of(&["a.go"]).agent("go-reviewer").adviser("user-persona-reviewer");
    let bad = finding(Severity::Critical, "a.go", 7, "A flag is gone");
    let result = review.finds("user-persona-reviewer", bad).decide();
    assert_eq!(result.findings[0].severity, Severity::Medium);
    assert_eq!(result.verdict, Verdict::Approved);
}

#[test]
fn a_failed_vetoing_agent_leaves_the_review_incomplete() {
    let result = two().fails("go-reviewer").decide();
    assert_eq!((result.verdict, result.exit_code), (Verdict::Incomplete, 2));
    assert_eq!(result.execution.agents[1].verdict, AgentVerdict::Error);
    assert!(result.reasons[0].starts_with("go-reviewer did not finish: the provider"));
}

#[test]
fn a_veto_of_a_failed_agent_still_blocks() {
    let bad = finding(Severity::Critical, "a.go", 7, "Data is lost");
    let result = two().finds("go-reviewer", bad).fails("go-reviewer").decide();
    assert_eq!(result.verdict, Verdict::Blocked);
    assert_eq!(result.reasons.len(), 2, "the veto and the failure: {result:?}");
}

#[test]
fn missing_foreign_and_doubled_reports_are_no_pass() {
    let mut missing = two();
    missing.outcomes.pop();
    assert_eq!(missing.decide().verdict, Verdict::Incomplete);

    let mut foreign = two();
    foreign.outcome_of("go-reviewer").run = "run-0".to_owned();
    let result = foreign.decide();
    assert_eq!(result.verdict, Verdict::Incomplete);
    assert!(result.reasons[0].contains("its report is of run run-0"), "{:?}", result.reasons);

    let mut doubled = two();
    doubled.outcomes.push(doubled.outcomes[0].clone());
    assert!(matches!(doubled.try_decide(), Err(ConsensusError::ReportedTwice { .. })));
}

#[test]
fn an_agent_that_was_shown_nothing_did_not_finish() {
    let mut review = two();
    review.outcome_of("go-reviewer").covered.clear();
    assert_eq!(review.decide().verdict, Verdict::Incomplete);
}

#[test]
fn a_sensitive_file_without_security_coverage_blocks() {
    let skipped = two().sensitive("b.go").skips("security-reviewer", "b.go").decide();
    assert_eq!(skipped.verdict, Verdict::Blocked);
    assert_eq!(
        skipped.reasons,
        ["b.go is security-sensitive and was not reviewed by security-reviewer (budget limit)"]
    );
    let half = two().sensitive("b.go").half("security-reviewer", "b.go").decide();
    assert_eq!(half.verdict, Verdict::Blocked);
    assert!(half.reasons[0].contains("lines 51–100"), "{:?}", half.reasons);
    let unselected = Review::of(&["a.go"]).sensitive("a.go").agent("go-reviewer").decide();
    assert_eq!(unselected.verdict, Verdict::Blocked);
}

#[test]
fn a_file_that_nobody_saw_leaves_the_review_incomplete() {
    let result = two().skips("security-reviewer", "b.go").skips("go-reviewer", "b.go").decide();
    assert_eq!(result.verdict, Verdict::Incomplete);
    assert_eq!(result.reasons, ["b.go was reviewed by no agent"]);
    assert_eq!(result.coverage.uncovered, ["b.go"]);
    let half = two().half("security-reviewer", "b.go").half("go-reviewer", "b.go").decide();
    assert_eq!(half.verdict, Verdict::Incomplete);
    assert_eq!(half.reasons, ["lines 51–100 of b.go were shown to no agent"]);
}

#[test]
fn a_gap_names_the_command_that_closes_it() {
    let mut review = two().skips("security-reviewer", "b.go");
    let result = review.decide();
    assert_eq!(result.verdict, Verdict::Approved, "the other agent saw it");
    let command = &result.coverage.gaps[0].command;
    assert!(command.starts_with("quorum review b.go --agents security --provider openai"));
    review.plan.scope.kind = ScopeKind::Commit;
    review.plan.scope.head = Some("c0ffee".to_owned());
    assert!(review.decide().coverage.gaps[0].command.contains(" --commit c0ffee"));
    let row = &result.coverage.files[1];
    assert_eq!(row.agents["security-reviewer"], CoverageState::Skipped);
    assert_eq!(result.execution.agents[0].coverage_percent(), 50);
    assert!(result.execution.agents[0].partial);
}

#[test]
fn ignored_vetoes_advise_and_keep_the_reason() {
    let bad = finding(Severity::Critical, "a.go", 7, "Data is lost");
    let mut review = two().finds("go-reviewer", bad);
    review.policy.ignore_vetos = Some("a known risk".to_owned());
    let result = review.decide();
    assert_eq!((result.verdict, result.exit_code), (Verdict::Advisory, 0));
    assert!(result.reasons[0].ends_with("; ignored: a known risk"), "{:?}", result.reasons);
    assert_eq!(result.ignored_vetos.as_deref(), Some("a known risk"));
    review.policy.ignore_vetos = Some("  ".to_owned());
    assert_eq!(review.try_decide(), Err(ConsensusError::NoReason));
}

fn gate_of(status: GateStatus, required: bool) -> GateResult {
    let value = serde_json::json!({
        "name": "test", "command": "cargo test", "required": required, "status": status,
        "exit_code": 101, "output": "", "category": "build", "preset": "rust",
    });
    serde_json::from_value(value).expect("a gate")
}

#[test]
fn a_required_gate_is_the_only_reason_where_no_reviewer_was_asked() {
    let mut review = two();
    review.outcomes.clear();
    review.gates = vec![gate_of(GateStatus::Failed, true)];
    let result = review.decide();
    assert_eq!(result.verdict, Verdict::Blocked);
    assert_eq!(result.reasons, ["the required gate test failed with exit code 101: cargo test"]);
    assert_eq!(result.coverage.uncovered.len(), review.plan.scope.files.len());
}

#[test]
fn what_a_gate_disproves_is_marked_and_stays() {
    let claim = |file: &str, issue: &str| {
        let mut review = two();
        let agent = review.outcomes[0].agent.clone();
        let finding = crate::fixture::finding(Severity::High, file, 7, issue);
        review.outcome_of(&agent).findings = vec![finding];
        let mut gate = gate_of(GateStatus::Passed, true);
        gate.preset = Some("go".to_owned());
        review.gates = vec![gate];
        let passed = review.decide();
        review.gates[0].status = GateStatus::Skipped;
        let skipped = review.decide();
        assert_eq!(skipped.findings[0].refuted_by, None);
        assert_eq!(passed.verdict, skipped.verdict, "a mark decides nothing");
        passed.findings[0].refuted_by.clone()
    };
    assert_eq!(claim("a.go", "This does not compile: x is undeclared").as_deref(), Some("test"));
    assert_eq!(claim("a.go", "The lock is never released"), None);
}

#[test]
fn failed_gates_and_broken_sops_block_whatever_is_ignored() {
    let gate = gate_of;
    let mut review = two();
    review.policy.ignore_vetos = Some("why not".to_owned());
    review.gates = vec![gate(GateStatus::Failed, false), gate(GateStatus::Skipped, true)];
    assert_eq!(review.decide().verdict, Verdict::Approved);
    review.gates.push(gate(GateStatus::NotRun, true));
    assert_eq!(review.decide().verdict, Verdict::Blocked);
    review.gates.pop();
    review.gates.push(gate(GateStatus::Failed, true));
    let result = review.decide();
    assert_eq!(result.verdict, Verdict::Blocked);
    assert_eq!(result.reasons[0], "the required gate test failed with exit code 101: cargo test");

    let mut review = two();
    review.outcome_of("go-reviewer").sops = vec![SopResult {
        sop: "errors".to_owned(),
        severity: SopSeverity::Error,
        status: SopStatus::Violated,
        evidence: "a.go:3 drops an error".to_owned(),
        file: Some("a.go".to_owned()),
        line: Some(3),
        finding_severity: None,
    }];
    let result = review.decide();
    assert_eq!(result.verdict, Verdict::Blocked);
    assert_eq!(result.reasons[0], "the SOP errors is violated: a.go:3 drops an error");
    for severity in [SopSeverity::Warning, SopSeverity::Info] {
        review.outcome_of("go-reviewer").sops[0].severity = severity;
        let result = review.decide();
        assert_eq!(result.verdict, Verdict::Approved);
        assert!(result.notes[0].ends_with("is violated: a.go:3 drops an error"));
    }
}

#[test]
fn the_worst_answer_for_an_sop_counts_whoever_gave_it() {
    use SopStatus::{NotApplicable, NotChecked, NotReviewed, Passed, Violated};
    let answer = |status: SopStatus| SopResult {
        sop: "errors".to_owned(),
        severity: SopSeverity::Error,
        status,
        evidence: "because".to_owned(),
        file: None,
        line: None,
        finding_severity: None,
    };
    let rising = [NotChecked, NotReviewed, NotApplicable, Passed, Violated];
    for (rank, &worse) in rising.iter().enumerate() {
        for &better in &rising[..=rank] {
            for (go, security) in [(worse, better), (better, worse)] {
                let mut review = two();
                review.outcome_of("go-reviewer").sops = vec![answer(go)];
                review.outcome_of("security-reviewer").sops = vec![answer(security)];
                assert_eq!(review.decide().sops, [answer(worse)]);
            }
        }
    }
}

#[test]
fn an_agent_that_did_not_finish_is_partial_though_it_saw_everything() {
    let mut review = two();
    review.outcome_of("go-reviewer").status = OutcomeStatus::Partial;
    let agents = review.decide().execution.agents;
    let go = agents.iter().find(|agent| agent.name == "go-reviewer").expect("it has a seat");
    assert!(go.partial && go.files_skipped == 0);
}

#[test]
fn fail_on_and_strict_move_the_limit() {
    let review = two().finds("go-reviewer", finding(Severity::Medium, "a.go", 7, "Odd name"));
    assert_eq!(review.decide().verdict, Verdict::Approved);
    let mut lower = review.clone();
    lower.policy.fail_on = Some(Severity::Medium);
    assert_eq!(lower.decide().verdict, Verdict::ChangesRequested);
    let mut strict = review.clone();
    strict.policy.fail_on = None;
    strict.policy.strict = true;
    assert_eq!(strict.decide().verdict, Verdict::ChangesRequested);
    let mut none = review.finds("go-reviewer", finding(Severity::High, "b.go", 7, "A bug"));
    none.policy.fail_on = None;
    let result = none.decide();
    assert_eq!((result.verdict, result.exit_code), (Verdict::Advisory, 0));
    assert!(result.reasons[0].ends_with("; lifted: nothing fails this review"));
}

/// What `--fail-on none` lifts and what it does not.
#[test]
fn fail_on_none_lifts_findings_and_vetoes_and_nothing_else() {
    let vetoed = || {
        let veto = finding(Severity::Critical, "a.go", 7, "Data is lost");
        let mut review = two().finds("go-reviewer", veto);
        review.policy.fail_on = None;
        review
    };
    let result = vetoed().decide();
    assert_eq!((result.verdict, result.exit_code), (Verdict::Advisory, 0));
    assert_eq!(result.execution.agents[1].verdict, quorum_model::verdict::AgentVerdict::Veto);
    assert_eq!(result.findings.len(), 1, "it stays in the report");

    assert_eq!(vetoed().fails("security-reviewer").decide().verdict, Verdict::Incomplete);
    let uncovered = vetoed().skips("security-reviewer", "b.go").skips("go-reviewer", "b.go");
    assert_eq!(uncovered.decide().verdict, Verdict::Incomplete);
    let unguarded = vetoed().sensitive("b.go").skips("security-reviewer", "b.go");
    assert_eq!(unguarded.decide().verdict, Verdict::Blocked);
    let mut gated = vetoed();
    gated.gates = vec![gate_of(GateStatus::Failed, true)];
    assert_eq!(gated.decide().verdict, Verdict::Blocked);
    let mut broken = vetoed();
    broken.outcome_of("go-reviewer").sops = vec![sop(SopStatus::Violated, SopSeverity::Error)];
    assert_eq!(broken.decide().verdict, Verdict::Blocked);
    let mut strict = vetoed();
    strict.policy.strict = true;
    assert_eq!(strict.decide().verdict, Verdict::Blocked, "strict lifts nothing");
}

fn sop(status: SopStatus, severity: SopSeverity) -> SopResult {
    SopResult {
        sop: "errors".to_owned(),
        severity,
        status,
        evidence: "because".to_owned(),
        file: None,
        line: None,
        finding_severity: None,
    }
}

#[test]
fn nothing_in_scope_is_no_approval() {
    let mut review = Review::of(&[]);
    let result = review.decide();
    assert_eq!((result.verdict, result.exit_code), (Verdict::NothingToReview, 0));
    assert_eq!(result.reasons, ["there is nothing to review"]);
    review.gates = vec![gate_of(GateStatus::Failed, true)];
    assert_eq!(review.decide().verdict, Verdict::Blocked);
}

#[test]
fn what_was_only_read_is_complete_unless_more_is_asked_for() {
    let read = || two().reads("security-reviewer", "b.go").reads("go-reviewer", "b.go");
    let result = read().decide();
    assert_eq!(result.verdict, Verdict::Approved);
    assert_eq!(result.coverage.files[1].agents["go-reviewer"], CoverageState::Read);
    assert_eq!(result.coverage.uncovered, [""; 0]);
    assert_eq!(result.execution.agents[0].coverage_in_words(), "50%, 1 read");
    assert!(result.notes.iter().any(|note| note.contains("read, not reviewed")), "{result:#?}");
    for strict in [false, true] {
        let mut review = read();
        review.policy.strict = strict;
        review.policy.require_reviewed = !strict;
        let result = review.decide();
        assert_eq!(result.verdict, Verdict::Incomplete);
        assert_eq!(result.reasons, ["b.go was only read: no reviewer has rules for it"]);
        let one = two().reads("go-reviewer", "b.go");
        let mut one = one;
        one.policy.require_reviewed = true;
        assert_eq!(one.decide().verdict, Verdict::Approved, "the other agent reviewed it");
    }
    let sensitive = read().sensitive("b.go");
    assert_eq!(sensitive.decide().verdict, Verdict::Approved);
    let mut sensitive = sensitive;
    sensitive.policy.require_reviewed = true;
    assert_eq!(sensitive.decide().verdict, Verdict::Blocked);
}

#[test]
fn what_nobody_can_read_is_incomplete_and_media_change_nothing() {
    let unreadable =
        || two().cannot_read("security-reviewer", "b.go").cannot_read("go-reviewer", "b.go");
    let result = unreadable().decide();
    assert_eq!(result.verdict, Verdict::Incomplete);
    assert_eq!(result.reasons, ["b.go is unreadable: it is not text"]);
    assert_eq!(result.coverage.files[1].agents["go-reviewer"], CoverageState::Unreadable);
    assert_eq!(unreadable().sensitive("b.go").decide().verdict, Verdict::Blocked);
    let mut media = unreadable();
    media.plan.scope.files[1].flags.push(quorum_model::scope::Flag::Media);
    let result = media.decide();
    assert_eq!(result.verdict, Verdict::Approved);
    assert_eq!(result.coverage.uncovered, [""; 0]);
    assert!(result.notes.iter().any(|note| note.ends_with("not looked at: b.go")));
    assert_eq!(result.execution.agents[0].coverage_in_words(), "100%");
}

#[test]
fn lines_that_met_a_bound_are_named() {
    let result = two().bounds("security-reviewer", "b.go").bounds("go-reviewer", "b.go").decide();
    assert_eq!(result.verdict, Verdict::Incomplete);
    assert_eq!(result.reasons, ["lines 10–20 of b.go met a bound: too involved"]);
    let row = &result.coverage.files[1];
    assert_eq!(row.agents["go-reviewer"], CoverageState::Partial);
    assert_eq!(row.lines["go-reviewer"], [(1, 9), (21, 100)]);
}

/// Whoever only searches for secrets covers nothing.
#[test]
fn a_search_for_secrets_is_no_review() {
    let mut review = two().reads("security-reviewer", "a.go").reads("security-reviewer", "b.go");
    review.plan.agents[0].depth = quorum_model::outcome::Depth::Read;
    review.plan.agents[0].files.clear();
    let result = review.decide();
    assert_eq!(result.verdict, Verdict::Approved);
    assert_eq!(result.execution.agents[0].coverage_in_words(), "read");
    assert_eq!(review.clone().sensitive("b.go").decide().verdict, Verdict::Blocked);
    let skipped = review.skips("go-reviewer", "b.go").decide();
    assert_eq!(skipped.verdict, Verdict::Incomplete, "{:?}", skipped.reasons);
}

#[test]
fn a_sensitive_file_needs_the_model_where_there_is_one() {
    let beside = |beside: bool| {
        let mut review = two().sensitive("b.go").by_rules("security-reviewer");
        review.plan.agents[0].beside_models = beside;
        review.decide()
    };
    assert_eq!(beside(false).verdict, Verdict::Approved);
    let result = beside(true);
    assert_eq!(result.verdict, Verdict::Blocked);
    assert!(result.reasons[0].contains("by rules alone"), "{:?}", result.reasons);
}

#[test]
fn the_verdict_says_who_looked() {
    assert_eq!(two().decide().reviewed_by, "rules and small");
    let rules = two().by_rules("security-reviewer").by_rules("go-reviewer").decide();
    assert_eq!(rules.reviewed_by, "rules alone");
    assert_eq!(rules.reasons, ["no finding at or above HIGH in 2 files, by rules alone"]);
    let engine = quorum_model::coverage::CoverageEngine::Rules;
    assert_eq!(rules.coverage.files[0].engines["go-reviewer"], engine);
    let failed = two().by_rules("security-reviewer").fails("go-reviewer").decide();
    assert_eq!(failed.reviewed_by, "rules alone", "a model that failed did not look");
}

/// What was seen and left out for lack of budget would have counted.
#[test]
fn findings_that_were_left_out_are_no_pass_where_they_would_count() {
    use quorum_model::report::SkippedFindings;
    let left = |medium_count, low_count| {
        let mut review = two();
        review.outcome_of("go-reviewer").skipped =
            Some(SkippedFindings { medium_count, low_count });
        review
    };
    let table = [
        (Some(Severity::High), false, (3, 5), Verdict::Approved),
        (Some(Severity::Medium), false, (3, 5), Verdict::Incomplete),
        (Some(Severity::Medium), false, (0, 5), Verdict::Approved),
        (Some(Severity::Low), false, (0, 5), Verdict::Incomplete),
        (None, false, (3, 5), Verdict::Approved),
        (Some(Severity::High), true, (0, 1), Verdict::Incomplete),
        (Some(Severity::High), true, (0, 0), Verdict::Approved),
    ];
    for (fail_on, strict, (medium, low), expected) in table {
        let mut review = left(medium, low);
        review.policy.fail_on = fail_on;
        review.policy.strict = strict;
        let result = review.decide();
        assert_eq!(result.verdict, expected, "{fail_on:?} {strict} {medium} {low}");
        let skipped = result.execution.agents[1].skipped;
        assert_eq!((skipped.medium, skipped.low), (medium, low));
    }
}

#[test]
fn an_error_level_sop_without_an_answer_is_no_pass() {
    use SopStatus::{NotApplicable, NotChecked, NotReviewed, Passed};
    let answered = |status, severity, strict| {
        let mut review = two();
        review.plan.agents[1].shards[0].sops = vec!["errors".to_owned()];
        review.outcome_of("go-reviewer").sops = vec![sop(status, severity)];
        review.policy.strict = strict;
        review.decide().verdict
    };
    for strict in [false, true] {
        assert_eq!(answered(NotReviewed, SopSeverity::Error, strict), Verdict::Incomplete);
        assert_eq!(answered(NotReviewed, SopSeverity::Warning, strict), Verdict::Approved);
        for status in [Passed, NotApplicable] {
            assert_eq!(answered(status, SopSeverity::Error, strict), Verdict::Approved);
        }
    }
    assert_eq!(answered(NotChecked, SopSeverity::Error, false), Verdict::Approved);
    assert_eq!(answered(NotChecked, SopSeverity::Error, true), Verdict::Incomplete);
    // Another's answer counts for the files that it was given.
    let mut review = two();
    for agent in &mut review.plan.agents {
        agent.shards[0].sops = vec!["errors".to_owned()];
    }
    review.outcome_of("go-reviewer").sops = vec![sop(NotReviewed, SopSeverity::Error)];
    review.outcome_of("security-reviewer").sops = vec![sop(Passed, SopSeverity::Error)];
    assert_eq!(review.decide().verdict, Verdict::Approved);
    review.plan.agents[0].shards[0].units.retain(|unit| &*unit.path == "a.go");
    assert_eq!(review.decide().verdict, Verdict::Incomplete);
}
