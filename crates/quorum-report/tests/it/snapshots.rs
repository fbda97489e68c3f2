//! What people and programs read, in full.

use quorum_model::finding::{Finding, Refutation};
use quorum_report::{Format, render, terminal};

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
