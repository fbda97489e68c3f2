//! Code of notebooks and pages, reviewed where it stands.

use std::collections::BTreeMap;

use quorum_model::scope::{Change, FileEntry};

use super::*;
use crate::source::{Side, Sources};

struct Nothing;

impl Sources for Nothing {
    fn read(&self, _: &str, _: Side) -> Option<Arc<str>> {
        None
    }

    fn paths(&self) -> &[String] {
        &[]
    }
}

fn source(path: &str, language: &str, text: &str) -> SourceFile {
    SourceFile {
        entry: FileEntry {
            path: Arc::from(path),
            old_path: None,
            change: Change::Added,
            language: Some(language.to_owned()),
            kind: FileKind::Code,
            tokens: 0,
            flags: Vec::new(),
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        },
        head: Some(Arc::from(text)),
        base: None,
        added: None,
        removed: LineSet::default(),
    }
}

fn found(file: &SourceFile) -> Vec<(String, u64)> {
    let review = crate::review(1, &|_| Some(file.clone()), &Nothing);
    review.findings.into_iter().map(|found| (found.rule, found.line)).collect()
}

const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": ["# eval(input())\n"]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "metadata": {},
   "outputs": [],
   "source": [
    "%matplotlib inline\n",
    "!pip install requests\n",
    "import sqlite3\n",
    "from flask import request\n",
    "names = !ls\n",
    "took = %time slow()\n",
    "if names:\n",
    "    !echo there\n",
    "sqlite3?\n"
   ]
  },
  {
   "cell_type": "code",
   "metadata": {},
   "outputs": [],
   "source": [
    "def rows():\n",
    "    name = request.args[\"name\"]\n",
    "    sqlite3.connect(\"x\").execute(\"SELECT * FROM t WHERE n = '\" + name + \"'\")\n"
   ]
  },
  {
   "cell_type": "code",
   "metadata": {},
   "outputs": [],
   "source": "%%bash\nls"
  }
 ],
 "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

#[test]
fn cells_are_reviewed_and_findings_name_the_line_of_the_file() {
    let file = source("a.ipynb", "Jupyter Notebook", NOTEBOOK);
    assert_eq!(languages("a.ipynb", NOTEBOOK), [Lang::Python, Lang::Bash]);
    assert_eq!(found(&file), [("sql-injection".to_owned(), 32)]);
    let review = crate::review(1, &|_| Some(file.clone()), &Nothing);
    let found = &review.findings[0];
    assert!(found.issue.contains("cell 3"), "{}", found.issue);
    assert_eq!(
        found.evidence,
        "sqlite3.connect(\"x\").execute(\"SELECT * FROM t WHERE n = '\" + name + \"'\")"
    );
    assert_eq!(found.trace.first().map(|step| step.line), Some(31));
}

#[test]
fn magics_do_not_break_a_cell() {
    let parts = of(&source("a.ipynb", "Jupyter Notebook", NOTEBOOK));
    let tree = parts[0].file.tree.as_ref().expect("it parses");
    assert!(!tree.root_node().has_error(), "{}", parts[0].file.text());
}

#[test]
fn a_notebook_in_one_line_is_reviewed_too() {
    let value: serde_json::Value = serde_json::from_str(NOTEBOOK).expect("it is JSON");
    let file = source("a.ipynb", "Jupyter Notebook", &value.to_string());
    assert_eq!(found(&file), [("sql-injection".to_owned(), 1)]);
}

#[test]
fn only_changed_cells_of_a_notebook_are_reported() {
    let mut file = source("a.ipynb", "Jupyter Notebook", NOTEBOOK);
    file.base = Some(Arc::from(NOTEBOOK.replace("import sqlite3", "import os")));
    file.added = Some(LineSet::from_ranges(vec![(15, 15)]));
    file.removed = LineSet::from_ranges(vec![(15, 15)]);
    assert_eq!(found(&file), []);
    file.added = Some(LineSet::from_ranges(vec![(32, 32)]));
    assert_eq!(found(&file).len(), 1);
}

