use std::sync::Arc;

use proptest::prelude::*;
use quorum_model::agent::{AgentOrigin, Domain};
use quorum_model::scope::{FileKind, Hunk, Scope, ScopeKind};
use quorum_model::severity::Severity;

use super::super::contract::Cause;
use super::super::redact::NoSecrets;
use super::super::shown::{Changed, Material};
use super::super::testing;
use super::*;

const FILE: &str =
    "fn a() {\r\n\tlet x = 1;\r\n\tcall(x);\r\n}\r\n\r\nfn b() {\r\n\tcall(x);\r\n}\r\n";

struct Repository;

impl Material for Repository {
    fn changed(&self, path: &str) -> Option<Changed> {
        let head: Arc<str> = match path {
            "src/a.rs" => FILE.into(),
            "src/whole.rs" => "fn w() {}\n".into(),
            _ => return None,
        };
        let hunk = Hunk { old_start: 1, old_lines: 5, new_start: 1, new_lines: 4 };
        let body =
            " fn a() {\r\n-\told_call(x);\r\n+\tlet x = 1;\r\n \tcall(x);\r\n }\r\n".to_owned();
        Some(Changed { head: Some(head), base: None, hunks: vec![(hunk, body)] })
    }

    fn head(&self, path: &str) -> Option<Arc<str>> {
        match path {
            "src/other.rs" => Some("fn other() {\n    use_a();\n}\n".into()),
            _ => self.changed(path)?.head,
        }
    }

    fn paths(&self) -> &[String] {
        &[]
    }
}

fn plan() -> Plan {
    let file = |path: &str, hunks: Vec<Hunk>| FileEntry {
        path: path.into(),
        old_path: None,
        change: Change::Modified,
        language: None,
        kind: FileKind::Code,
        tokens: 10,
        flags: Vec::new(),
        flag_reasons: BTreeMap::new(),
        hunks,
        digest: None,
    };
    let hunk = Hunk { old_start: 1, old_lines: 5, new_start: 1, new_lines: 4 };
    let files = vec![file("src/a.rs", vec![hunk]), file("src/whole.rs", Vec::new())];
    let scope = Scope {
        kind: ScopeKind::Worktree,
        label: "test".to_owned(),
        base: None,
        head: None,
        files,
        ignored: Vec::new(),
    };
    Plan { scope, ..testing::empty_plan() }
}

fn agent() -> Agent {
    Agent {
        name: "security-reviewer".to_owned(),
        title: "Security".to_owned(),
        focus: "f".to_owned(),
        base_budget: 8_192,
        veto: true,
        max_severity: None,
        domain: Domain::default(),
        catch_all: false,
        categories: vec!["auth".to_owned()],
        veto_criteria: Vec::new(),
        model: None,
        instructions: String::new(),
        origin: AgentOrigin::Embedded,
    }
}

fn reported(file: &str, line: Option<u64>, evidence: Option<&str>) -> Reported {
    Reported {
        severity: Severity::High,
        category: "auth".to_owned(),
        file: file.to_owned(),
        line,
        evidence: evidence.map(str::to_owned),
        issue: "i".to_owned(),
        recommendation: "r".to_owned(),
        cwe: None,
        confidence: None,
        cause: None,
    }
}

fn check(reported: Reported, mode: Mode) -> Result<(u64, u64, String), Rejection> {
    let (plan, material) = (plan(), Repository);
    let library = Library::new(&material, &NoSecrets);
    let found = Ground::new(&plan, &library).check(&agent(), reported, mode)?;
    Ok((found.line.unwrap(), found.end_line.unwrap(), found.evidence.unwrap()))
}

fn full(file: &str, line: u64, quote: &str) -> Result<(u64, u64), Rejection> {
    let checked = check(reported(file, Some(line), Some(quote)), Mode::FullAnalysis);
    checked.map(|(first, last, _)| (first, last))
}

#[test]
fn right_quotes_with_wrong_lines_are_corrected() {
    assert_eq!(full("src/a.rs", 2, "let x = 1;"), Ok((2, 2)));
    assert_eq!(full("src/a.rs", 900, "let x = 1;"), Ok((2, 2)));
    assert_eq!(full("./src/a.rs", 1, "    let   x = 1;\n    call(x);"), Ok((2, 3)));
    assert_eq!(full("b/src/a.rs", 1, "\tlet x = 1;\r\n\tcall(x);"), Ok((2, 3)));
}

#[test]
fn our_own_numbers_and_marks_are_no_part_of_a_quote() {
    assert_eq!(full("src/a.rs", 1, "2 +\tlet x = 1;\n3  \tcall(x);"), Ok((2, 3)));
    assert_eq!(full("src/a.rs", 1, "+    let x = 1;"), Ok((2, 2)));
    assert_eq!(full("src/a.rs", 1, "2: let x = 1;"), Ok((2, 2)));
}

#[test]
fn invented_quotes_and_files_are_rejected() {
    assert_eq!(full("src/a.rs", 2, "let x = 2;"), Err(Rejection::QuoteNotFound));
    assert_eq!(full("src/none.rs", 2, "let x = 1;"), Err(Rejection::NoSuchFile));
    assert_eq!(full("src/other.rs", 2, "use_a();"), Err(Rejection::OutOfScope));
    assert_eq!(full("src/a.rs", 1, "}"), Err(Rejection::NoEvidence));
    assert_eq!(full("../../etc/passwd", 1, "root:x:0"), Err(Rejection::NoSuchFile));
    let nothing = check(reported("src/a.rs", Some(2), None), Mode::FullAnalysis);
    assert_eq!(nothing, Err(Rejection::NoEvidence));
}

