use quorum_model::severity::Severity;

use super::*;
use crate::page;
use crate::testing::{finding, outcome as ended};

const RUN: &str = "20261116-052111-009-4f9c";

fn of(text: &str) -> Ingested {
    read("fd-safety", Some(text.as_bytes()), Some(RUN))
}

#[test]
fn our_own_pages_are_read_back() {
    let mut first = finding("a.go", 3);
    first.evidence = Some("```\n#### GO-002 not a heading\n_ = f()".to_owned());
    first.issue = "Two lines:\nthe second. | with a bar".to_owned();
    first.rule = Some("go/dropped-error".to_owned());
    let mut second = finding("b dir/ü.go", 9);
    second.severity = Severity::Critical;
    second.end_line = Some(12);
    let outcome = ended(RUN, "go-reviewer", vec![first.clone(), second.clone()]);
    let page = page::render(&outcome, &page::draft_ids(&outcome));
    let Ingested::Valid(report) = of(&page) else { panic!("{page}") };
    assert_eq!(report.agent, "go-reviewer");
    let (critical, high) = (&report.findings[0], &report.findings[1]);
    assert_eq!((critical.severity, critical.line), (Severity::Critical, second.line), "{page}");
    assert_eq!(high.issue, first.issue);
    assert_eq!(high.evidence, first.evidence);
    assert_eq!((&high.rule, &high.recommendation), (&first.rule, &first.recommendation));
    assert_eq!((&high.category, high.confidence), (&first.category, first.confidence));
}

#[test]
fn pages_of_other_tools_are_read() {
    let page = "\
### Findings Index
- P0 | SF-001 | \"Auth\" | Token is logged | blocking
- P2 | SF-002 | \"src/b.go:7\" | Name is misleading

Verdict: risky

### Summary
Two things.

### Issues Found

#### SF-001: Token is logged
**File:** `src/auth.go:41`

```go
log.Println(token)
```

**Fix:** do not log it

### Improvements
None.
";
    let Ingested::Valid(report) = of(page) else { panic!("{:?}", of(page)) };
    assert_eq!(report.agent, "fd-safety");
    let first = &report.findings[0];
    assert_eq!(
        (first.severity, first.place()),
        (Severity::Critical, Some(("src/auth.go", Some(41))))
    );
    assert_eq!(first.evidence.as_deref(), Some("log.Println(token)"));
    assert_eq!(first.recommendation, "do not log it");
    let second = &report.findings[1];
    assert_eq!((second.severity, second.place()), (Severity::Medium, Some(("src/b.go", Some(7)))));
}

#[test]
fn every_file_is_one_of_five_things() {
    let other = "<!-- run 20250101-000000-000-0000 -->\n### Findings Index\nVerdict: safe\n";
    let cases = [
        ("### Findings Index\nVerdict: safe\n", "valid"),
        ("## Findings Index\n\n**Verdict:** needs-changes\n", "valid"),
        (other, "foreign"),
        (r#"{"agent":"a","run":"x","findings":[]}"#, "foreign"),
        ("### Findings Index\nVerdict: error\n", "error"),
        (r#"{"agent":"a","error":"no key"}"#, "error"),
        (r#"{"findings":[],"verdict":"ERROR"}"#, "error"),
        ("", "malformed"),
        ("Looks good to me.\nVerdict: safe\n", "malformed"),
        ("### Findings Index\n- HIGH | X-1 | \"a\"\nVerdict: safe\n", "malformed"),
        ("### Findings Index\n- URGENT | X-1 | \"a\" | b\nVerdict: safe\n", "malformed"),
        ("### Findings Index\n- HIGH | X-1 | \"a\" | b\n", "malformed"),
        ("### Findings Index\nVerdict: splendid\n", "malformed"),
        ("```\n### Findings Index\nVerdict: safe\n```\n", "malformed"),
        ("{\"agent\": 1", "malformed"),
        (r#"{"agent":"a"}"#, "malformed"),
        (r#"{"agent":"a","findings":[{"severity":"URGENT"}]}"#, "malformed"),
    ];
    for (text, word) in cases {
        assert_eq!(of(text).word(), word, "{text}");
    }
    assert_eq!(read("a", None, Some(RUN)), Ingested::Missing);
    assert_eq!(read("a", Some(b"\xff\xfe"), None).word(), "malformed");
    assert_eq!(read("a", Some(other.as_bytes()), None).word(), "valid", "no run to be foreign to");
}

#[test]
fn the_agent_json_takes_its_name_from_the_file() {
    let text = r#"{"findings":[{"severity":"HIGH","category":"c","location":"a.go:3","issue":"i","recommendation":"r"}]}"#;
    let Ingested::Valid(report) = of(text) else { panic!() };
    assert_eq!((report.agent.as_str(), report.findings.len()), ("fd-safety", 1));
}

#[test]
fn findings_are_held_against_the_code() {
    let text = "package a\n\nfunc f() {\n\t_ = g()\n}\n";
    let mut quoted = finding("a.go", 99);
    quoted.evidence = Some("_ = g()".to_owned());
    let checked = check(&quoted, Some(text)).unwrap();
    assert_eq!((checked.line, checked.end_line), (Some(4), None), "lines come from the quote");
    quoted.evidence = Some("_ = h()".to_owned());
    assert_eq!(check(&quoted, Some(text)), Err(Rejection::EvidenceNotFound));
    assert_eq!(check(&quoted, None), Err(Rejection::OutOfScope));
    quoted.evidence = None;
    assert_eq!(check(&quoted, Some(text)), Err(Rejection::EvidenceNotFound));
    quoted.line = Some(4);
    assert_eq!(check(&quoted, Some(text)).unwrap().evidence.as_deref(), Some("_ = g()"));
    quoted.file = None;
    assert_eq!(check(&quoted, Some(text)), Err(Rejection::NoPlace));
}

#[test]
fn an_outcome_counts_what_is_rejected_and_claims_no_coverage() {
    let text = r#"{"agent":"a","reviewed_files":["a.go"],"findings":[
        {"severity":"HIGH","category":"c","file":"a.go","line":1,"issue":"i","recommendation":"r"},
        {"severity":"HIGH","category":"c","file":"b.go","line":1,"issue":"i","recommendation":"r"}]}"#;
    let place = |finding: &AgentFinding| {
        let known = finding.place().is_some_and(|(file, _)| file == "a.go");
        check(finding, known.then_some("x\n"))
    };
    let outcome = outcome(RUN, &of(text), place).unwrap();
    assert_eq!((outcome.findings.len(), outcome.covered.len()), (1, 0));
    assert_eq!(outcome.rejected["out_of_scope"], 1);
    assert_eq!(outcome.status, OutcomeStatus::Completed);
    let failed = super::outcome(RUN, &of("### Findings Index\nVerdict: error\n"), place).unwrap();
    assert_eq!(failed.status, OutcomeStatus::Failed);
    assert!(super::outcome(RUN, &Ingested::Missing, place).is_none());
}

proptest::proptest! {
    #[test]
    fn any_text_is_one_of_five_things(text in "(### Findings Index\n|- HIGH \\| A-1 \\| \"a:1\" \\| t\n|Verdict: safe\n|```\n|#### A-1\n|<!-- run x -->\n|\\PC{0,20}\n){0,12}") {
        of(&text);
    }
}
