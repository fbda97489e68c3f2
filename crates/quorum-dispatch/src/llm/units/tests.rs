use std::sync::Arc;

use proptest::prelude::*;
use quorum_index::Counter;
use quorum_index::cut::{Numbering, cut};
use quorum_model::config::Tokenizer;
use quorum_model::scope::Hunk;

use super::super::redact::NoSecrets;
use super::super::shown::Changed;
use super::*;

/// The units that planning makes of hunks.
fn planned(change: Change, hunks: &[(Hunk, String)], limit: u64) -> Vec<Unit> {
    let counter = Counter::new(Tokenizer::Chars4);
    let mut units = Vec::new();
    for (hunk, text) in hunks {
        let (first, numbering) = match change {
            Change::Deleted => (hunk.old_start, Numbering::OldHunk),
            _ => (hunk.new_start, Numbering::Hunk),
        };
        for piece in cut(&counter, text.as_bytes(), first, numbering, limit, None) {
            units.push(Unit {
                path: "a".into(),
                kind: UnitKind::Hunk,
                start_line: piece.start_line,
                end_line: piece.end_line,
                bytes: piece.bytes,
                tokens: piece.tokens,
            });
        }
    }
    units
}

fn shown(head: Option<&str>, hunks: Vec<(Hunk, String)>) -> ShownFile {
    let changed = Changed { head: head.map(Arc::from), base: None, hunks };
    ShownFile::of("a", &changed, &NoSecrets).expect("nothing is secret")
}

fn rendered(change: Change, hunks: &[(Hunk, String)], limit: u64) -> Vec<String> {
    let units = planned(change, hunks, limit);
    let units: Vec<&Unit> = units.iter().collect();
    texts(&shown(None, hunks.to_vec()), change, &units)
}

#[test]
fn lines_have_numbers_and_marks() {
    let hunk = Hunk { old_start: 9, old_lines: 2, new_start: 9, new_lines: 2 };
    let text = " same\n-old\n+new\n\\ No newline at end of file\n".to_owned();
    let rendered = rendered(Change::Modified, &[(hunk, text)], 100);
    assert_eq!(rendered, ["9  same\n  -old\n10 +new\n"]);
}

#[test]
fn the_function_around_a_change_is_named() {
    let head = "fn outer() {\n    if x {\n        a();\n        b();\n    }\n}\n";
    let hunk = Hunk { old_start: 4, old_lines: 0, new_start: 4, new_lines: 1 };
    let hunks = vec![(hunk, "+        b();\n".to_owned())];
    let units = planned(Change::Modified, &hunks, 100);
    let units: Vec<&Unit> = units.iter().collect();
    let rendered = texts(&shown(Some(head), hunks), Change::Modified, &units);
    assert_eq!(rendered, ["@@ 1  fn outer() {\n4 +        b();\n"]);
}

#[test]
fn a_file_is_shown_by_its_lines_and_a_long_line_by_its_parts() {
    let head = format!("one\n{}\nthree\n", "x".repeat(40));
    let file = shown(Some(&head), Vec::new());
    let counter = Counter::new(Tokenizer::Chars4);
    let pieces = cut(&counter, head.as_bytes(), 1, Numbering::File, 5, None);
    let units: Vec<Unit> = pieces
        .iter()
        .map(|piece| Unit {
            path: "a".into(),
            kind: UnitKind::Span,
            start_line: piece.start_line,
            end_line: piece.end_line,
            bytes: piece.bytes,
            tokens: piece.tokens,
        })
        .collect();
    let units: Vec<&Unit> = units.iter().collect();
    let all = texts(&file, Change::Unchanged, &units).concat();
    assert_eq!(all.matches('x').count(), 40);
    assert!(all.starts_with("1  one\n2  xxx") && all.ends_with("3  three\n"), "{all}");
}

fn hunks() -> impl Strategy<Value = Vec<(Hunk, String)>> {
    let line =
        ("[-+ ]", "[a-zé]{0,9}|[a-z]{60,90}").prop_map(|(mark, text)| format!("{mark}{text}\n"));
    let body = proptest::collection::vec(line, 1..12).prop_map(|lines| lines.concat());
    proptest::collection::vec((body, 4u64..20), 1..4).prop_map(|bodies| {
        let (mut old, mut new) = (1, 1);
        let hunk = |(body, gap): (String, u64)| {
            let count = |marks: [char; 2]| {
                body.lines().filter(|line| line.starts_with(marks)).count() as u64
            };
            let (old_lines, new_lines) = (count([' ', '-']), count([' ', '+']));
            let hunk = Hunk { old_start: old, old_lines, new_start: new, new_lines };
            old += old_lines + gap;
            new += new_lines + gap;
            (hunk, body)
        };
        bodies.into_iter().map(hunk).collect()
    })
}

/// Every character that a file's hunks have, in order, with the marks and numbers left out.
fn words(hunks: &[(Hunk, String)]) -> String {
    hunks.iter().flat_map(|(_, body)| body.lines()).map(|line| &line[1..]).collect()
}

fn shown_words(texts: &[String]) -> String {
    let lines = texts.iter().flat_map(|text| text.lines());
    lines
        .filter(|line| !line.starts_with("@@"))
        .map(|line| {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            rest.get(2..).or(rest.get(3..)).unwrap_or_default().trim_start_matches('-')
        })
        .collect()
}

proptest! {
    #[test]
    fn every_line_of_every_hunk_is_shown_exactly_once(
        hunks in hunks(), limit in 3u64..40, deleted: bool,
    ) {
        let change = if deleted { Change::Deleted } else { Change::Modified };
        let rendered = rendered(change, &hunks, limit);
        prop_assert_eq!(shown_words(&rendered), words(&hunks));
    }
}

const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "code",
   "source": [
    "import os\n",
    "os.system(\"ls\")"
   ]
  },
  {
   "cell_type": "markdown",
   "source": "# Title\n\nWords."
  }
 ]
}
"##;

#[test]
fn cells_of_a_notebook_are_shown_as_code_on_their_lines() {
    let side = Some(Arc::from(NOTEBOOK));
    let hunk = Hunk { old_start: 6, old_lines: 0, new_start: 6, new_lines: 8 };
    let lines: Vec<&str> = NOTEBOOK.lines().skip(5).take(8).collect();
    let text = format!("+{}\n", lines.join("\n+"));
    let changed = Changed { head: side, base: None, hunks: vec![(hunk, text)] };
    let file = ShownFile::of("lab/a.ipynb", &changed, &NoSecrets).expect("nothing is secret");
    let planned = planned(Change::Modified, &changed.hunks, 1_000);
    let units: Vec<&Unit> = planned.iter().collect();
    let expected = "@@ cell 1 (code)\n6 +import os\n7 +os.system(\"ls\")\n8 +   ]\n9 +  },\n10 +  {\n\
                    11 +   \"cell_type\": \"markdown\",\n@@ cell 2 (text)\n12 +# Title\n12 +\n\
                    12 +Words.\n13 +  }\n";
    assert_eq!(texts(&file, Change::Modified, &units), [expected]);
    let span = Unit {
        path: "lab/a.ipynb".into(),
        kind: UnitKind::Span,
        start_line: 6,
        end_line: 7,
        bytes: None,
        tokens: 9,
    };
    let expected = "@@ cell 1 (code)\n6  import os\n7  os.system(\"ls\")\n";
    assert_eq!(texts(&file, Change::Unchanged, &[&span]), [expected]);
}
