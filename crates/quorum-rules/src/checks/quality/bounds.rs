//! Loops and indexes that go one too far.

use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{any, bare, field, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const LOOP: CodeRule = CodeRule {
    id: "quality.loop-past-end",
    agent: AGENT,
    category: "logic",
    severity: Severity::High,
    confidence: 0.85,
};
pub(crate) const INDEX: CodeRule = CodeRule {
    id: "quality.index-past-end",
    agent: AGENT,
    category: "logic",
    severity: Severity::High,
    confidence: 0.85,
};
pub(crate) const NEXT: CodeRule = CodeRule {
    id: "quality.next-past-end",
    agent: AGENT,
    category: "logic",
    severity: Severity::Medium,
    confidence: 0.6,
};

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    let source = file.text();
    walk(root, |node| {
        match node.kind() {
            "for_statement" | "while_statement" | "for_expression" => {
                counted_loop(file, lang, node, findings);
            }
            "subscript_expression"
            | "index_expression"
            | "subscript"
            | "array_access"
            | "method_invocation" => {
                if let Some((list, index)) = indexed(node, source)
                    && length_of(index, source) == Some(list)
                    && !is_target(node)
                {
                    let issue = format!(
                        "`{list}` is read one past its end: its last element is at its length minus one."
                    );
                    findings.push(INDEX.at(
                        file,
                        node,
                        issue,
                        "Subtract one from the length, and check that there is an element at all.",
                    ));
                }
            }
            _ => {}
        }
        true
    });
}

/// What is indexed, and with what: `a[i]`, `a.get(i)`, `a.charAt(i)`.
fn indexed<'s, 't>(node: Node<'t>, source: &'s str) -> Option<(&'s str, Node<'t>)> {
    match node.kind() {
        "subscript_expression" | "array_access" => Some((
            field(node, "object", source)
                .or_else(|| field(node, "array", source))
                .or_else(|| field(node, "argument", source))?,
            node.child_by_field_name("index")?,
        )),
        "index_expression" => {
            if let Some(operand) = node.child_by_field_name("operand") {
                return Some((text(operand, source), node.child_by_field_name("index")?));
            }
            let parts = parts(node);
            Some((text(*parts.first()?, source), *parts.get(1)?))
        }
        "subscript" => {
            Some((field(node, "value", source)?, node.child_by_field_name("subscript")?))
        }
        "method_invocation" => {
            let name = field(node, "name", source)?;
            let arguments = parts(node.child_by_field_name("arguments")?);
            (matches!(name, "get" | "charAt" | "codePointAt" | "elementAt") && arguments.len() == 1)
                .then(|| Some((field(node, "object", source)?, arguments[0])))?
        }
        _ => None,
    }
}

/// What an expression is the length of: `len(a)`, `a.length`, `a.size()`, `a.len()`.
fn length_of<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let node = bare(node);
    let spelt = text(node, source);
    match node.kind() {
        "call_expression" | "call" => {
            if let Some(inner) = spelt.strip_prefix("len(") {
                return inner.strip_suffix(')').filter(|inner| is_plain(inner));
            }
            spelt.strip_suffix(".len()").filter(|inner| is_plain(inner))
        }
        "method_invocation" => ["size", "length"].iter().find_map(|name| {
            spelt
                .strip_suffix("()")?
                .strip_suffix(name)?
                .strip_suffix('.')
                .filter(|inner| is_plain(inner))
        }),
        "member_expression" | "field_access" => {
            spelt.strip_suffix(".length").filter(|inner| is_plain(inner))
        }
        _ => None,
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

/// Whether the node is written to: `a[a.length] = x` appends in JavaScript.
fn is_target(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.child_by_field_name("left") == Some(node))
}

struct Counted<'s> {
    variable: &'s str,
    list: &'s str,
    /// The loop includes the index that is the length.
    includes_length: bool,
}

fn counted_loop(file: &ParsedFile, lang: Lang, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let Some(body) = node.child_by_field_name("body") else { return };
    let Some(counted) = counted(node, lang, source) else { return };
    let mut past_end = None;
    let mut next = None;
    walk(body, |inner| {
        if let Some((list, index)) = indexed(inner, source)
            && list == counted.list
            && !is_target(inner)
        {
            let spelt = text(bare(index), source);
            if spelt == counted.variable {
                past_end = past_end.or(Some(inner));
            } else if spelt.replace(' ', "") == format!("{}+1", counted.variable) {
                next = next.or(Some(inner));
            }
        }
        true
    });
    let guarded = is_guarded(body, &counted, source);
    if counted.includes_length {
        if let Some(access) = past_end
            && !guarded
        {
            let issue = format!(
                "The loop's last step reads `{}` one past the end: `{}` runs up to and including the length.",
                counted.list, counted.variable
            );
            let mut found = LOOP.at(file, node, issue, "Stop before the length.");
            found.trace.push(step(file, access, "read here with the index that is the length"));
            findings.push(found);
        }
    } else if let Some(access) = next
        && !guarded
    {
        let issue = format!(
            "The last step reads `{}` one past the end: `{}` reaches the last index, and the element after it is read.",
            counted.list, counted.variable
        );
        findings.push(NEXT.at(
            file,
            access,
            issue,
            "Stop one step earlier, or check that there is a next element.",
        ));
    }
}

