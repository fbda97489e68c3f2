//! Python projects.

use quorum_model::gate::GateCategory;

use super::{Draft, NOT_PROSE, coverage, optional, required};
use crate::tree::{Tree, first_of, folders_with, is_below, join, outermost};

const MARKERS: [&str; 6] =
    ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini"];

const SOURCES: [&str; 5] = ["*.py", "*.pyi", "*.toml", "*.cfg", "*.ini"];

pub(super) fn folders(tree: &dyn Tree) -> Vec<String> {
    let mut folders = outermost(folders_with(tree, &MARKERS));
    // A manifest for tools alone, in a repository of another language, is no project.
    folders.retain(|folder| {
        tree.paths().iter().any(|path| is_below(path, folder) && path.ends_with(".py"))
    });
    folders
}

pub(super) fn checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let text = |name: &str| tree.text(&join(folder, name)).unwrap_or_default();
    let project = text("pyproject.toml");
    let setup = text("setup.cfg");
    let configures = |table: &str, files: &[&str]| {
        project.contains(&format!("[tool.{table}"))
            || setup.contains(&format!("[{table}]"))
            || first_of(tree, folder, files).is_some()
    };
    let mut checks = vec![
        required("syntax", GateCategory::Build, "python3 -m compileall -q .", 120).on(&["*.py"]),
    ];
    // A project may have errors mended silently, which here would be passed over silently.
    if configures("ruff", &["ruff.toml", ".ruff.toml"]) {
        checks
            .push(optional("ruff", GateCategory::Lint, "ruff check --no-fix .", 120).on(&SOURCES));
    } else if configures("flake8", &[".flake8"]) {
        checks.push(optional("flake8", GateCategory::Lint, "flake8", 120).on(&SOURCES));
    }
    if configures("mypy", &["mypy.ini", ".mypy.ini"]) {
        checks.push(optional("mypy", GateCategory::Typecheck, "mypy .", 300).on(&SOURCES));
    }
    if configures("black", &[]) {
        checks.push(optional("format", GateCategory::Format, "black --check .", 60).on(&["*.py"]));
    } else if configures("ruff.format", &[]) {
        let line = "ruff format --check .";
        checks.push(optional("format", GateCategory::Format, line, 60).on(&["*.py"]));
    }
    checks.extend(test(tree, folder, &project));
    checks.push(
        coverage(
            "python3 -m pytest -q --cov --cov-report=json:\"$QUORUM_REPORTS/coverage.json\"",
            600,
            &["$QUORUM_REPORTS/coverage.json"],
        )
        .on(&NOT_PROSE),
    );
    checks
}

fn test(tree: &dyn Tree, folder: &str, project: &str) -> Option<Draft> {
    let own = || tree.paths().iter().filter(|path| is_below(path, folder));
    let is_test = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))
    };
    let tests: Vec<&String> = own().filter(is_test).collect();
    if tests.is_empty() {
        return None;
    }
    let requirements = ["requirements.txt", "requirements-dev.txt", "requirements/dev.txt"];
    let wanted = requirements.iter().filter_map(|name| tree.text(&join(folder, name)));
    let pytest = project.contains("pytest")
        || wanted.into_iter().any(|text| text.contains("pytest"))
        || first_of(tree, folder, &["pytest.ini"]).is_some()
        || own().any(|path| path.ends_with("conftest.py"))
        // Functions by themselves are what `unittest` passes over without a word.
        || tests.iter().any(|path| {
            let text = tree.text(path).unwrap_or_default();
            text.contains("import pytest") || text.lines().any(|line| line.starts_with("def test"))
        });
    let line =
        if pytest { "python3 -m pytest -q".to_owned() } else { discover(tree, folder, &tests) };
    let draft = required("test", GateCategory::Test, line, 600).on(&NOT_PROSE);
    let first = tests.first().map(|path| (*path).clone()).unwrap_or_default();
    Some(draft.because(first))
}

/// `unittest` looks only into packages, so that it is told each folder that is none and holds tests.
fn discover(tree: &dyn Tree, folder: &str, tests: &[&String]) -> String {
    let is_package =
        |path: &str| tree.paths().iter().any(|other| *other == join(path, "__init__.py"));
    let mut commands = Vec::new();
    for test in tests {
        let (mut start, name) = test.rsplit_once('/').unwrap_or(("", test.as_str()));
        while start != folder && is_package(start) {
            start = start.rsplit_once('/').map_or("", |(above, _)| above);
        }
        let below = start.strip_prefix(folder).unwrap_or(start).trim_start_matches('/');
        let place = if below.is_empty() { String::new() } else { format!(" -s {}", quoted(below)) };
        let named = if name.starts_with("test") { "" } else { " -p '*_test.py'" };
        let command = format!("python3 -m unittest discover{place}{named}");
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands.join(" && ")
}

/// A name for the shell.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if name.chars().all(plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    format!("'./{}'", name.replace('\'', "'\\''"))
}
