use quorum_model::config::Presets;

use super::*;
use crate::tree::Listed;

fn names(config: &GatesConfig, files: &[(&str, &str)]) -> Vec<String> {
    let tree = Listed::of(files);
    let checks = select(config, &[&tree]).expect("the configuration is sound");
    checks.into_iter().map(|check| check.name).collect()
}

fn auto(files: &[(&str, &str)]) -> Vec<String> {
    names(&GatesConfig::default(), files)
}

fn config(text: &str) -> GatesConfig {
    serde_json::from_str(text).expect("it parses")
}

#[test]
fn every_preset_is_detected_by_its_files() {
    let go = [("go.mod", ""), ("a/b_test.go", "")];
    assert_eq!(auto(&go), ["build", "vet", "format", "test"]);
    let rust = [("Cargo.toml", ""), ("src/lib.rs", "    #[test]\n    fn a() {}\n")];
    assert_eq!(auto(&rust), ["build", "clippy", "format", "test"]);
    assert_eq!(auto(&[("pom.xml", "")]), ["build", "test"]);
    assert_eq!(auto(&[("build.gradle.kts", "")]), ["build", "test"]);
    let lists = "enable_testing()";
    assert_eq!(auto(&[("CMakeLists.txt", lists)]), ["configure", "build", "test"]);
    assert_eq!(auto(&[("CMakeLists.txt", "project(x)")]), ["configure", "build"]);
    assert_eq!(auto(&[("Makefile", "all: x\ntest:\nlint:\n")]), ["build", "lint", "test"]);
    assert_eq!(auto(&[("Taskfile.yml", "tasks:\n  test: x\n")]), ["test"]);
    let package = r#"{"scripts": {"test": "node --test", "lint": "eslint ."}}"#;
    let node = [("package.json", package), ("tsconfig.json", "{}")];
    assert_eq!(auto(&node), ["typecheck", "lint", "test"]);
    let python = [("pyproject.toml", "[tool.ruff]\n"), ("test_a.py", "def test_a(): pass\n")];
    assert_eq!(auto(&python), ["syntax", "ruff", "test"]);
    assert_eq!(auto(&[("README.md", "")]), [""; 0]);
}

#[test]
fn the_python_tests_run_with_what_they_are_written_for() {
    let command = |test: &str| {
        let tree = Listed::of(&[("setup.py", ""), ("tests/test_a.py", test)]);
        let checks = select(&GatesConfig::default(), &[&tree]).unwrap();
        checks.into_iter().find(|check| check.name == "test").unwrap().command
    };
    let cases = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
    assert_eq!(command(cases), "python3 -m unittest discover -s tests");
    assert_eq!(command("def test_a():\n    assert True\n"), "python3 -m pytest -q");
}

#[test]
fn unittest_is_told_where_it_would_not_look() {
    let case = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
    let command = |paths: &[&str]| {
        let mut files: Vec<(&str, &str)> = vec![("p/setup.py", "")];
        files.extend(paths.iter().map(|path| (*path, case)));
        let checks = select(&GatesConfig::default(), &[&Listed::of(&files)]).unwrap();
        let test = checks.into_iter().find(|check| check.name == "test").unwrap();
        test.command.replace("python3 -m unittest discover", "discover")
    };
    assert_eq!(command(&["p/test_a.py"]), "discover");
    assert_eq!(command(&["p/tests/__init__.py", "p/tests/test_a.py"]), "discover");
    assert_eq!(command(&["p/tests/test_a.py", "p/test_b.py"]), "discover && discover -s tests");
    let nested = ["p/tests/unit/__init__.py", "p/tests/unit/test_a.py", "p/tests/test_b.py"];
    assert_eq!(command(&nested), "discover -s tests");
    assert_eq!(command(&["p/a_test.py"]), "discover -p '*_test.py'");
    assert_eq!(command(&["p/it's/test_a.py"]), "discover -s './it'\\''s'");
}

