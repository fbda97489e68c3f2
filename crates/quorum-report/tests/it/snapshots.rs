//! What people and programs read, in full.

use quorum_model::finding::{Finding, Refutation};
use quorum_model::gate::{GateFinding, GateLevel, GateStatus};
use quorum_model::verdict::{AgentVerdict, Verdict};
use quorum_report::{Format, render, terminal};

use crate::readback::page_data;
use crate::sample::Sample;

#[test]
fn markdown() {
    insta::assert_snapshot!(render(&Sample::checkout().report(), Format::Markdown));
}

#[test]
fn github() {
    insta::assert_snapshot!(render(&Sample::checkout().report(), Format::Github));
}

#[test]
fn junit() {
    insta::assert_snapshot!(render(&Sample::checkout().report(), Format::Junit));
}

#[test]
fn sarif() {
    let mut sample = Sample::checkout();
    // One of each sort is enough to read.
    let kept = |f: &Finding| ["SEC-001", "SEC-002", "SEC-004", "GO-003"].contains(&f.id.as_str());
    sample.result.findings.retain(kept);
    sample.result.history.retain(kept);
    sample.result.execution.agents.truncate(1);
    insta::assert_snapshot!(render(&sample.report(), Format::Sarif));
}

#[test]
fn gitlab_and_rdjsonl() {
    let mut sample = Sample::checkout();
    let kept = |f: &Finding| ["SEC-001", "SEC-002"].contains(&f.id.as_str());
    sample.result.findings.retain(kept);
    sample.result.history.retain(kept);
    let report = sample.report();
    insta::assert_snapshot!(
        [render(&report, Format::Gitlab), render(&report, Format::Rdjsonl)].concat()
    );
}

#[test]
fn why_a_second_look_refuted_a_finding_is_said() {
    let mut sample = Sample::checkout();
    let mut finding = sample.result.findings.remove(0);
    finding.refutation = Some(Refutation {
        by: "go-reviewer".to_owned(),
        reason: "line 12 refuses such a customer".to_owned(),
        evidence: "if customer == \"\" {".to_owned(),
    });
    sample.result.not_agreed.push(finding);
    let report = sample.report();
    for format in [Format::Markdown, Format::Html] {
        assert!(render(&report, format).contains("line 12 refuses such a customer"), "{format:?}");
    }
    let page = terminal::render(&report, &terminal::Options::default());
    assert!(page.contains("Refuted by go-reviewer: line 12 refuses"), "{page}");
}

/// The same review, stopped by a gate.
fn gated() -> Sample {
    let mut sample = Sample::checkout();
    let result = &mut sample.result;
    result.verdict = Verdict::Blocked;
    result.reasons =
        vec!["the required gate test failed with exit code 1: go test ./...".to_owned()];
    result.findings.clear();
    result.history.clear();
    result.rejected.clear();
    result.notes.clear();
    for agent in &mut result.execution.agents {
        agent.verdict = AgentVerdict::Error;
        agent.veto_reasons.clear();
        (agent.calls, agent.tokens, agent.usd) = (0, 0, 0.0);
        agent.error = Some("it was not asked, because a required gate did not pass".to_owned());
    }
    result.reviewed_by.clear();
    let gate = &mut result.gates[0];
    (gate.status, gate.exit_code) = (GateStatus::Failed, Some(1));
    gate.findings = vec![GateFinding {
        file: "internal/payments/stripe_test.go".to_owned(),
        line: 7,
        column: None,
        level: GateLevel::Error,
        message: "got -1, want 3".to_owned(),
        rule: None,
    }];
    sample
}

#[test]
fn a_gate_that_failed_is_all_there_is_to_read() {
    let sample = gated();
    let report = sample.report();
    let page = terminal::render(&report, &terminal::Options::default());
    insta::assert_snapshot!(format!("{page}\n{}", render(&report, Format::Markdown)));
    let page = render(&report, Format::Html);
    assert!(page.contains("<li>internal/payments/stripe_test.go:7 got -1, want 3</li>"));
    assert!(page.contains("<li>Reviewers did not run, because a required gate did not pass.</li>"));
    let data = page_data(&page);
    assert_eq!(data["gated"], true);
    for part in ["agents", "gaps", "uncovered"] {
        assert_eq!(data[part], serde_json::json!([]), "{part}");
    }
}