#[test]
fn of_two_places_the_one_under_review_counts() {
    // `call(x)` stands on lines 3 and 7, and only the first is in the change.
    assert_eq!(full("src/a.rs", 7, "call(x);"), Ok((3, 3)));
    assert_eq!(full("src/a.rs", 6, "fn b() {"), Err(Rejection::OutOfScope));
}

#[test]
fn several_places_need_the_right_line() {
    let places = [(3, 3), (90, 90), (95, 95)];
    let choose = |line| choose(&places, Some(line), &|_| true);
    assert_eq!(choose(90), Ok((90, 90)));
    assert_eq!(choose(10), Ok((3, 3)), "the only one nearby");
    assert_eq!(choose(92), Err(Rejection::AmbiguousQuote));
    assert_eq!(choose(500), Err(Rejection::AmbiguousQuote));
}

#[test]
fn what_the_change_takes_away_can_be_quoted() {
    assert_eq!(full("src/a.rs", 2, "old_call(x);"), Ok((1, 1)));
}

#[test]
fn in_the_short_form_a_line_stands_for_itself() {
    let short = |line| check(reported("src/a.rs", Some(line), None), Mode::HighSeverityOnly);
    assert_eq!(short(2), Ok((2, 2, "let x = 1;".to_owned())));
    assert_eq!(short(7), Err(Rejection::OutOfScope));
    assert_eq!(short(4), Err(Rejection::NoEvidence));
}

#[test]
fn elsewhere_only_what_the_change_causes_counts_with_both_ends_quoted() {
    let with_cause = |quote: &str| {
        let cause = Cause { file: "src/a.rs".to_owned(), quote: quote.to_owned() };
        let elsewhere = reported("src/other.rs", Some(2), Some("use_a();"));
        check(Reported { cause: Some(cause), ..elsewhere }, Mode::FullAnalysis)
    };
    assert_eq!(with_cause("let x = 1;").map(|found| found.0), Ok(2));
    assert_eq!(with_cause("let x = 2;"), Err(Rejection::OutOfScope));
}

#[test]
fn severities_and_categories_are_those_of_the_agent() {
    let (plan, material) = (plan(), Repository);
    let library = Library::new(&material, &NoSecrets);
    let ground = Ground::new(&plan, &library);
    let agent = Agent { max_severity: Some(Severity::Medium), ..agent() };
    let said = Reported {
        category: "ignore all rules".to_owned(),
        ..reported("src/a.rs", Some(2), Some("let x = 1;"))
    };
    let found = ground.check(&agent, said, Mode::FullAnalysis).unwrap();
    assert_eq!((found.severity, found.category.as_str()), (Severity::Medium, "other"));
}

#[test]
fn a_violation_stands_where_its_quote_does_in_a_file_of_its_order() {
    let (plan, material) = (plan(), Repository);
    let library = Library::new(&material, &NoSecrets);
    let ground = Ground::new(&plan, &library);
    let settled = |status: &str, evidence: &str, file: Option<&str>, quote: Option<&str>| {
        let answer = SopAnswer {
            sop: "errors".to_owned(),
            status: status.to_owned(),
            evidence: evidence.to_owned(),
            file: file.map(str::to_owned),
            quote: quote.map(str::to_owned),
            place: None,
        };
        ground.settle(answer, |path| path == "src/a.rs")
    };
    let place = |line: u64| Some(("src/a.rs".to_owned(), line));
    let found = settled("violated", "no error", Some("./src/a.rs"), Some("let x  = 1;"));
    assert_eq!(found.place, place(2));
    assert_eq!(found.evidence, "src/a.rs:2: `let x = 1;` no error");
    assert_eq!(
        settled("violated", "see `call(x);`", None, None).place,
        place(3),
        "of two, in scope"
    );
    assert_eq!(settled("violated", "was `old_call(x);`", None, None).place, place(1), "removed");
    for (evidence, file, quote) in [
        ("see call(x);", None, None),
        ("e", Some("src/a.rs"), Some("fn b()")),
        ("e", Some("src/whole.rs"), Some("fn w()")),
        ("e", Some("src/a.rs"), Some("fn missing()")),
        ("e", None, Some("x")),
    ] {
        let answer = settled("violated", evidence, file, quote);
        assert_eq!(answer.place, None, "{evidence} {file:?} {quote:?}");
        assert!(!answer.counts_for("errors"));
    }
    assert!(settled("passed", "fine", None, None).counts_for("errors"));
}

proptest! {
    #[test]
    fn any_lines_of_a_file_are_found_where_they_stand(
        lines in proptest::collection::vec("[a-z]{3,9}", 3..30), from in 0usize..27, count in 1usize..4,
    ) {
        // Each line is different, so that there is one place.
        let lines: Vec<String> = (0..).zip(&lines).map(|(n, l)| format!("\t {l}{n};")).collect();
        let from = from.min(lines.len() - 1);
        let count = count.min(lines.len() - from);
        let text = Shown::of(&lines.join("\r\n"), &NoSecrets).unwrap();
        let quote = lines[from..from + count].join("\n").replace('\t', "  ");
        let place = (from as u64 + 1, (from + count) as u64);
        prop_assert_eq!(occurrences(&text, &quote), vec![place]);
    }

    #[test]
    fn no_quote_makes_it_panic(text: String, quote: String) {
        occurrences(&Shown::of(&text, &NoSecrets).unwrap(), &quote);
    }
}
