//! Behaviour that changes without a test, tests that go away, tests that are switched off.

use std::collections::HashSet;

use quorum_model::scope::{FileKind, Flag};
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::facts::FileFacts;
use crate::checks::functions::functions;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, end_line, is_comment, line, text, walk};
use crate::checks::tests_in_code::{is_test_code, tests};
use crate::finding::RuleFinding;
use crate::source::{ParsedFile, Sources};

pub(crate) const UNTESTED: CodeRule = CodeRule {
    id: "quality.no-test-touched",
    agent: AGENT,
    category: "testing",
    severity: Severity::Low,
    confidence: 0.6,
};
pub(crate) const DELETED: CodeRule = CodeRule {
    id: "quality.deleted-test",
    agent: AGENT,
    category: "testing",
    severity: Severity::Medium,
    confidence: 0.7,
};

/// Fewer changed lines of logic are often covered by tests that exist.
const LOGIC_LINES: usize = 12;
/// From here on it is a feature.
const FEATURE_LINES: usize = 60;

/// What a file changes in behaviour and in tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestFacts {
    /// Whether tests are added or rewritten.
    touched: bool,
    /// Names of tests that are there after the change and were not before.
    added: Vec<String>,
    /// Names of tests that were there before, with their lines.
    removed: Vec<Removed>,
    /// The changed code that is not test code.
    logic: Option<Logic>,
    /// Whether functions that are not tests went away.
    drops_functions: bool,
}

#[derive(Clone, Debug)]
struct Removed {
    name: String,
    /// The line of the head version after which it stood.
    line: u64,
    quote: String,
}

#[derive(Clone, Debug)]
struct Logic {
    /// Added lines within functions.
    lines: usize,
    /// The function with most of them.
    function: String,
    line: u64,
    quote: String,
    most: usize,
}

impl TestFacts {
    pub(crate) fn of(file: &ParsedFile) -> Self {
        let Some(lang) = file.lang else {
            // Snapshots and fixtures are tests too.
            return Self { touched: file.source.entry.has(Flag::Test), ..Self::default() };
        };
        let mut facts = Self::default();
        let source = file.text();
        let now = file
            .tree
            .as_ref()
            .map(|tree| tests(tree.root_node(), lang, source))
            .unwrap_or_default();
        let base_text = file.source.base.as_deref().unwrap_or_default();
        let before = file
            .base_tree
            .as_ref()
            .map(|tree| tests(tree.root_node(), lang, base_text))
            .unwrap_or_default();
        let (kept, known): (HashSet<&str>, HashSet<&str>) = (
            now.iter().map(|(name, _)| name.as_str()).collect(),
            before.iter().map(|(name, _)| name.as_str()).collect(),
        );
        if file.source.added.is_none() {
            return facts;
        }
        facts.added = now
            .iter()
            .filter(|(name, _)| !known.contains(name.as_str()))
            .map(|(name, _)| name.clone())
            .collect();
        if !is_example(file.path()) {
            facts.removed = before
                .iter()
                .filter(|(name, _)| !kept.contains(name.as_str()))
                .map(|(name, node)| Removed {
                    name: name.clone(),
                    line: super::super::head_line(file, line(*node)),
                    quote: text(*node, base_text).lines().next().unwrap_or_default().to_owned(),
                })
                .collect();
        }
        let inline = file
            .tree
            .as_ref()
            .is_some_and(|tree| touches_inline_tests(file, lang, tree.root_node()));
        facts.touched = file.source.entry.has(Flag::Test) || inline || !facts.added.is_empty();
        let is_logic = file.source.entry.kind == FileKind::Code
            && !file.source.entry.has(Flag::Test)
            && !super::super::is_foreign(file)
            && !is_example(file.path());
        if is_logic {
            facts.logic = file.tree.as_ref().and_then(|tree| logic(file, lang, tree.root_node()));
            facts.drops_functions = drops_functions(file, lang);
        }
        facts
    }
}

fn is_example(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.to_ascii_lowercase();
        matches!(
            part.as_str(),
            "examples"
                | "example"
                | "benches"
                | "benchmarks"
                | "benchmark"
                | "docs"
                | "doc"
                | "scripts"
                | "tools"
                | "ci"
                | "fuzz"
                | "build.rs"
                | "setup.py"
        )
    })
}

fn touches_inline_tests(file: &ParsedFile, lang: Lang, root: Node<'_>) -> bool {
    lang == Lang::Rust
        && any(root, |node| {
            matches!(node.kind(), "mod_item" | "function_item")
                && file.source.touches(line(node), end_line(node))
                && is_test_code(node, lang, file.text())
        })
}

