//! Indexes past the end of a slice whose length the function itself chose.

use std::collections::HashMap;

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::Node;

use crate::checks::functions::Function;
use crate::checks::language::rule;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{field, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const BOUNDS: CodeRule =
    rule("go.slice-bounds", "security-reviewer", "logic", Severity::Medium, 0.8);

/// What is known about a variable that is set once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Slice {
        length: u64,
        capacity: u64,
    },
    Number(u64),
    /// It is set more than once, or to something else.
    Unknown,
}

pub(super) fn check(
    file: &ParsedFile,
    functions: &[Function<'_>],
    findings: &mut Vec<RuleFinding>,
) {
    if file.source.entry.has(Flag::Test) {
        return;
    }
    let source = file.text();
    for function in functions {
        let known = known(function.body, source);
        if !known.values().any(|known| matches!(known, Known::Slice { .. })) {
            continue;
        }
        walk(function.body, |node| {
            if let Some((name, length)) = passes_end(node, &known, source)
                && !is_guarded(node, name, source)
            {
                let issue = format!(
                    "`{name}` is made here with room for {length}, and this reaches past its end: the program stops."
                );
                let fix = "Make it as long as it is used, or compare with `len` first.";
                let mut found = BOUNDS.at(file, node, issue, fix);
                found.cwe = Some("CWE-125".to_owned());
                findings.push(found);
            }
            true
        });
    }
}

/// The variables of a function whose value is spelt out where they are declared.
fn known<'s>(body: Node<'_>, source: &'s str) -> HashMap<&'s str, Known> {
    let mut known: HashMap<&str, Known> = HashMap::new();
    let mut set = |name: &'s str, value: Known| {
        known.entry(name).and_modify(|before| *before = Known::Unknown).or_insert(value);
    };
    walk(body, |node| {
        match node.kind() {
            "short_var_declaration" | "assignment_statement" => {
                let side = |name| node.child_by_field_name(name).map(parts).unwrap_or_default();
                let (left, right) = (side("left"), side("right"));
                for (at, target) in left.iter().enumerate() {
                    let value = right.get(at).filter(|_| left.len() == right.len());
                    let value = value.map_or(Known::Unknown, |value| valued(*value, source));
                    if target.kind() == "identifier" {
                        set(text(*target, source), value);
                    }
                }
            }
            "var_spec" | "range_clause" | "inc_statement" | "dec_statement" => {
                let names = node.child_by_field_name("left").unwrap_or(node);
                for name in parts(names) {
                    set(text(name, source), Known::Unknown);
                }
            }
            "unary_expression" if text(node, source).starts_with('&') => {
                if let Some(name) = field(node, "operand", source) {
                    set(name, Known::Unknown);
                }
            }
            "func_literal" => {
                // What a closure changes is changed elsewhere.
                walk(node, |inner| {
                    if inner.kind() == "assignment_statement"
                        && let Some(name) = field(inner, "left", source)
                    {
                        set(name, Known::Unknown);
                    }
                    true
                });
            }
            _ => {}
        }
        true
    });
    known
}

fn valued(node: Node<'_>, source: &str) -> Known {
    let number = |node: Node<'_>| text(node, source).parse::<u64>().ok();
    match node.kind() {
        "int_literal" => number(node).map_or(Known::Unknown, Known::Number),
        "call_expression" if field(node, "function", source) == Some("make") => {
            let given = node.child_by_field_name("arguments").map(parts).unwrap_or_default();
            let slice = given.first().is_some_and(|ty| ty.kind() == "slice_type");
            let length = given.get(1).copied().and_then(number);
            let capacity = match given.get(2) {
                Some(capacity) => number(*capacity),
                None => length,
            };
            match (slice, length, capacity) {
                (true, Some(length), Some(capacity)) => Known::Slice { length, capacity },
                _ => Known::Unknown,
            }
        }
        "composite_literal" => {
            let slice =
                node.child_by_field_name("type").is_some_and(|ty| ty.kind() == "slice_type");
            let elements = node.child_by_field_name("body").map(parts).unwrap_or_default();
            let plain = elements.iter().all(|element| element.kind() == "literal_element");
            let length = elements.len() as u64;
            if slice && plain { Known::Slice { length, capacity: length } } else { Known::Unknown }
        }
        _ => Known::Unknown,
    }
}

/// The slice that an index or a part of it reaches past the end of, and its room.
fn passes_end<'s>(
    node: Node<'_>,
    known: &HashMap<&str, Known>,
    source: &'s str,
) -> Option<(&'s str, u64)> {
    let number = |name: &str| {
        let spelt = field(node, name, source)?;
        match (spelt.parse::<u64>(), known.get(spelt)) {
            (Ok(number), _) | (_, Some(&Known::Number(number))) => Some(number),
            _ => None,
        }
    };
    let name = match node.kind() {
        "index_expression" | "slice_expression" => field(node, "operand", source)?,
        _ => return None,
    };
    let Some(&Known::Slice { length, capacity }) = known.get(name) else { return None };
    if node.kind() == "index_expression" {
        return number("index").filter(|at| *at >= length).map(|_| (name, length));
    }
    let end = number("end");
    let past = end.is_some_and(|end| end > capacity)
        || number("start").is_some_and(|start| {
            let open = node.child_by_field_name("end").is_none();
            start > if open { length } else { capacity }
        });
    past.then_some((name, capacity))
}

/// Whether a condition around the node asks for the length.
fn is_guarded(node: Node<'_>, name: &str, source: &str) -> bool {
    let asked = [format!("len({name})"), format!("cap({name})")];
    let mut above = node.parent();
    while let Some(outer) = above {
        let condition = match outer.kind() {
            "if_statement" | "for_clause" => field(outer, "condition", source),
            "for_statement" => outer
                .named_child(0)
                .filter(|first| first.kind() != "block")
                .map(|first| text(first, source)),
            "binary_expression" => Some(text(outer, source)),
            _ => None,
        };
        if condition.is_some_and(|text| asked.iter().any(|asked| text.contains(asked.as_str()))) {
            return true;
        }
        above = outer.parent();
    }
    false
}