#[test]
fn a_kernel_without_grammar_has_no_code_to_review() {
    let julia = NOTEBOOK.replace("\"language\": \"python\"", "\"language\": \"julia\"");
    assert_eq!(languages("a.ipynb", &julia), [Lang::Bash]);
}

#[test]
fn scripts_of_pages_are_reviewed_where_they_stand() {
    let script = "const q = new URLSearchParams(location.search).get(\"q\");\n\
                  document.getElementById(\"x\").innerHTML = q;\n";
    for (path, language) in
        [("a.html", "HTML"), ("a.vue", "Vue"), ("a.svelte", "Svelte"), ("a.html.erb", "HTML+ERB")]
    {
        let text = format!("<p>\n</p>\n<script>\nlet n = 1;\n{script}</script>\n");
        let found = found(&source(path, language, &text));
        assert!(found.contains(&("xss".to_owned(), 6)), "{path}: {found:?}");
    }
    let typed = format!(
        "<template/>\n<script setup lang=\"ts\">\nconst a: number = 1;\n{script}</script>\n"
    );
    assert_eq!(languages("a.vue", &typed), [Lang::TypeScript]);
    let data =
        "<script type=\"application/json\">{\"a\": 1}</script><script src=\"a.js\"></script>";
    let parts = of(&source("a.html", "HTML", data));
    assert!(parts.iter().all(|part| part.file.text().trim().is_empty()));
}

#[test]
fn what_an_engine_puts_into_a_script_does_not_break_it() {
    let text = "<script>\nconst a = {{ value|tojson }};\n{% if b %}\nconst b = \"<%= name %>\";\n{% endif %}\n</script>";
    let parts = of(&source("a.html", "HTML", text));
    let tree = parts[0].file.tree.as_ref().expect("it parses");
    assert!(!tree.root_node().has_error(), "{}", parts[0].file.text());
}

#[test]
fn a_notebook_of_the_third_format_is_reviewed_too() {
    let old = NOTEBOOK
        .replace("\"cells\": [", "\"worksheets\": [{\"cells\": [")
        .replace(" ],\n \"metadata\"", " ]}],\n \"metadata\"")
        .replace("\"source\"", "\"input\"");
    assert_eq!(notebook::broken(&old), None);
    let file = source("a.ipynb", "Jupyter Notebook", &old);
    assert_eq!(found(&file), [("sql-injection".to_owned(), 32)]);
}

#[test]
fn what_is_not_the_json_of_a_notebook_met_a_bound() {
    let text = |text: &str| {
        let file = source("a.ipynb", "Jupyter Notebook", text);
        let review = crate::review(1, &|_| Some(file.clone()), &Nothing);
        review.limited.into_iter().map(|gap| (gap.limit, gap.lines)).collect::<Vec<_>>()
    };
    assert_eq!(text(NOTEBOOK), []);
    assert_eq!(text(&NOTEBOOK.replace("\"execution_count\": 1", "\"x\": NaN")), []);
    let bound = |last: u64| vec![(Limit::Bound, vec![(1, last)])];
    assert_eq!(text("import os\nos.system(input())\n"), bound(2));
    assert_eq!(text("{}\n"), bound(1));
    assert_eq!(text("[1, 2]"), bound(1));
    let lines = NOTEBOOK.lines().count() as u64;
    for (right, wrong) in [
        ("\"import sqlite3\\n\"", "\"import sqlite3\\q\""),
        ("\"import sqlite3\\n\"", "import sqlite3"),
        (" \"nbformat\": 4,", " \"nbformat\": 4]"),
    ] {
        assert!(NOTEBOOK.contains(right));
        let found = text(&NOTEBOOK.replacen(right, wrong, 1));
        assert_eq!(found.first(), bound(lines).first(), "{wrong}");
    }
    // Of a diff alone only some lines are known.
    let part = format!("\n\n{}\n", NOTEBOOK.lines().skip(2).collect::<Vec<_>>().join("\n"));
    assert_eq!(text(&part)[0].0, Limit::Unparsed);
}