#[test]
fn a_project_without_tests_has_no_check_of_them() {
    assert_eq!(auto(&[("go.mod", ""), ("a.go", "")]), ["build", "vet", "format"]);
    let nested = [("go.mod", ""), ("b/go.mod", ""), ("b/a_test.go", "")];
    let names = auto(&nested);
    assert!(names.contains(&"test".to_owned()), "only the module that has one: {names:?}");
    for (path, text, tested) in [
        ("src/main.rs", "fn main() {}\n", false),
        ("src/main.rs", "#[tokio::test]\nasync fn a() {}\n", true),
        ("src/lib.rs", "/// ```\n/// a();\n/// ```\nfn a() {}\n", true),
        ("src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n", true),
        ("tests/a.rs", "", true),
    ] {
        let names = auto(&[("Cargo.toml", ""), (path, text)]);
        assert_eq!(names.contains(&"test".to_owned()), tested, "{path}: {text}");
    }
    assert_eq!(auto(&[("setup.py", ""), ("a.py", "")]), ["syntax"]);
}

#[test]
fn the_test_that_npm_init_writes_is_none() {
    let package = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert_eq!(auto(&[("package.json", package)]), [""; 0]);
    assert_eq!(auto(&[("package.json", package), ("a.test.js", "")]), ["test"]);
}

