//! Conditions and branches that cannot mean what they say.

use std::collections::HashMap;

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{
    any, bare, enclosing, end_line, field, has_comment, is_comment, is_stable, line, parts, same,
    text, walk,
};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const fn rule(id: &'static str, severity: Severity, confidence: f64) -> CodeRule {
    CodeRule { id, agent: AGENT, category: "logic", severity, confidence }
}

pub(crate) const SELF_COMPARISON: CodeRule = rule("quality.self-comparison", Severity::High, 0.8);
pub(crate) const REPEATED_OPERAND: CodeRule =
    rule("quality.repeated-operand", Severity::Medium, 0.8);
pub(crate) const SELF_ASSIGNMENT: CodeRule = rule("quality.self-assignment", Severity::Medium, 0.8);
pub(crate) const SAME_BRANCHES: CodeRule =
    rule("quality.identical-branches", Severity::Medium, 0.8);
pub(crate) const REPEATED_CONDITION: CodeRule =
    rule("quality.repeated-condition", Severity::High, 0.8);
pub(crate) const CONSTANT_CONDITION: CodeRule =
    rule("quality.constant-condition", Severity::Medium, 0.75);
pub(crate) const ASSIGNMENT_AS_CONDITION: CodeRule =
    rule("quality.assignment-as-condition", Severity::High, 0.85);
pub(crate) const DUPLICATE_KEY: CodeRule = rule("quality.duplicate-key", Severity::Medium, 0.85);

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    // Tests compare things with themselves on purpose.
    let is_test = file.source.entry.has(Flag::Test);
    walk(root, |node| {
        if node.has_error() {
            return true;
        }
        match node.kind() {
            "binary_expression" | "comparison_operator" | "boolean_operator" if !is_test => {
                operands(file, lang, node, findings);
            }
            "assignment_expression" | "assignment_statement" | "assignment" => {
                self_assignment(file, lang, node, findings);
            }
            "if_statement" | "if_expression" => {
                branches(file, node, findings);
                condition(file, lang, node, findings);
            }
            "while_statement" | "while_expression" => condition(file, lang, node, findings),
            "ternary_expression" | "conditional_expression" => ternary(file, lang, node, findings),
            "switch_body" | "switch_block" if !is_test => cases(file, node, findings),
            "dictionary" | "object" if !matches!(lang, Lang::Json) => keys(file, node, findings),
            _ => {}
        }
        true
    });
}

/// Left, operator and right of an expression with two operands.
fn binary<'t, 's>(node: Node<'t>, source: &'s str) -> Option<(Node<'t>, &'s str, Node<'t>)> {
    if node.kind() == "comparison_operator" {
        let parts = parts(node);
        let [left, right] = parts[..] else { return None };
        let operator = source.get(left.end_byte()..right.start_byte())?.trim();
        return Some((left, operator, right));
    }
    let operator = text(node.child_by_field_name("operator")?, source);
    Some((node.child_by_field_name("left")?, operator, node.child_by_field_name("right")?))
}

fn operands(file: &ParsedFile, lang: Lang, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let Some((left, operator, right)) = binary(node, source) else { return };
    match operator {
        "==" | "===" | "!=" | "!==" | "<" | "<=" | ">" | ">=" | "is" | "is not" => {
            self_comparison(file, lang, node, operator, (left, right), findings);
        }
        "&&" | "||" | "and" | "or" => repeated_operand(file, node, operator, findings),
        _ => {}
    }
}

fn self_comparison(
    file: &ParsedFile,
    lang: Lang,
    node: Node<'_>,
    operator: &str,
    (left, right): (Node<'_>, Node<'_>),
    findings: &mut Vec<RuleFinding>,
) {
    let source = file.text();
    let (left, right) = (bare(left), bare(right));
    if is_literal(left) {
        return;
    }
    if same(left, right, source) && is_stable(left) {
        // `x != x` asks whether a number is not a number, and so may `x == x`.
        let is_name = matches!(left.kind(), "identifier" | "subscript" | "index_expression");
        let may_be_nan_test = match operator {
            "!=" | "!==" => is_name,
            "==" | "===" => is_name && speaks_of_nan(node, source),
            _ => false,
        };
        let is_nan_test = may_be_nan_test || matches!(lang, Lang::Cpp | Lang::C);
        if is_nan_test {
            return;
        }
        let issue = format!(
            "Both sides of `{operator}` are `{}`, so the answer never depends on the data.",
            text(left, source)
        );
        findings.push(SELF_COMPARISON.at(file, node, issue, "Compare with what was meant."));
    }
}

fn speaks_of_nan(node: Node<'_>, source: &str) -> bool {
    let kinds = [
        "function_declaration",
        "method_declaration",
        "function_definition",
        "function_item",
        "arrow_function",
        "method_definition",
    ];
    let around = enclosing(node, &kinds).map_or("", |function| text(function, source));
    around.to_ascii_lowercase().contains("nan")
        || around.contains("float")
        || around.contains("f64")
}