fn step(file: &ParsedFile, node: Node<'_>, note: &str) -> quorum_model::finding::TraceStep {
    quorum_model::finding::TraceStep {
        file: file.path().to_owned(),
        line: crate::checks::syntax::line(node),
        note: note.to_owned(),
    }
}

/// Whether the body compares or changes the index, or may stop early: then it may well be right.
fn is_guarded(body: Node<'_>, counted: &Counted<'_>, source: &str) -> bool {
    let mentions = |node: Node<'_>, name: &str| {
        any(node, |inner| inner.kind() == "identifier" && text(inner, source) == name)
    };
    any(body, |node| match node.kind() {
        "binary_expression" | "comparison_operator" => {
            let operator = node.child_by_field_name("operator").or_else(|| node.child(1));
            operator.is_some_and(|op| {
                matches!(text(op, source), "<" | "<=" | ">" | ">=" | "==" | "===" | "!=" | "!==")
            }) && (mentions(node, counted.variable) && !is_index_only(node, counted, source))
        }
        "assignment_expression"
        | "assignment_statement"
        | "augmented_assignment"
        | "update_expression"
        | "inc_statement"
        | "dec_statement"
        | "assignment" => node
            .child_by_field_name("left")
            .or_else(|| node.named_child(0))
            .is_some_and(|target| text(target, source) == counted.variable),
        "break_statement" | "break_expression" | "try_statement" | "optional_chain"
        | "continue_statement" | "slice_expression" | "slice" => true,
        _ => false,
    })
}

/// Whether the comparison only has the variable within indexes: `a[i] < a[i + 1]`.
fn is_index_only(node: Node<'_>, counted: &Counted<'_>, source: &str) -> bool {
    !any(node, |inner| {
        inner.kind() == "identifier"
            && text(inner, source) == counted.variable
            && !std::iter::successors(inner.parent(), Node::parent)
                .take_while(|above| *above != node)
                .any(|above| {
                    indexed(above, source)
                        .is_some_and(|(_, index)| index.byte_range().contains(&inner.start_byte()))
                })
    })
}

fn counted<'s>(node: Node<'_>, lang: Lang, source: &'s str) -> Option<Counted<'s>> {
    match (lang, node.kind()) {
        (Lang::Python, "for_statement") => {
            let variable = field(node, "left", source)?;
            let right = field(node, "right", source)?.replace(' ', "");
            let whole = field(node, "right", source)?;
            let list =
                whole.split("len(").nth(1)?.split(')').next().filter(|list| is_plain(list))?;
            let includes_length = match right {
                right if right == format!("range(len({list}))") => false,
                right if right == format!("range(len({list})+1)") => true,
                _ => return None,
            };
            Some(Counted { variable, list, includes_length })
        }
        (Lang::Rust, "for_expression") => {
            let variable = field(node, "pattern", source)?;
            let range = node.child_by_field_name("value").map(bare)?;
            if range.kind() != "range_expression" {
                return None;
            }
            let list = length_of(*parts(range).last()?, source)?;
            let spelt = text(range, source);
            Some(Counted { variable, list, includes_length: spelt.contains("..=") })
        }
        (Lang::Go, "for_statement") => {
            let clause = parts(node)
                .into_iter()
                .find(|part| matches!(part.kind(), "for_clause" | "range_clause"))?;
            if clause.kind() == "range_clause" {
                let variable = field(clause, "left", source)?;
                let list = field(clause, "right", source)?;
                return (is_plain(variable) && is_plain(list)).then_some(Counted {
                    variable,
                    list,
                    includes_length: false,
                });
            }
            compared(clause.child_by_field_name("condition")?, source)
        }
        (_, "for_statement") => compared(node.child_by_field_name("condition")?, source),
        _ => None,
    }
}

fn compared<'s>(condition: Node<'_>, source: &'s str) -> Option<Counted<'s>> {
    let condition = match condition.kind() {
        "expression_statement" => condition.named_child(0)?,
        _ => condition,
    };
    let condition = bare(condition);
    if condition.kind() != "binary_expression" {
        return None;
    }
    let variable = field(condition, "left", source).filter(|name| is_plain(name))?;
    let list = length_of(condition.child_by_field_name("right")?, source)?;
    let includes_length = match field(condition, "operator", source)? {
        "<" => false,
        "<=" => true,
        _ => return None,
    };
    Some(Counted { variable, list, includes_length })
}