#[test]
fn packages_are_installed_as_the_lock_file_and_the_network_allow() {
    let install = |network: bool, more: &[(&str, &str)]| {
        let package = ("package.json", r#"{"dependencies": {"a": "1"}}"#);
        let files: Vec<_> = [package].into_iter().chain(more.iter().copied()).collect();
        let tree = Listed::of(&files);
        let config = GatesConfig { network, ..GatesConfig::default() };
        select(&config, &[&tree]).unwrap().remove(0).command
    };
    let locked = [("package-lock.json", "{}")];
    assert!(install(false, &locked).contains("npm ci --offline "));
    assert!(install(true, &locked).contains("npm ci --ignore-scripts "));
    assert!(install(false, &[]).contains("npm install --no-package-lock --offline "));
}

#[test]
fn a_mixed_repository_has_the_checks_of_all_its_parts() {
    let mixed = [
        ("backend/go.mod", ""),
        ("backend/a_test.go", ""),
        ("frontend/package.json", r#"{"scripts": {"test": "vitest"}}"#),
        ("Makefile", "test:\n"),
    ];
    assert_eq!(
        auto(&mixed),
        ["make:test", "build", "vet", "format", "go:test", "node:test"],
        "the root comes first, and what two presets have is named by its preset"
    );
}

#[test]
fn a_makefile_stands_back_where_a_language_is_known_unless_it_is_asked_for() {
    let files = [("go.mod", ""), ("a_test.go", ""), ("Makefile", "test:\n")];
    assert!(!auto(&files).iter().any(|name| name.starts_with("make")));
    let both = GatesConfig {
        preset: Presets::Many(vec!["go".to_owned(), "make".to_owned()]),
        ..GatesConfig::default()
    };
    assert!(names(&both, &files).contains(&"make:test".to_owned()));
}

#[test]
fn two_modules_of_one_language_are_named_by_their_folders() {
    let tests = [("a/a_test.go", ""), ("b/b_test.go", "")];
    let names = auto(&[("a/go.mod", ""), ("b/go.mod", ""), tests[0], tests[1]]);
    assert!(names.contains(&"go:test@a".to_owned()), "{names:?}");
    assert!(names.contains(&"go:test@b".to_owned()), "{names:?}");
}

#[test]
fn a_team_changes_checks_and_adds_its_own() {
    let config = config(
        r#"{
            "preset": "go",
            "overrides": [
                {"name": "coverage", "required": true, "threshold": 75},
                {"name": "go:test", "timeout": 7},
                {"name": "vet", "enabled": false}
            ],
            "additional": [{"name": "migrations", "command": "./check.sh", "required": true}]
        }"#,
    );
    let tree = Listed::of(&[("go.mod", ""), ("a_test.go", "")]);
    let checks = select(&config, &[&tree]).unwrap();
    let find = |name: &str| checks.iter().find(|check| check.name == name);
    let coverage = find("coverage").expect("it was named, so it runs");
    assert_eq!((coverage.required, coverage.threshold), (true, Some(75.0)));
    assert_eq!(find("test").map(|check| check.timeout), Some(7));
    assert!(find("vet").is_none());
    let own = find("migrations").expect("a team's own");
    assert_eq!((own.required, own.timeout, own.preset.as_deref()), (true, 120, None));
}

#[test]
fn what_nobody_knows_is_refused() {
    let tree = Listed::of(&[("go.mod", ""), ("a_test.go", "")]);
    for (text, error) in [
        (r#"{"preset": "cobol"}"#, GateError::UnknownPreset("cobol".to_owned())),
        (r#"{"overrides": [{"name": "tset"}]}"#, GateError::UnknownCheck("tset".to_owned())),
        (
            r#"{"additional": [{"name": "test", "command": "x"}]}"#,
            GateError::Twice("test".to_owned()),
        ),
    ] {
        let refused = select(&config(text), &[&tree]).expect_err(text);
        assert_eq!(refused.to_string(), error.to_string());
    }
    // A team's file is for all its repositories.
    assert!(select(&config(r#"{"overrides": [{"name": "clippy"}]}"#), &[&tree]).is_ok());
}

#[test]
fn what_a_change_takes_away_is_still_checked() {
    let base = Listed::of(&[("package.json", r#"{"scripts": {"test": "x", "build": "y"}}"#)]);
    let head = Listed::of(&[("package.json", "{}"), ("Cargo.toml", ""), ("tests/a.rs", "")]);
    let checks = select(&GatesConfig::default(), &[&base, &head]).unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["node:build", "rust:build", "clippy", "format", "node:test", "rust:test"]);
}

#[test]
fn every_name_of_a_preset_can_be_overridden() {
    let files = [
        ("go.mod", ""),
        (".golangci.yml", ""),
        ("r/Cargo.toml", ""),
        ("p/pyproject.toml", "[tool.mypy]\n[tool.black]\n[tool.ruff]\n"),
        ("p/test_a.py", ""),
        ("q/setup.cfg", "[flake8]"),
        ("q/a.py", ""),
        ("m/pom.xml", ""),
        ("c/CMakeLists.txt", "enable_testing()"),
        ("k/Makefile", "build:\nlint:\ncheck:\ntest:\nfmt-check:\nformat-check:\ntypecheck:\n"),
        ("n/package.json", r#"{"dependencies": {"a": "1"}, "scripts": {"coverage": "x"}}"#),
        ("n/eslint.config.js", ""),
        ("n/svelte.config.js", ""),
        ("n/.prettierrc", ""),
        ("o/package.json", r#"{"devDependencies": {"svelte-check": "1"}}"#),
        ("o/svelte.config.js", ""),
        ("o/biome.json", ""),
    ];
    let tree = Listed::of(&files);
    for found in detect(&GatesConfig::default(), &tree).unwrap() {
        assert!(is_known(&found.draft.name), "{}", found.draft.name);
    }
}

#[test]
fn tests_build_on_builds_of_their_own_project() {
    let files = [("a/go.mod", ""), ("b/go.mod", ""), ("a/a_test.go", ""), ("b/b_test.go", "")];
    let tree = Listed::of(&files);
    let checks = select(&GatesConfig::default(), &[&tree]).unwrap();
    let find = |name: &str| checks.iter().find(|check| check.name == name).expect(name);
    assert!(builds_on(find("go:build@a"), find("go:test@a")));
    assert!(!builds_on(find("go:build@a"), find("go:test@b")));
    assert!(!builds_on(find("go:vet@a"), find("go:test@a")));
    assert!(!builds_on(find("go:build@a"), find("go:format@a")));
}
