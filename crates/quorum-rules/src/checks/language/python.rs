//! Python: closures that see a loop's last value.

use quorum_model::severity::Severity;
use quorum_syntax::Node;

use super::rule;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, enclosing, field, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const LATE: CodeRule =
    rule("python.late-binding", "python-reviewer", "logic", Severity::Medium, 0.75);

pub(super) fn check(file: &ParsedFile, root: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    walk(root, |node| {
        if matches!(node.kind(), "lambda" | "function_definition")
            && let Some((variable, _)) = captured(node, source)
            && outlives(node, source)
        {
            let issue = format!(
                "This function is called after the loop has moved on, and then `{variable}` is the loop's last value."
            );
            let fix = format!(
                "Bind it when the function is made: a default argument `{variable}={variable}`, or `functools.partial`."
            );
            findings.push(LATE.at(file, node, issue, fix));
        }
        true
    });
}

/// The variable of the loop around the function that its body reads.
fn captured<'s, 't>(node: Node<'t>, source: &'s str) -> Option<(&'s str, Node<'t>)> {
    let around =
        enclosing(node, &["for_statement", "function_definition", "lambda", "list_comprehension"])?;
    if !matches!(around.kind(), "for_statement" | "list_comprehension") {
        return None;
    }
    let target = if around.kind() == "for_statement" {
        around.child_by_field_name("left")?
    } else {
        let mut cursor = around.walk();
        around
            .named_children(&mut cursor)
            .find(|part| part.kind() == "for_in_clause")?
            .child_by_field_name("left")?
    };
    let body = node.child_by_field_name("body")?;
    let mut names = Vec::new();
    walk(target, |part| {
        if part.kind() == "identifier" {
            names.push(text(part, source));
        }
        true
    });
    let parameters = field(node, "parameters", source).unwrap_or_default();
    names
        .into_iter()
        .find(|name| {
            let is_parameter = parameters
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == *name);
            !is_parameter
                && any(body, |part| {
                    part.kind() == "identifier" && text(part, source) == *name && !is_field(part)
                })
        })
        .map(|name| (name, around))
}

fn is_field(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        (parent.kind() == "attribute" && parent.child_by_field_name("attribute") == Some(node))
            || (parent.kind() == "keyword_argument"
                && parent.child_by_field_name("name") == Some(node))
    })
}

/// Whether the function is kept for later: appended, stored, connected.
fn outlives(node: Node<'_>, source: &str) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "list_comprehension" => node.kind() == "lambda",
        "assignment" => parent
            .child_by_field_name("left")
            .is_some_and(|left| matches!(left.kind(), "subscript" | "attribute")),
        "argument_list" => {
            let function = parent
                .parent()
                .and_then(|call| field(call, "function", source))
                .unwrap_or_default();
            matches!(
                function.rsplit('.').next().unwrap_or_default(),
                "append"
                    | "add"
                    | "connect"
                    | "add_done_callback"
                    | "register"
                    | "bind"
                    | "after"
                    | "submit"
                    | "call_soon"
                    | "call_later"
            )
        }
        "keyword_argument" => field(parent, "name", source).is_some_and(|name| {
            matches!(name, "command" | "callback" | "target" | "on_click" | "handler")
        }),
        _ => false,
    }
}
