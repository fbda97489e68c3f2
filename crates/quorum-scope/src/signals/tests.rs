use super::*;
use quorum_model::scope::Hunk;

use crate::files::ContentSource;

fn file(path: &str, body: &str) -> RawFile {
    RawFile {
        change: Change::Modified,
        old_mode: 0o100_644,
        new_mode: 0o100_644,
        content: ContentSource::None,
        patch: body.as_bytes().to_vec(),
        hunks: vec![(
            Hunk { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1 },
            0..body.len(),
        )],
        ..RawFile::whole(path.into())
    }
}

fn facts(path: &str, language: &str, body: &str) -> (FileFacts, Classified) {
    let mut classified = Classified {
        language: Some(language.to_owned()),
        kind: FileKind::Code,
        flags: BTreeMap::new(),
    };
    let facts = read(&file(path, body), &Content::DiffOnly, &mut classified);
    (facts, classified)
}

fn labels(facts: &FileFacts, wanted: Signal) -> Vec<&str> {
    let all = facts.signals.keys();
    all.filter(|(signal, _)| *signal == wanted).map(|(_, label)| label.as_str()).collect()
}

#[test]
fn imports_of_services_are_counted_once_each() {
    let body = "+import requests\n+from redis import Redis\n+import httpx\n-import boto3\n import stripe\n";
    let (facts, _) = facts("app.py", "Python", body);
    assert_eq!(labels(&facts, Signal::ExternalService), ["http", "redis"]);
}

#[test]
fn imports_by_language() {
    let cases: [(&str, &str, &[&str]); 7] = [
        ("Rust", "use crate::a::b;\npub use c::{d};\n", &["crate::a::b", "c::{d}"]),
        (
            "Go",
            "import (\n\t\"fmt\"\n\tx \"net/http\"\n)\nimport \"os\"\n",
            &["fmt", "net/http", "os"],
        ),
        ("TypeScript", "import { a } from './a';\nconst b = require(\"b\");\n", &["./a", "b"]),
        ("Java", "import static java.util.List;\nimportant();\n", &["java.util.List"]),
        ("C", "#include <stdio.h>\n#include \"x.h\"\n", &["stdio.h", "x.h"]),
        ("Ruby", "require 'json'\n", &["json"]),
        ("Python", "import os, sys\nfrom .a import b\n", &["os", ".a"]),
    ];
    for (language, text, expected) in cases {
        assert_eq!(imports::of(language, text.as_bytes()), expected, "{language}");
    }
}

#[test]
fn words_count_whole_and_only_in_added_lines() {
    let body = "+let password = read();\n-let jwt = x;\n+let hackathon = 1;\n+// TODO later\n";
    let (facts, classified) = facts("a.rs", "Rust", body);
    assert_eq!(labels(&facts, Signal::SecurityKnowledge), ["password"]);
    assert_eq!(labels(&facts, Signal::TechnicalDebt), ["todo"]);
    assert!(classified.has(Flag::SecuritySensitive));
}

#[test]
fn a_removed_or_changed_export_is_told_from_an_added_one() {
    let (added, _) = facts("src/a.rs", "Rust", "+pub fn new_one() {}\n");
    assert_eq!(labels(&added, Signal::PublicItem), ["new_one"]);
    assert!(labels(&added, Signal::RemovedPublicItem).is_empty());
    let (removed, classified) = facts("src/a.rs", "Rust", "-pub fn gone(a: u8) {}\n");
    assert_eq!(labels(&removed, Signal::RemovedPublicItem), ["gone"]);
    assert!(classified.has(Flag::PublicApi));
    let (changed, _) = facts("a.go", "Go", "-func Open(a int) {\n+func Open(a string) {\n");
    assert_eq!(labels(&changed, Signal::RemovedPublicItem), ["Open"]);
    let (moved, _) = facts("a.go", "Go", "-func Open(a int) {\n+func Open(a int) {\n");
    assert!(labels(&moved, Signal::RemovedPublicItem).is_empty());
}

#[test]
fn exports_by_language() {
    let cases = [
        ("Rust", "pub async fn f<T>() {}", Some("f")),
        ("Rust", "pub const fn g() {}", Some("g")),
        ("Rust", "pub const LIMIT: u8 = 1;", Some("LIMIT")),
        ("Rust", "pub(crate) fn h() {}", None),
        ("Go", "func (s *Server) Close() error {", Some("Close")),
        ("Go", "func (s *Server) close() error {", None),
        ("TypeScript", "export default class Panel {", Some("Panel")),
        ("Python", "def helper():", Some("helper")),
        ("Python", "    def method(self):", None),
        ("Python", "def _private():", None),
        ("Java", "    public List<String> names() {", Some("names")),
    ];
    for (language, line, name) in cases {
        let found = exports::of(language, line.as_bytes());
        assert_eq!(found.keys().next().map(String::as_str), name, "{language}: {line}");
    }
}
