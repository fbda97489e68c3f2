//! The targets of Makefiles and the tasks of Taskfiles.

use quorum_model::gate::GateCategory;

use super::{Draft, NOT_PROSE, optional, required};
use crate::tree::{Tree, first_of, folders_with, join, outermost};

const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const TASKFILES: [&str; 4] = ["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"];

pub(super) fn makefiles(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &MAKEFILES))
}

pub(super) fn taskfiles(tree: &dyn Tree) -> Vec<String> {
    outermost(folders_with(tree, &TASKFILES))
}

pub(super) fn make_checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let text = first_of(tree, folder, &MAKEFILES).and_then(|name| tree.text(&join(folder, name)));
    let targets = make_targets(&text.unwrap_or_default());
    let mut checks = known(&targets, "make");
    let named = checks.iter().any(|check| check.category == GateCategory::Build);
    // By custom the first target builds.
    if let Some(first) = targets.first()
        && !named
        && !["clean", "help", "install", "test", "check", "lint"].contains(&first.as_str())
    {
        let build = required("build", GateCategory::Build, "make", 600).on(&NOT_PROSE);
        checks.push(build.because(format!("the first target is {first}")));
    }
    checks
}

pub(super) fn task_checks(tree: &dyn Tree, folder: &str) -> Vec<Draft> {
    let text = first_of(tree, folder, &TASKFILES).and_then(|name| tree.text(&join(folder, name)));
    known(&task_names(&text.unwrap_or_default()), "task")
}

/// The checks that go by a customary name. What rewrites files checks nothing.
fn known(names: &[String], program: &str) -> Vec<Draft> {
    let customary = [
        ("build", GateCategory::Build, true, 600),
        ("typecheck", GateCategory::Typecheck, true, 300),
        ("lint", GateCategory::Lint, false, 300),
        ("format-check", GateCategory::Format, false, 60),
        ("fmt-check", GateCategory::Format, false, 60),
        ("check", GateCategory::Test, true, 600),
        ("test", GateCategory::Test, true, 600),
    ];
    let there = customary.into_iter().filter(|(name, ..)| names.iter().any(|other| other == name));
    there
        .map(|(name, category, is_required, timeout)| {
            let line = format!("{program} {name}");
            let make = if is_required { required } else { optional };
            make(name, category, line, timeout).on(&NOT_PROSE)
        })
        .collect()
}

/// The targets of a Makefile that a user would type.
fn make_targets(text: &str) -> Vec<String> {
    let mut targets: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with(['\t', ' ', '#', '.']) {
            continue;
        }
        let Some((names, rest)) = line.split_once(':') else { continue };
        // `NAME := value` and its like set a variable.
        if rest.starts_with('=') || rest.starts_with(":=") || names.contains('=') {
            continue;
        }
        for name in names.split_whitespace() {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
            if name.chars().all(plain) && !targets.iter().any(|known| known == name) {
                targets.push(name.to_owned());
            }
        }
    }
    targets
}

/// The names below `tasks:`, by their indentation.
fn task_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    let mut depth = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - trimmed.len();
        if indent == 0 {
            inside = trimmed.starts_with("tasks:");
            depth = None;
            continue;
        }
        if inside
            && *depth.get_or_insert(indent) == indent
            && let Some((name, _)) = trimmed.split_once(':')
        {
            names.push(name.trim_matches(['"', '\'']).to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_from_variables_and_recipes() {
        let text = "CC := gcc\nX = a:b\n.PHONY: all test\nall: app\n\techo a:b\napp test: x.c\n\
                    %.o: %.c\n$(OBJ): y\nlint::\n";
        assert_eq!(make_targets(text), ["all", "app", "test", "lint"]);
    }

    #[test]
    fn tasks_are_told_from_what_they_do() {
        let text = "version: '3'\nvars:\n  build: x\ntasks:\n  # first\n  build:\n    cmds:\n      \
                    - go build\n  test: go test\nincludes:\n  lint: y\n";
        assert_eq!(task_names(text), ["build", "test"]);
    }
}
