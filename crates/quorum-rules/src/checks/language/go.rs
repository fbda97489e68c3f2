//! Go: locks, maps, goroutines, errors and interfaces.

mod bounds;
mod errors;
mod locks;
mod numbers;
mod sends;

use std::collections::HashSet;

use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::rule;
use crate::checks::functions::functions;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{field, line, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const AGENT: &str = "go-reviewer";

pub(crate) const NIL_MAP: CodeRule =
    rule("go.nil-map-write", AGENT, "control-flow", Severity::High, 0.9);
pub(crate) const WIDE_INTERFACE: CodeRule =
    rule("go.wide-interface", AGENT, "interfaces", Severity::Low, 0.6);
pub(crate) const CLOSE_BEFORE_CHECK: CodeRule =
    rule("go.close-before-check", AGENT, "resources", Severity::High, 0.85);
pub(crate) const ANSWER_WITHOUT_RETURN: CodeRule =
    rule("go.answer-without-return", AGENT, "control-flow", Severity::Medium, 0.7);

/// From this many methods on an interface is hard to implement and to replace in a test.
const WIDE: usize = 10;

pub(super) fn check(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let all = functions(root, Lang::Go, source);
    for function in &all {
        nil_maps(file, function.body, findings);
        sends::check(file, function.body, findings);
        locks::check(file, function.node, function.body, findings);
    }
    locks::copied(file, root, findings);
    errors::check(file, root, &all, findings);
    numbers::check(file, &all, findings);
    bounds::check(file, &all, findings);
    walk(root, |node| {
        match node.kind() {
            "interface_type" => wide_interface(file, node, findings),
            "statement_list" | "block" => statements(file, node, findings),
            _ => {}
        }
        true
    });
}

/// `var m map[K]V` is nil: reading it is fine, writing to it panics.
fn nil_maps(file: &ParsedFile, body: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut nil: HashSet<&str> = HashSet::new();
    walk(body, |node| {
        match node.kind() {
            "var_spec" => {
                let is_map =
                    node.child_by_field_name("type").is_some_and(|ty| ty.kind() == "map_type");
                if let Some(name) = field(node, "name", source)
                    && is_map
                    && node.child_by_field_name("value").is_none()
                {
                    nil.insert(name);
                }
            }
            "assignment_statement" | "short_var_declaration" | "range_clause" => {
                let targets = node.child_by_field_name("left").map(parts).unwrap_or_default();
                for target in targets {
                    if target.kind() == "index_expression"
                        && let Some(name) = field(target, "operand", source)
                        && nil.remove(name)
                    {
                        let issue =
                            format!("`{name}` is a nil map here, and writing to a nil map panics.");
                        let fix = format!("Make it first: `{name} := make(…)`.");
                        findings.push(NIL_MAP.at(file, node, issue, fix));
                    }
                    nil.remove(text(target, source));
                }
            }
            // Its address may be passed on, and what runs later may run after it was made.
            "unary_expression" => {
                let inner = node.child_by_field_name("operand").map(|inner| text(inner, source));
                nil.remove(inner.unwrap_or_default());
            }
            "func_literal" => return false,
            _ => {}
        }
        true
    });
}

fn wide_interface(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let methods: Vec<_> = parts(node)
        .into_iter()
        .filter(|part| matches!(part.kind(), "method_elem" | "method_spec"))
        .collect();
    let added = methods.iter().filter(|method| file.source.is_added(line(**method))).count();
    // On a change: an interface that is new, or one that grows past the limit.
    if methods.len() >= WIDE
        && added > 0
        && methods.len() - added < WIDE
        && file.source.added.is_some()
    {
        let name = node.parent().and_then(|spec| field(spec, "name", file.text())).unwrap_or("it");
        let issue = format!(
            "The interface `{name}` has {} methods. Whoever implements or replaces it has to write all of them.",
            methods.len()
        );
        let mut found = WIDE_INTERFACE.at(file, node, issue, "Split it by what its users need.");
        found.caused = true;
        findings.push(found);
    }
}

/// Patterns of two or three statements in a row.
fn statements(file: &ParsedFile, list: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let statements = parts(list);
    for window in statements.windows(3) {
        close_before_check(file, window, findings);
    }
    for (at, statement) in statements.iter().enumerate() {
        let more = statements.get(at + 1);
        if let Some(next) = more
            && statement.kind() == "if_statement"
            && next.kind() != "return_statement"
            && statement.child_by_field_name("alternative").is_none()
            && let Some(last) = last_statement(*statement)
            && is_http_error(last, source)
        {
            let issue = "The handler goes on after it has answered with an error.";
            let mut found =
                ANSWER_WITHOUT_RETURN.at(file, last, issue, "Return after `http.Error`.");
            found.trace.push(super::leaks::step(file, *next, "this still runs"));
            findings.push(found);
        }
    }
}

fn last_statement(node: Node<'_>) -> Option<Node<'_>> {
    let block = node.child_by_field_name("consequence")?;
    let mut last = parts(block).last().copied()?;
    if last.kind() == "statement_list" {
        last = parts(last).last().copied()?;
    }
    Some(last)
}

fn is_http_error(node: Node<'_>, source: &str) -> bool {
    node.kind() == "expression_statement" && text(node, source).starts_with("http.Error(")
}

/// `r, err := open(); defer r.Close(); if err != nil …`.
fn close_before_check(file: &ParsedFile, window: &[Node<'_>], findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let [open, close, check] = window else { return };
    if open.kind() != "short_var_declaration"
        || close.kind() != "defer_statement"
        || check.kind() != "if_statement"
    {
        return;
    }
    let names: Vec<&str> = open
        .child_by_field_name("left")
        .map(parts)
        .unwrap_or_default()
        .into_iter()
        .map(|part| text(part, source))
        .collect();
    let (Some(opened), Some(error)) = (names.first(), names.last()) else { return };
    let closes = text(*close, source);
    let checks = field(*check, "condition", source).unwrap_or_default();
    if names.len() > 1
        && closes.starts_with(&format!("defer {opened}."))
        && closes.contains("Close()")
        && checks == format!("{error} != nil")
    {
        let issue = format!(
            "`{opened}` is used before `{error}` is looked at; it is nil when the call failed."
        );
        findings.push(CLOSE_BEFORE_CHECK.at(file, *close, issue, "Check the error first."));
    }
}
