//! Errors that are dropped, hidden by a second variable, or turned into success.

use std::collections::HashSet;

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::Node;

use super::AGENT;
use crate::checks::functions::Function;
use crate::checks::language::{leaks::step, rule};
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, enclosing, field, has_comment, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const IGNORED: CodeRule =
    rule("go.ignored-error", AGENT, "error-handling", Severity::Medium, 0.75);
pub(crate) const SHADOWED: CodeRule =
    rule("go.shadowed-error", AGENT, "error-handling", Severity::Medium, 0.75);
pub(crate) const EMPTY: CodeRule =
    rule("go.empty-error-branch", AGENT, "error-handling", Severity::Medium, 0.8);
pub(crate) const SUCCESS: CodeRule =
    rule("go.error-becomes-success", AGENT, "error-handling", Severity::Medium, 0.45);

pub(super) fn check(
    file: &ParsedFile,
    root: Node<'_>,
    functions: &[Function<'_>],
    findings: &mut Vec<RuleFinding>,
) {
    let source = file.text();
    if !file.source.entry.has(Flag::Test) {
        let fallible: HashSet<&str> = functions
            .iter()
            .filter(|function| {
                function.node.kind() == "function_declaration" && gives_error(function.node, source)
            })
            .filter_map(|function| field(function.node, "name", source))
            .collect();
        ignored(file, root, &fallible, findings);
        branches(file, root, findings);
    }
    for function in functions {
        shadowed(file, function.body, findings);
    }
}

fn gives_error(function: Node<'_>, source: &str) -> bool {
    let Some(result) = function.child_by_field_name("result") else { return false };
    let last = match result.kind() {
        "parameter_list" => {
            parts(result).last().and_then(|last| field(*last, "type", source).map(str::to_owned))
        }
        _ => Some(text(result, source).to_owned()),
    };
    last.as_deref() == Some("error")
}

/// A call of a function of this file, whose error nobody takes.
fn ignored(
    file: &ParsedFile,
    root: Node<'_>,
    fallible: &HashSet<&str>,
    findings: &mut Vec<RuleFinding>,
) {
    let source = file.text();
    walk(root, |node| {
        if node.kind() == "expression_statement"
            && let Some(call) = node.named_child(0).filter(|call| call.kind() == "call_expression")
            && let Some(function) =
                call.child_by_field_name("function").filter(|f| f.kind() == "identifier")
            && fallible.contains(text(function, source))
        {
            let name = text(function, source);
            let issue = format!(
                "The error of `{name}` is dropped: when it fails, the program goes on as if it had not."
            );
            findings.push(IGNORED.at(
                file,
                node,
                issue,
                "Check it, or assign it to `_` with a comment that says why it does not matter.",
            ));
        }
        true
    });
}

fn branches(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    walk(root, |node| {
        if node.kind() == "if_statement"
            && let Some(error) = field(node, "condition", source)
                .and_then(|condition| condition.strip_suffix(" != nil"))
            && (error == "err" || error.ends_with("Err"))
            && let Some(block) = node.child_by_field_name("consequence")
            && !has_comment(block)
        {
            let mut statements = parts(block);
            if let [list] = statements[..]
                && list.kind() == "statement_list"
            {
                statements = parts(list);
            }
            if statements.is_empty() && node.child_by_field_name("alternative").is_none() {
                let issue = format!(
                    "The branch for `{error}` is empty, so the failure is seen and forgotten."
                );
                findings.push(EMPTY.at(
                    file,
                    node,
                    issue,
                    "Handle the error, or say in a comment why it does not matter.",
                ));
            } else if let [only] = statements[..]
                && only.kind() == "return_statement"
                && returns_success(only, source)
            {
                let issue = format!(
                    "`{error}` is not nil here, and the caller is told that there was no error."
                );
                findings.push(SUCCESS.at(
                    file,
                    node,
                    issue,
                    format!("Return `{error}`, or say in a comment why this failure is a success."),
                ));
            }
        }
        true
    });
}

fn returns_success(node: Node<'_>, source: &str) -> bool {
    let in_fallible =
        enclosing(node, &["function_declaration", "method_declaration", "func_literal"])
            .is_some_and(|function| gives_error(function, source));
    let Some(list) = node.named_child(0) else { return false };
    in_fallible && parts(list).last().is_some_and(|last| text(*last, source) == "nil")
}

/// `var err error` that is only ever assigned under another variable of that name, and then read.
fn shadowed(file: &ParsedFile, body: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut declared: Vec<(Node<'_>, &str)> = Vec::new();
    walk(body, |node| {
        if node.kind() == "var_spec"
            && field(node, "type", source) == Some("error")
            && node.child_by_field_name("value").is_none()
            && let Some(name) = field(node, "name", source)
        {
            declared.push((node, name));
        }
        node.kind() != "func_literal"
    });
    for (declaration, name) in declared {
        let scope = enclosing(declaration, &["block"]).unwrap_or(body);
        let is_name = |node: Node<'_>| node.kind() == "identifier" && text(node, source) == name;
        let assigned = any(scope, |node| {
            (matches!(node.kind(), "assignment_statement" | "range_clause")
                && node
                    .child_by_field_name("left")
                    .is_some_and(|left| parts(left).into_iter().any(is_name))
                && node.child(1).is_none_or(|op| text(op, source) != ":="))
                || (node.kind() == "unary_expression" && text(node, source) == format!("&{name}"))
                || (node.kind() == "receive_statement" && any(node, is_name))
        });
        if assigned {
            continue;
        }
        let mut hidden = None;
        walk(scope, |node| {
            let declares = node.kind() == "short_var_declaration"
                && node
                    .child_by_field_name("left")
                    .is_some_and(|left| parts(left).into_iter().any(is_name));
            let in_inner_block = enclosing(node, &["block"]) != Some(scope)
                || enclosing(node, &["if_statement", "for_statement"])
                    .is_some_and(|above| above.start_byte() > scope.start_byte());
            if declares && in_inner_block {
                hidden = hidden.or(Some(node));
            }
            true
        });
        let Some(hidden) = hidden else { continue };
        let inner = enclosing(hidden, &["if_statement", "for_statement", "block"]);
        let read_after = any(scope, |node| {
            is_name(node)
                && node.start_byte() > inner.map_or(hidden.end_byte(), |inner| inner.end_byte())
                && enclosing(node, &["block"]) == Some(scope)
                && enclosing(node, &["short_var_declaration"]).is_none()
        });
        if read_after {
            let issue = format!(
                "This `{name}` is a new variable; the one that is read after the block stays nil."
            );
            let mut found = SHADOWED.at(
                file,
                hidden,
                issue,
                "Assign with `=` to the variable that is declared outside.",
            );
            found.trace.push(step(file, declaration, "declared here and never assigned"));
            findings.push(found);
        }
    }
}
