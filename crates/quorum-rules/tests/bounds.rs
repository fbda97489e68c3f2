//! What a file costs, and what is said where a limit is met.

use std::fmt::Write as _;
use std::sync::Arc;

use quorum_model::scope::{Change, FileEntry, FileKind};
use quorum_rules::{Limit, LineSet, Review, Side, SourceFile, Sources};

struct Nothing;

impl Sources for Nothing {
    fn read(&self, _: &str, _: Side) -> Option<Arc<str>> {
        None
    }

    fn paths(&self) -> &[String] {
        &[]
    }
}

fn review(path: &str, language: &str, text: &str) -> Review {
    let load = |_| {
        Some(SourceFile {
            entry: FileEntry {
                path: path.into(),
                old_path: None,
                change: Change::Added,
                language: Some(language.to_owned()),
                kind: FileKind::Code,
                tokens: 0,
                flags: Vec::new(),
                flag_reasons: std::collections::BTreeMap::default(),
                hunks: Vec::new(),
                digest: None,
            },
            head: Some(Arc::from(text)),
            base: None,
            added: None,
            removed: LineSet::default(),
        })
    };
    quorum_rules::review(1, &load, &Nothing)
}

fn lines_of(review: &Review, limit: Limit) -> Vec<(u64, u64)> {
    let limited = review.limited.iter().filter(|limited| limited.limit == limit);
    limited.flat_map(|limited| limited.lines.clone()).collect()
}

const VULNERABLE: &str =
    "def run():\n    name = request.args.get('name')\n    os.system('ls ' + name)\n\n";

/// Functions of which each calls the next ones with constants: following them all takes long.
fn involved(functions: usize) -> String {
    let mut text = String::new();
    for number in 0..functions {
        let _ = writeln!(text, "def f{number}(a, b):");
        for turn in 0..40 {
            let _ =
                writeln!(text, "    a = f{}(a, [{turn}]) + f{}(b, [a])", number + 1, number + 2);
        }
        let _ = writeln!(text, "    return a\n");
    }
    text
}

#[test]
fn neither_padding_nor_involved_code_hides_a_function() {
    let head = "import os\nfrom flask import request\n\n";
    let mut padding = String::new();
    for number in 0..1_000 {
        let _ = write!(
            padding,
            "def p{number}(a):
    return a + {number}

"
        );
    }
    for text in [
        [head, VULNERABLE, &padding, &involved(12)].concat(),
        [head, &involved(12), &padding, VULNERABLE].concat(),
    ] {
        let review = review("app.py", "Python", &text);
        let at = text.lines().position(|line| line.contains("os.system")).expect("it is there") + 1;
        let found = |line: u64| review.findings.iter().any(|found| found.line == line);
        assert!(found(at as u64), "{:?}", review.limited);
        let bounded = lines_of(&review, Limit::Bound);
        let covers = |line: u64| bounded.iter().any(|&(first, last)| first <= line && line <= last);
        assert!(!bounded.is_empty(), "the work has a limit, and it is said");
        assert!(!covers(at as u64), "the function itself was followed to its end");
        let first = text.lines().position(|line| line.starts_with("def f0(")).expect("it is there");
        assert!(covers(first as u64 + 1), "what met the limit is named: {bounded:?}");
    }
}

#[test]
fn what_is_nested_too_deep_is_named_and_the_rest_is_reviewed() {
    let deep = format!("x = {}1{}\n", "(".repeat(100_000), ")".repeat(100_000));
    let text = ["import os\nfrom flask import request\n", &deep, "\n", VULNERABLE].concat();
    let review = review("app.py", "Python", &text);
    assert_eq!(lines_of(&review, Limit::Bound), [(3, 3)]);
    assert!(review.findings.iter().any(|found| found.line == 7), "{:?}", review.findings);
}

#[test]
fn what_is_never_closed_is_named_and_the_rest_is_reviewed() {
    // One error with 100,000 tokens side by side took minutes, in each rule that looks sideways.
    for open in ["(", "[", "{", "([{", "f(a, ", "(\n"] {
        let unclosed = format!("x = {}\n\n", open.repeat(100_000 / open.len()));
        let text = ["import os\nfrom flask import request\n", &unclosed, VULNERABLE].concat();
        let review = review("app.py", "Python", &text);
        let at = text.lines().position(|line| line.contains("os.system")).expect("it is there") + 1;
        let bounded = lines_of(&review, Limit::Bound);
        let names = |line: u64| bounded.iter().any(|&(first, last)| (first..=last).contains(&line));
        assert!(names(3), "{open}");
        let named = names(at as u64);
        let found = review.findings.iter().any(|found| found.line == at as u64);
        assert!(found || named, "{open}: {:?}", review.limited);
    }
}

#[test]
fn lines_that_no_parser_understands_are_named() {
    let text = ["import os\nfrom flask import request\n\n)) %% ((\n\n", VULNERABLE].concat();
    let review = review("app.py", "Python", &text);
    assert_eq!(lines_of(&review, Limit::Unparsed), [(4, 4)]);
    assert!(lines_of(&review, Limit::Bound).is_empty());
    assert!(review.findings.iter().any(|found| found.line == 8));
}

#[test]
fn pages_of_php_are_read_whatever_html_is_in_them() {
    let text = "<html>\n<table class=\"wide\" onclick='f(\"<\")'>\n<?php\nfunction run() {\n  \
                $name = $_GET['name']; ?>\n<td class=x>\n<?php\n  system('ls ' . $name);\n}\n?>\n\
                </table>\n";
    let review = review("page.php", "PHP", text);
    assert!(review.findings.iter().any(|found| found.line == 8), "{:?}", review.findings);
    assert!(review.limited.is_empty(), "{:?}", review.limited);
}

#[test]
fn closures_that_share_variables_do_not_copy_them() {
    // Every closure keeps all variables before it. Copies of them took gigabytes.
    let mut text = String::from("const cp = require('child_process');\n");
    for number in 0..4_000 {
        let _ = writeln!(text, "const f{number} = (a, b) => {{ const c = a + b; return c; }};");
    }
    let review = review("app.js", "JavaScript", &text);
    assert!(review.limited.is_empty(), "{:?}", review.limited);
}