fn is_literal(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("literal")
        || matches!(kind, "list" | "dictionary" | "set" | "tuple" | "array" | "object")
        || matches!(
            kind,
            "number" | "integer" | "float" | "string" | "true" | "false" | "none" | "null"
        )
}

/// `a && b && a`.
fn repeated_operand(
    file: &ParsedFile,
    node: Node<'_>,
    operator: &str,
    findings: &mut Vec<RuleFinding>,
) {
    let source = file.text();
    let is_chain = |node: Node<'_>| binary(node, source).is_some_and(|(_, op, _)| op == operator);
    if node.parent().is_some_and(is_chain) {
        return;
    }
    let mut chain = Vec::new();
    let mut pending = vec![node];
    while let Some(next) = pending.pop() {
        match binary(next, source) {
            Some((left, op, right)) if op == operator => pending.extend([right, left]),
            _ if is_comment(next) => return,
            _ => chain.push(bare(next)),
        }
    }
    for (at, operand) in chain.iter().enumerate() {
        let repeated = chain[..at].iter().any(|earlier| same(*earlier, *operand, source));
        if repeated
            && is_stable(*operand)
            && !is_literal(*operand)
            && file.source.touches(line(*operand), end_line(*operand))
        {
            let issue = format!(
                "`{}` stands twice in this chain of `{operator}`; the second changes nothing, so something else was probably meant.",
                text(*operand, source)
            );
            let mut found = REPEATED_OPERAND.at(
                file,
                *operand,
                issue,
                "Replace one of them with what was meant, or remove it.",
            );
            found.caused = true;
            findings.push(found);
        }
    }
}

fn self_assignment(file: &ParsedFile, lang: Lang, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let (Some(left), Some(right)) =
        (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let operator = field(node, "operator", source).unwrap_or("=");
    if operator != "=" || node.child_by_field_name("type").is_some() || text(left, source) == "_" {
        return;
    }
    // `X = X` at the top of a module or class exports a name under a name. `location = location`
    // loads the page again.
    let in_function = enclosing(
        node,
        &[
            "function_definition",
            "function_declaration",
            "method_declaration",
            "method_definition",
            "arrow_function",
            "function_expression",
            "constructor_declaration",
            "function_item",
            "func_literal",
            "lambda_expression",
            "closure_expression",
        ],
    )
    .is_some();
    let spelt = text(left, source);
    if !in_function
        || spelt.contains("location")
        || spelt.contains("innerHTML")
        || spelt.contains("scroll")
        || spelt.contains("offset")
    {
        return;
    }
    if same(left, right, source)
        && is_stable(left)
        && !(lang == Lang::Python && is_default_argument(node))
    {
        let shadows = lang == Lang::Java && !spelt.contains('.');
        let issue = format!("`{spelt}` is assigned to itself, which does nothing.");
        let fix = if shadows {
            format!("Write `this.{spelt} = {spelt}` if the field was meant.")
        } else {
            "Assign what was meant, or remove the statement.".to_owned()
        };
        findings.push(SELF_ASSIGNMENT.at(file, node, issue, fix));
    }
}

fn is_default_argument(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        parent.kind().contains("parameter") || parent.kind().contains("argument")
    })
}

/// Then and else of an `if`, else branches flattened: conditions, bodies, and whether the last is an `else`.
struct Chain<'t> {
    conditions: Vec<Node<'t>>,
    bodies: Vec<Node<'t>>,
    ends_with_else: bool,
}

