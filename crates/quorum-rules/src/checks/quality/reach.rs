//! Code that cannot run.

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, end_line, is_comment, line, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const RULE: CodeRule = CodeRule {
    id: "quality.unreachable-code",
    agent: AGENT,
    category: "logic",
    severity: Severity::Medium,
    confidence: 0.85,
};

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    if root.has_error() && !matches!(lang, Lang::Go | Lang::Python | Lang::Java) {
        return;
    }
    // Tests throw and return early on purpose.
    if file.source.entry.has(Flag::Test) {
        return;
    }
    let source = file.text();
    walk(root, |node| {
        if leaves(node, lang, source)
            && let Some(dead) = following(node, lang, source)
            && file.source.touches(line(node), end_line(dead))
        {
            let issue = format!(
                "This cannot run: the `{}` before it always leaves the block.",
                text(node, source).split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
            );
            let fix = "Remove it, or move it before the statement that leaves, or make that statement conditional.";
            let mut found = RULE.at(file, dead, issue, fix);
            found.caused = true;
            findings.push(found);
        }
        true
    });
}

/// Whether the statement always leaves its block.
fn leaves(node: Node<'_>, lang: Lang, source: &str) -> bool {
    let is_jump = matches!(
        node.kind(),
        "return_statement"
            | "break_statement"
            | "continue_statement"
            | "goto_statement"
            | "raise_statement"
            | "throw_statement"
    );
    match lang {
        Lang::Go | Lang::Python | Lang::JavaScript | Lang::TypeScript | Lang::Tsx if is_jump => {
            true
        }
        Lang::Go => {
            node.kind() == "expression_statement" && text(node, source).starts_with("panic(")
        }
        Lang::Rust if node.kind() == "expression_statement" => {
            let jumps = |inner: Node<'_>| {
                matches!(
                    inner.kind(),
                    "return_expression" | "break_expression" | "continue_expression"
                )
            };
            node.named_child(0).is_some_and(jumps) && text(node, source).ends_with(';')
        }
        _ => false,
    }
}

/// The statement after this one in the same block, if it is one that ought to run.
fn following<'t>(node: Node<'t>, lang: Lang, source: &str) -> Option<Node<'t>> {
    let block = node.parent()?;
    let holds_statements = matches!(
        block.kind(),
        "block"
            | "statement_list"
            | "statement_block"
            | "compound_statement"
            | "module"
            | "expression_case"
            | "default_case"
            | "switch_case"
            | "switch_default"
    );
    if !holds_statements || node.has_error() {
        return None;
    }
    let mut next = node.next_named_sibling();
    while next.is_some_and(|node| is_comment(node) || node.kind() == "empty_statement") {
        next = next.and_then(|node| node.next_named_sibling());
    }
    let next = next?;
    if next.has_error() || next.is_missing() {
        return None;
    }
    let kind = next.kind();
    let declares = match lang {
        Lang::Go => {
            kind.ends_with("_declaration") && kind != "short_var_declaration"
                || kind.contains("label")
        }
        // A `yield` that never runs makes the function a generator.
        Lang::Python => kind.ends_with("_definition") || any(next, |inner| inner.kind() == "yield"),
        Lang::Rust => {
            kind.ends_with("_item") || matches!(kind, "use_declaration" | "macro_definition")
        }
        // `break` after `return` is a habit in cases; `var` without a value is hoisted.
        _ => {
            let is_hoisted = kind == "variable_declaration" && !text(next, source).contains('=');
            let is_statement = matches!(kind, "variable_declaration" | "lexical_declaration");
            is_hoisted
                || kind == "break_statement"
                || kind.ends_with("_declaration") && !is_statement
                || kind.contains("label")
        }
    };
    let runs = !declares;
    runs.then_some(next)
}