fn logic(file: &ParsedFile, lang: Lang, root: Node<'_>) -> Option<Logic> {
    let added = file.source.added.as_ref().filter(|added| !added.is_empty())?;
    let source = file.text();
    let commented = commented_lines(root);
    let mut found: Option<Logic> = None;
    let mut total = 0;
    for function in functions(root, lang, source) {
        let first = line(function.body);
        if !added.meets(first, end_line(function.body)) || is_test_code(function.node, lang, source)
        {
            continue;
        }
        let is_code = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).count() > 2;
        let lines: Vec<(u64, &str)> = (first..)
            .zip(text(function.body, source).lines())
            .filter(|(number, line)| {
                added.contains(*number) && is_code(line) && !commented.contains(number)
            })
            .collect();
        let Some(&(line, quote)) = lines.first() else { continue };
        total += lines.len();
        if found.as_ref().is_none_or(|logic| lines.len() > logic.most) {
            let name = function.name.rsplit('.').next().unwrap_or_default();
            found = Some(Logic {
                lines: 0,
                function: name.split('#').next().unwrap_or_default().to_owned(),
                line,
                quote: quote.trim().to_owned(),
                most: lines.len(),
            });
        }
    }
    found.map(|logic| Logic { lines: total, ..logic })
}

/// Lines that a comment starts or fills.
fn commented_lines(root: Node<'_>) -> HashSet<u64> {
    let mut lines = HashSet::new();
    walk(root, |node| {
        if is_comment(node) {
            // A comment after code on the same line does not make the line a comment.
            let alone = node.prev_sibling().is_none_or(|before| end_line(before) < line(node));
            lines.extend(line(node) + u64::from(!alone)..=end_line(node));
        }
        true
    });
    lines
}

fn drops_functions(file: &ParsedFile, lang: Lang) -> bool {
    let Some(base) = &file.base_tree else { return false };
    let base_text = file.source.base.as_deref().unwrap_or_default();
    let now: HashSet<String> = file
        .tree
        .as_ref()
        .map(|tree| functions(tree.root_node(), lang, file.text()))
        .unwrap_or_default()
        .into_iter()
        .map(|function| function.name)
        .collect();
    functions(base.root_node(), lang, base_text).iter().any(|function| {
        !now.contains(&function.name) && !is_test_code(function.node, lang, base_text)
    })
}

/// What the whole change shows.
pub(crate) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    if files.iter().any(|file| file.is_whole) {
        return;
    }
    untested(files, sources, findings);
    deleted(files, findings);
}

fn untested(files: &[FileFacts], sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    if files.iter().any(|file| file.tests.touched)
        || !sources.paths().iter().any(|path| is_test_path(path))
    {
        return;
    }
    let changed = || files.iter().filter_map(|file| Some((file, file.tests.logic.as_ref()?)));
    let lines: usize = changed().map(|(_, logic)| logic.lines).sum();
    let Some((file, logic)) =
        changed().max_by_key(|(file, logic)| (logic.most, std::cmp::Reverse(file.path())))
    else {
        return;
    };
    if lines < LOGIC_LINES {
        return;
    }
    let issue = format!(
        "No test changes with {lines} lines of logic, most of them in `{}`. The repository has tests, and none of them is touched.",
        logic.function
    );
    let fix = format!(
        "Add a test that fails without this change, or name the existing one that covers `{}`.",
        logic.function
    );
    let mut found =
        UNTESTED.on(file.path(), (logic.line, logic.line), logic.quote.clone(), issue, fix);
    if lines >= FEATURE_LINES {
        found.severity = Severity::Medium;
    }
    findings.push(found);
}

fn is_test_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    lower.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec" | "testing"))
        || name.contains("_test.")
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.starts_with("test_")
        || name.ends_with("test.java")
}

fn deleted(files: &[FileFacts], findings: &mut Vec<RuleFinding>) {
    // What is tested may have gone with its tests, or the tests may have moved.
    if files.iter().any(|file| {
        file.tests.drops_functions || (!file.tests.removed.is_empty() && file.tests.logic.is_some())
    }) {
        return;
    }
    let added: usize = files.iter().map(|file| file.tests.added.len()).sum();
    let kept: HashSet<&str> =
        files.iter().flat_map(|file| &file.tests.added).map(String::as_str).collect();
    for file in files {
        let gone: Vec<&Removed> =
            file.tests.removed.iter().filter(|test| !kept.contains(test.name.as_str())).collect();
        let Some(first) = gone.first() else { continue };
        if added >= gone.len() {
            continue;
        }
        let others = match gone.len() - 1 {
            0 => String::new(),
            1 => " and one more".to_owned(),
            more => format!(" and {more} more"),
        };
        let issue = format!(
            "The test `{}`{others} is removed, while the code under test stays. What it checked is no longer checked.",
            first.name
        );
        let fix = "Keep it, or say in the change why it is no longer needed.";
        let mut found =
            DELETED.on(file.path(), (first.line, first.line), first.quote.clone(), issue, fix);
        found.caused = true;
        findings.push(found);
    }
}
