//! Asynchronous functions of the file that are called and not awaited.

use std::collections::HashSet;

use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::rule;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{bare, enclosing, field, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const PYTHON: CodeRule =
    rule("python.not-awaited", "python-reviewer", "async", Severity::High, 0.85);
pub(crate) const FLOATING: CodeRule =
    rule("js.floating-promise", "typescript-reviewer", "promise", Severity::Medium, 0.7);
pub(crate) const CONDITION: CodeRule =
    rule("js.promise-as-condition", "typescript-reviewer", "promise", Severity::High, 0.9);
pub(crate) const UNCAUGHT: CodeRule =
    rule("js.return-skips-catch", "typescript-reviewer", "promise", Severity::Medium, 0.75);

pub(crate) const DROPPED: CodeRule =
    rule("js.await-dropped", "typescript-reviewer", "promise", Severity::High, 0.85);
pub(crate) const DROPPED_PYTHON: CodeRule =
    rule("python.await-dropped", "python-reviewer", "async", Severity::High, 0.85);

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    match lang {
        Lang::Python => {
            python(file, root, findings);
            dropped(file, root, &DROPPED_PYTHON, findings);
        }
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => {
            script(file, root, findings);
            dropped(file, root, &DROPPED, findings);
        }
        _ => {}
    }
}

/// A statement that waited before the change and does not wait any more.
fn dropped(file: &ParsedFile, root: Node<'_>, rule: &CodeRule, findings: &mut Vec<RuleFinding>) {
    let Some(base_tree) = &file.base_tree else { return };
    let base = file.source.base.as_deref().unwrap_or_default();
    let mut awaited: HashSet<&str> = HashSet::new();
    walk(base_tree.root_node(), |node| {
        let is_removed = || file.source.removed.contains(crate::checks::syntax::line(node));
        if node.kind() == "expression_statement"
            && let Some(wait) =
                node.named_child(0).filter(|inner| inner.kind().starts_with("await"))
            && let Some(call) = wait.named_child(0)
            && is_removed()
        {
            awaited.extend(field(call, "function", base));
        }
        true
    });
    if awaited.is_empty() {
        return;
    }
    let source = file.text();
    let functions = [
        "function_definition",
        "function_declaration",
        "arrow_function",
        "function_expression",
        "method_definition",
    ];
    walk(root, |node| {
        if node.kind() == "expression_statement"
            && file.source.is_added(crate::checks::syntax::line(node))
            && let Some(call) = node.named_child(0).filter(|call| matches!(call.kind(), "call" | "call_expression"))
            && let Some(function) = field(call, "function", source).filter(|name| awaited.contains(name))
            && enclosing(node, &functions).is_some_and(|around| text(around, source).starts_with("async"))
            // The same rule of this file says it already.
            && !findings.iter().any(|found| found.line == crate::checks::syntax::line(node) && found.category == rule.category)
        {
            let issue = format!(
                "`{function}` was awaited before this change and is not any more: what follows runs before it is done, and its failure is lost."
            );
            let fix = format!("Write `await {function}(…)`, or handle its failure here.");
            findings.push(rule.at(file, node, issue, fix));
        }
        true
    });
}

/// Names of functions at the top of the file that are asynchronous, and of those that are not.
fn asynchronous<'s>(root: Node<'_>, source: &'s str) -> HashSet<&'s str> {
    let mut found: HashSet<&str> = HashSet::new();
    let mut other: HashSet<&str> = HashSet::new();
    walk(root, |node| {
        let name = match node.kind() {
            "function_definition" | "function_declaration" => field(node, "name", source),
            "arrow_function" | "function_expression" => node
                .parent()
                .filter(|parent| parent.kind() == "variable_declarator")
                .and_then(|parent| field(parent, "name", source)),
            "variable_declarator"
                if node.child_by_field_name("value").is_none_or(|value| {
                    !matches!(value.kind(), "arrow_function" | "function_expression")
                }) =>
            {
                other.extend(field(node, "name", source));
                None
            }
            "required_parameter" | "import_specifier" => {
                other.insert(text(node, source).split([':', ' ', '=']).next().unwrap_or_default());
                None
            }
            _ => None,
        };
        if let Some(name) = name {
            let in_class = enclosing(node, &["class_definition", "class_body"]).is_some();
            let is_generator =
                node.child_by_field_name("body").is_some_and(|body| has_own_yield(body));
            if text(node, source).starts_with("async") && !in_class && !is_generator {
                found.insert(name);
            } else {
                other.insert(name);
            }
        }
        true
    });
    // A name that means two things proves nothing.
    found.retain(|name| !other.contains(name));
    found
}