fn chain(node: Node<'_>) -> Option<Chain<'_>> {
    let mut chain = Chain { conditions: Vec::new(), bodies: Vec::new(), ends_with_else: false };
    let mut at = node;
    loop {
        chain.conditions.push(at.child_by_field_name("condition")?);
        chain.bodies.push(at.child_by_field_name("consequence")?);
        let mut cursor = at.walk();
        let alternatives: Vec<_> = at.children_by_field_name("alternative", &mut cursor).collect();
        if alternatives.is_empty() {
            return Some(chain);
        }
        let mut next = None;
        for alternative in alternatives {
            match alternative.kind() {
                "elif_clause" => {
                    chain.conditions.push(alternative.child_by_field_name("condition")?);
                    chain.bodies.push(alternative.child_by_field_name("consequence")?);
                }
                "else_clause" => {
                    let inner = alternative
                        .child_by_field_name("body")
                        .or_else(|| parts(alternative).first().copied())?;
                    if inner.kind() == node.kind() {
                        next = Some(inner);
                    } else {
                        chain.bodies.push(inner);
                        chain.ends_with_else = true;
                    }
                }
                kind if kind == node.kind() => next = Some(alternative),
                _ => {
                    chain.bodies.push(alternative);
                    chain.ends_with_else = true;
                }
            }
        }
        match next {
            Some(inner) => at = inner,
            None => return Some(chain),
        }
    }
}

fn branches(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let continues = node.parent().is_some_and(|parent| {
        parent.kind() == "else_clause"
            || (parent.kind() == node.kind()
                && parent.child_by_field_name("alternative") == Some(node))
    });
    // An initialiser (Go) makes conditions that read alike differ.
    let Some(chain) = chain(node).filter(|_| !continues) else { return };
    repeated_condition(file, &chain, source, findings);
    let Some((first, rest)) = chain.bodies.split_first() else { return };
    let alike = chain.ends_with_else
        && !rest.is_empty()
        && rest.iter().all(|body| same(*first, *body, source))
        && !parts(*first).is_empty()
        && !has_comment(node);
    let touched = chain.bodies.iter().any(|body| file.source.touches(line(*body), end_line(*body)));
    if alike && touched {
        let issue = "All branches do the same, so the condition decides nothing.";
        let fix = "Write the branch that was meant, or keep one and drop the condition.";
        let mut found = SAME_BRANCHES.at(file, node, issue, fix);
        found.caused = true;
        findings.push(found);
    }
}

fn repeated_condition(
    file: &ParsedFile,
    chain: &Chain<'_>,
    source: &str,
    findings: &mut Vec<RuleFinding>,
) {
    for (at, condition) in chain.conditions.iter().enumerate().skip(1) {
        let plain = bare(*condition);
        let earlier =
            chain.conditions[..at].iter().find(|earlier| same(bare(**earlier), plain, source));
        if let Some(earlier) = earlier
            && !sets_something(&chain.conditions[..=at])
            && asks_only(plain, source)
            && (file.source.touches(line(plain), end_line(plain))
                || file.source.touches(line(*earlier), end_line(*earlier)))
        {
            let issue = format!(
                "This branch never runs: the same condition is tested on line {} of the same chain.",
                line(*earlier)
            );
            let mut found = REPEATED_CONDITION.at(
                file,
                *condition,
                issue,
                "Test what was meant here, or remove the branch.",
            );
            found.caused = true;
            findings.push(found);
        }
    }
}

/// Whether one of the conditions comes with a statement before it (Go).
fn sets_something(conditions: &[Node<'_>]) -> bool {
    let has_statement = |node: Node<'_>| node.child_by_field_name("initializer").is_some();
    conditions.iter().any(|condition| condition.parent().is_some_and(has_statement))
}

/// Whether the condition has no effect: no call, or calls that only ask.
fn asks_only(node: Node<'_>, source: &str) -> bool {
    !any(node, |inner| {
        let kind = inner.kind();
        let called = match kind {
            "call_expression" | "call" => inner.child_by_field_name("function"),
            "method_invocation" => inner.child_by_field_name("name"),
            "unary_expression" if text(inner, source).starts_with("<-") => return true,
            _ if kind.contains("let_condition") || kind.contains("let_chain") => return true,
            "assignment_expression"
            | "update_expression"
            | "await_expression"
            | "await"
            | "new_expression"
            | "macro_invocation"
            | "named_expression" => return true,
            _ => None,
        };
        called.is_some_and(|called| {
            let name = text(called, source).rsplit(['.', ':']).next().unwrap_or_default();
            !["is", "has", "starts", "ends", "contains", "len", "typeof", "equals"]
                .iter()
                .any(|prefix| name.to_ascii_lowercase().starts_with(prefix))
        })
    })
}

fn ternary(file: &ParsedFile, lang: Lang, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let arms = if lang == Lang::Python {
        let parts = parts(node);
        parts.first().copied().zip(parts.get(2).copied())
    } else {
        node.child_by_field_name("consequence").zip(node.child_by_field_name("alternative"))
    };
    if let Some((yes, no)) = arms
        && same(bare(yes), bare(no), source)
    {
        let issue = format!(
            "Both arms are `{}`, so the condition decides nothing.",
            text(bare(yes), source)
        );
        findings.push(SAME_BRANCHES.at(
            file,
            node,
            issue,
            "Write the value that was meant for the other case.",
        ));
    }
}

fn cases(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut seen: HashMap<&str, u64> = HashMap::new();
    for case in parts(node) {
        let Some(value) = case.child_by_field_name("value").filter(|value| is_stable(*value))
        else {
            continue;
        };
        let spelt = text(value, source);
        if let Some(first) = seen.insert(spelt, line(case)) {
            let issue =
                format!("This case never runs: `{spelt}` is already handled on line {first}.");
            findings.push(REPEATED_CONDITION.at(
                file,
                value,
                issue,
                "Test what was meant here, or remove the case.",
            ));
        }
    }
}

fn condition(file: &ParsedFile, lang: Lang, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let Some(condition) = node.child_by_field_name("condition").map(bare) else { return };
    let is_loop = node.kind().starts_with("while");
    if matches!(lang, Lang::JavaScript | Lang::TypeScript | Lang::Tsx)
        && condition.kind() == "assignment_expression"
        && condition.child_by_field_name("right").is_some_and(is_literal)
    {
        let issue = format!(
            "`{}` assigns; the condition is the value that is assigned, always.",
            text(condition, source)
        );
        findings.push(ASSIGNMENT_AS_CONDITION.at(file, condition, issue, "Compare with `===`."));
        return;
    }
    if let Some(always) = constant(condition, lang, source)
        && !(is_loop && always)
        && !file.source.entry.has(Flag::Test)
    {
        let issue = format!(
            "`{}` is always {always}, so {}.",
            text(condition, source),
            match (is_loop, always) {
                (true, _) => "the loop never runs",
                (false, true) => "the branch always runs",
                (false, false) => "the branch never runs",
            }
        );
        findings.push(CONSTANT_CONDITION.at(
            file,
            condition,
            issue,
            "Test what was meant, or remove the condition.",
        ));
    }
}

/// The value that a condition always has.
fn constant(node: Node<'_>, lang: Lang, source: &str) -> Option<bool> {
    let node = bare(node);
    let spelt = text(node, source);
    match node.kind() {
        "true" => return Some(true),
        "false" => return Some(false),
        "boolean_literal" => return Some(spelt == "true"),
        _ => {}
    }
    if let Some(always) = length_against_zero(node, source) {
        return Some(always);
    }
    let (left, operator, right) = binary(node, source)?;
    let short = match operator {
        "||" | "or" => true,
        "&&" | "and" => false,
        _ => return None,
    };
    // `x == 1 or 2`: the second operand is no comparison.
    if short
        && is_comparison(left, source)
        && is_literal(bare(right))
        && !matches!(lang, Lang::Go | Lang::Java | Lang::Rust)
    {
        return truth(bare(right), source).filter(|truth| *truth);
    }
    let value = |side: Node<'_>| match text(bare(side), source) {
        "true" | "True" => Some(true),
        "false" | "False" => Some(false),
        _ => constant(side, lang, source),
    };
    [left, right].into_iter().find_map(|side| value(side).filter(|value| *value == short))
}

fn is_comparison(node: Node<'_>, source: &str) -> bool {
    let node = bare(node);
    match binary(node, source) {
        Some((left, op, _)) => {
            matches!(op, "==" | "===" | "!=" | "!==" | "in" | "is")
                || (matches!(op, "or" | "||") && is_comparison(left, source))
        }
        None => false,
    }
}

fn truth(node: Node<'_>, source: &str) -> Option<bool> {
    let spelt = text(node, source);
    match node.kind() {
        "string" => Some(spelt.len() > 2),
        "integer" | "number" => Some(spelt != "0"),
        _ => None,
    }
}

/// A length is never below zero.
fn length_against_zero(node: Node<'_>, source: &str) -> Option<bool> {
    let (left, operator, right) = binary(node, source)?;
    if text(right, source) != "0" {
        return None;
    }
    let left = text(left, source);
    let is_length =
        (left.starts_with("len(") && left.ends_with(')') && left.matches('(').count() == 1)
            || left.ends_with(".length")
            || left.ends_with(".length()")
            || left.ends_with(".size()")
            || left.ends_with(".len()");
    match operator {
        ">=" if is_length => Some(true),
        "<" if is_length => Some(false),
        _ => None,
    }
}

fn keys(file: &ParsedFile, node: Node<'_>, findings: &mut Vec<RuleFinding>) {
    let source = file.text();
    let mut seen: HashMap<&str, Node<'_>> = HashMap::new();
    for pair in parts(node) {
        if pair.kind() != "pair" {
            // What is spread in between may be meant to be overridden.
            seen.clear();
            continue;
        }
        let Some(key) = pair.child_by_field_name("key") else { continue };
        let is_fixed =
            matches!(key.kind(), "string" | "integer" | "number" | "property_identifier")
                && !any(key, |inner| {
                    inner.kind() == "interpolation" || inner.kind() == "template_substitution"
                });
        if !is_fixed {
            continue;
        }
        let name = text(key, source).trim_matches(['"', '\'']);
        if let Some(first) = seen.insert(name, pair)
            && (file.source.touches(line(first), end_line(first))
                || file.source.touches(line(pair), end_line(pair)))
        {
            let issue = format!(
                "The key `{name}` is given twice; the value on line {} is lost.",
                line(first)
            );
            let mut found = DUPLICATE_KEY.at(
                file,
                pair,
                issue,
                "Remove one of the two, or give it the key that was meant.",
            );
            found.caused = true;
            findings.push(found);
        }
    }
}
