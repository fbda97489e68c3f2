//! Conversions between integer types that can lose upper bits or the sign.

use std::collections::{HashMap, HashSet};

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::Node;

use crate::checks::functions::Function;
use crate::checks::language::rule;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{bare, field, leaves, line, parts, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const CONVERSION: CodeRule =
    rule("go.number-conversion", "security-reviewer", "logic", Severity::Low, 0.55);

/// The numbers that a type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Integer {
    bits: u32,
    signed: bool,
}

/// What `len` returns: never negative, and nothing in memory has more elements than this.
const LENGTH: Integer = Integer { bits: 31, signed: false };

impl Integer {
    fn named(name: &str) -> Option<Self> {
        let (bits, signed) = match name {
            "int8" => (8, true),
            "uint8" | "byte" => (8, false),
            "int16" => (16, true),
            "uint16" => (16, false),
            "int32" | "rune" => (32, true),
            "uint32" => (32, false),
            "int" | "int64" => (64, true),
            "uint" | "uint64" => (64, false),
            _ => return None,
        };
        Some(Self { bits, signed })
    }

    /// Whether every number of this type is one of the other.
    fn fits(self, other: Self) -> bool {
        match (self.signed, other.signed) {
            (false, true) => self.bits < other.bits,
            (true, false) => false,
            _ => self.bits <= other.bits,
        }
    }
}

pub(super) fn check(
    file: &ParsedFile,
    functions: &[Function<'_>],
    findings: &mut Vec<RuleFinding>,
) {
    if file.source.entry.has(Flag::Test) {
        return;
    }
    for function in functions {
        conversions(file, function, findings);
    }
}

fn conversions(file: &ParsedFile, function: &Function<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let taken_apart = text(function.body, source).contains(">>");
    let types = declared(function.node, source);
    let compared = compared(function.body, source);
    let mut last = 0;
    walk(function.body, |node| {
        if let Some((from, to, operand)) = conversion(node, &types, source)
            && !from.fits(to)
            && !(taken_apart && to.bits <= 16)
            && !leaves(operand).any(|leaf| compared.contains(text(leaf, source)))
            && line(node) != last
        {
            last = line(node);
            let wide = if from.bits > to.bits { "its upper bits" } else { "its sign" };
            let issue = format!(
                "`{}` may be larger than its new type holds, and nothing here looks at its size: it loses {wide} silently.",
                text(operand, source)
            );
            let fix =
                "Compare it with the limits of the type first, and return an error beyond them.";
            let mut found = CONVERSION.at(file, node, issue, fix);
            found.cwe = Some("CWE-190".to_owned());
            findings.push(found);
        }
        true
    });
}

/// The types on both sides of a conversion, and what is converted.
fn conversion<'t>(
    node: Node<'t>,
    types: &HashMap<&str, Option<Integer>>,
    source: &str,
) -> Option<(Integer, Integer, Node<'t>)> {
    if !matches!(node.kind(), "call_expression" | "type_conversion_expression") {
        return None;
    }
    let name = field(node, "function", source).or_else(|| field(node, "type", source))?;
    let to = Integer::named(name)?;
    let operand = match node.child_by_field_name("arguments") {
        Some(arguments) => match parts(arguments)[..] {
            [one] => one,
            _ => return None,
        },
        None => node.child_by_field_name("operand")?,
    };
    Some((type_of(operand, types, source)?, to, operand))
}

fn type_of(
    node: Node<'_>,
    types: &HashMap<&str, Option<Integer>>,
    source: &str,
) -> Option<Integer> {
    let node = bare(node);
    match node.kind() {
        "identifier" => types.get(text(node, source)).copied().flatten(),
        "call_expression" => {
            let called = node.child_by_field_name("function")?;
            match called.kind() {
                "identifier" => match text(called, source) {
                    "len" | "cap" => Some(LENGTH),
                    name => Integer::named(name),
                },
                "selector_expression" => match field(called, "field", source)? {
                    "Unix" | "UnixNano" | "UnixMilli" | "UnixMicro" | "Milliseconds"
                    | "Microseconds" | "Nanoseconds" => Integer::named("int64"),
                    _ => None,
                },
                _ => None,
            }
        }
        "binary_expression" => {
            if !matches!(field(node, "operator", source)?, "+" | "*") {
                return None;
            }
            let side = |name| type_of(node.child_by_field_name(name)?, types, source);
            side("left").or_else(|| side("right"))
        }
        _ => None,
    }
}

/// The integer types of the variables of a function. A name with two types has none.
fn declared<'s>(function: Node<'_>, source: &'s str) -> HashMap<&'s str, Option<Integer>> {
    let mut types: HashMap<&str, Option<Integer>> = HashMap::new();
    walk(function, |node| {
        match node.kind() {
            "parameter_declaration" | "var_spec" => {
                let known = field(node, "type", source).and_then(Integer::named);
                let spelt = node.child_by_field_name("value").is_some_and(is_literal);
                let mut cursor = node.walk();
                for name in node.children_by_field_name("name", &mut cursor) {
                    declare(&mut types, text(name, source), known.filter(|_| !spelt));
                }
            }
            "short_var_declaration" => {
                let side = |name| node.child_by_field_name(name).map(parts).unwrap_or_default();
                let (left, right) = (side("left"), side("right"));
                for (at, name) in left.iter().enumerate() {
                    let value = right.get(at).filter(|_| left.len() == right.len());
                    let known = value.and_then(|value| type_of(*value, &types, source));
                    declare(&mut types, text(*name, source), known);
                }
            }
            "const_spec" | "range_clause" => {
                for leaf in leaves(node) {
                    declare(&mut types, text(leaf, source), None);
                }
            }
            _ => {}
        }
        true
    });
    types
}

fn declare<'s>(
    types: &mut HashMap<&'s str, Option<Integer>>,
    name: &'s str,
    known: Option<Integer>,
) {
    types
        .entry(name)
        .and_modify(|before| {
            if *before != known {
                *before = None;
            }
        })
        .or_insert(known);
}

fn is_literal(node: Node<'_>) -> bool {
    match node.kind() {
        "expression_list" => parts(node).into_iter().all(is_literal),
        kind => kind.ends_with("_literal"),
    }
}

/// The names that a function compares, chooses by, or limits.
fn compared<'s>(body: Node<'_>, source: &'s str) -> HashSet<&'s str> {
    let mut names = HashSet::new();
    walk(body, |node| {
        let limits = match node.kind() {
            "binary_expression" => matches!(
                field(node, "operator", source),
                Some("<" | ">" | "<=" | ">=" | "==" | "!=" | "%" | "&")
            ),
            "call_expression" => matches!(field(node, "function", source), Some("min" | "max")),
            _ => false,
        };
        if limits {
            names.extend(leaves(node).map(|leaf| text(leaf, source)));
        }
        if node.kind() == "expression_switch_statement"
            && let Some(value) = node.child_by_field_name("value")
        {
            names.extend(leaves(value).map(|leaf| text(leaf, source)));
        }
        true
    });
    names
}