/// An asynchronous generator is iterated, not awaited.
fn has_own_yield(body: Node<'_>) -> bool {
    let mut found = false;
    walk(body, |node| {
        found = found || matches!(node.kind(), "yield" | "yield_expression");
        !matches!(
            node.kind(),
            "function_definition"
                | "lambda"
                | "function_declaration"
                | "arrow_function"
                | "function_expression"
        )
    });
    found
}

fn called<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let function =
        node.child_by_field_name("function").filter(|function| function.kind() == "identifier")?;
    matches!(node.kind(), "call" | "call_expression").then(|| text(function, source))
}

fn python(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let asynchronous = asynchronous(root, source);
    if asynchronous.is_empty() {
        return;
    }
    walk(root, |node| {
        if node.kind() == "expression_statement"
            && let Some(name) = node.named_child(0).and_then(|call| called(call, source))
            && asynchronous.contains(name)
            && !is_decorated(root, name, source)
        {
            let issue = format!("`{name}` is asynchronous and not awaited, so it never runs.");
            findings.push(PYTHON.at(file, node, issue, format!("Write `await {name}(…)`.")));
        }
        true
    });
}

/// A decorator may make a plain function of it.
fn is_decorated(root: Node<'_>, name: &str, source: &str) -> bool {
    crate::checks::syntax::any(root, |node| {
        node.kind() == "decorated_definition"
            && node
                .child_by_field_name("definition")
                .is_some_and(|inner| field(inner, "name", source) == Some(name))
    })
}

fn script(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let asynchronous = asynchronous(root, source);
    if asynchronous.is_empty() {
        return;
    }
    walk(root, |node| {
        let calls =
            |node: Node<'_>| called(bare(node), source).filter(|name| asynchronous.contains(name));
        match node.kind() {
            "expression_statement" => {
                let in_function = enclosing(
                    node,
                    &[
                        "function_declaration",
                        "arrow_function",
                        "function_expression",
                        "method_definition",
                    ],
                );
                if let Some(name) = node.named_child(0).and_then(calls)
                    // A module's last line may start the program, and who is not async cannot wait.
                    && in_function.is_some_and(|function| text(function, source).starts_with("async"))
                {
                    let issue = format!(
                        "`{name}` is asynchronous and nobody waits for it: what follows runs before it is done, and its failure is nobody's."
                    );
                    findings.push(FLOATING.at(
                        file,
                        node,
                        issue,
                        format!(
                            "Write `await {name}(…)`, or `void` with a handler for the failure."
                        ),
                    ));
                }
            }
            "if_statement" | "while_statement" | "ternary_expression" => {
                if let Some(condition) = node.child_by_field_name("condition").map(bare) {
                    let operand = if condition.kind() == "unary_expression" {
                        condition.named_child(0).unwrap_or(condition)
                    } else {
                        condition
                    };
                    if let Some(name) = calls(operand) {
                        let issue = format!("`{name}` gives a promise, which is always true.");
                        findings.push(CONDITION.at(
                            file,
                            condition,
                            issue,
                            format!("Write `await {name}(…)`."),
                        ));
                    }
                }
            }
            "return_statement" => {
                let within = enclosing(
                    node,
                    &[
                        "try_statement",
                        "function_declaration",
                        "arrow_function",
                        "function_expression",
                        "method_definition",
                        "catch_clause",
                        "finally_clause",
                    ],
                );
                if let Some(name) = node.named_child(0).and_then(calls)
                    && within.is_some_and(|try_statement| {
                        try_statement.kind() == "try_statement"
                            && try_statement.child_by_field_name("handler").is_some()
                    })
                {
                    let issue = format!(
                        "The `catch` does not see a failure of `{name}`: its promise leaves the block before it settles."
                    );
                    findings.push(UNCAUGHT.at(
                        file,
                        node,
                        issue,
                        format!("Write `return await {name}(…)`."),
                    ));
                }
            }
            _ => {}
        }
        true
    });
}
