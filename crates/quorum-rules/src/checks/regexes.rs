//! Regular expressions: those that take exponential time, and those that let through more than
//! they say.

mod ambiguity;
mod parse;
mod shape;

use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::rule::CodeRule;
use super::syntax::{field, parts, text, walk};
use crate::finding::RuleFinding;
use crate::rule::Matching;
use crate::source::ParsedFile;

const BACKTRACKING: CodeRule = rule("regex-backtracking", Severity::Medium, 0.85);
const HOST: CodeRule = rule("regex-host-dot", Severity::Medium, 0.7);
const UNANCHORED: CodeRule = rule("regex-host-unanchored", Severity::Low, 0.7);
const ANCHOR: CodeRule = rule("regex-half-anchored", Severity::Low, 0.65);

const fn rule(id: &'static str, severity: Severity, confidence: f64) -> CodeRule {
    CodeRule { id, agent: "security-reviewer", category: "injection", severity, confidence }
}

/// Whether an expression can take polynomial time. It may stand between slashes, with flags.
pub(crate) fn is_polynomial(text: &str, matching: Matching) -> bool {
    let inside = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let (pattern, flags) = inside.unwrap_or((text, ""));
    let matching = match matching {
        Matching::Search if flags.contains('y') => Matching::Start,
        other => other,
    };
    parse::parse(pattern).is_some_and(|expr| ambiguity::is_polynomial(&expr, matching))
}

/// A regular expression in a file.
struct Found<'t> {
    node: Node<'t>,
    pattern: String,
    /// The function or method that takes it.
    taker: &'t str,
    /// Whether it has to match the whole text.
    whole: bool,
    /// Whether something is decided by it, not only taken out of a text or replaced in it.
    checks: bool,
}

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let (Some(lang), Some(tree)) = (file.lang, &file.tree) else { return };
    let read: for<'t> fn(Node<'t>, &'t str) -> Option<Found<'t>> = match lang {
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => in_script,
        Lang::Python => in_python,
        Lang::Java => in_java,
        Lang::Go => in_go,
        _ => return,
    };
    if file.source.entry.has(quorum_model::scope::Flag::Test) {
        return;
    }
    walk(tree.root_node(), |node| {
        if let Some(found) = read(node, file.text()) {
            judge(file, lang, &found, findings);
        }
        true
    });
}

fn judge(file: &ParsedFile, lang: Lang, found: &Found<'_>, findings: &mut Vec<RuleFinding>) {
    let mut report = |rule: &CodeRule, cwe: &str, issue: &str, fix: &str| {
        let mut finding = rule.at(file, found.node, issue, fix);
        finding.cwe = Some(cwe.to_owned());
        findings.push(finding);
    };
    let expr = parse::parse(&found.pattern);
    // Go's engine never backtracks.
    if lang != Lang::Go
        && expr.as_ref().is_some_and(|expr| ambiguity::is_exponential(expr, found.whole))
    {
        report(
            &BACKTRACKING,
            "CWE-1333",
            "This expression can read the same text in exponentially many ways: a text of a few dozen characters that does not match keeps the processor busy for years.",
            "Let the parts of the repeated group exclude each other, so that each text can be read in one way only, or limit the length of what is matched.",
        );
    }
    if shape::host_with_open_dot(&found.pattern) {
        report(
            &HOST,
            "CWE-20",
            "The dot in this host name stands for any character, so the expression also matches hosts that somebody else can register.",
            "Write `\\.` for a dot.",
        );
    }
    if found.checks && shape::host_without_anchor(&found.pattern) {
        report(
            &UNANCHORED,
            "CWE-20",
            "This host is looked for somewhere in the text: an address that somebody else owns can hold it as well, before or after other text.",
            "Begin with `^`, and end the host with `$` or `\\/`; or parse the address and compare its host.",
        );
    }
    let replaces = ["replace", "split", "sub"].iter().any(|word| found.taker.contains(word));
    if !replaces && expr.as_ref().is_some_and(shape::is_half_anchored) {
        report(
            &ANCHOR,
            "CWE-20",
            "The anchor binds to one of the alternatives alone; the others match anywhere in the text.",
            "Put the alternatives in a group: `^(?:a|b)$`.",
        );
    }
}

fn in_script<'t>(node: Node<'t>, source: &'t str) -> Option<Found<'t>> {
    match node.kind() {
        "regex" => {
            let pattern = field(node, "pattern", source)?.to_owned();
            let taker = node
                .parent()
                .filter(|parent| parent.kind() == "arguments")
                .and_then(|arguments| field(arguments.parent()?, "function", source));
            let taker = taker.unwrap_or_default();
            Some(Found { node, pattern, taker, whole: false, checks: decides(node, source) })
        }
        "new_expression" | "call_expression" => {
            let taker =
                field(node, "constructor", source).or_else(|| field(node, "function", source))?;
            let method = taker.rsplit('.').next().unwrap_or(taker);
            // Text that a method of texts is given is an expression as well.
            if taker != "RegExp" && !(taker != method && matches!(method, "match" | "matchAll")) {
                return None;
            }
            let first = first_argument(node)?;
            let checks = matches!(method, "match" | "search") && is_condition(node);
            Some(Found {
                node: first,
                pattern: folded(first, source)?,
                taker,
                whole: false,
                checks,
            })
        }
        _ => None,
    }
}

/// Whether a regular expression between slashes is asked for a yes or no.
fn decides(node: Node<'_>, source: &str) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "member_expression" => match field(parent, "property", source) {
            Some("test") => true,
            Some("exec") => parent.parent().is_some_and(is_condition),
            _ => false,
        },
        "arguments" => parent.parent().is_some_and(|call| {
            let method = field(call, "function", source).and_then(|f| f.rsplit('.').next());
            matches!(method, Some("match" | "search")) && is_condition(call)
        }),
        _ => false,
    }
}

/// Whether what an expression gives is only asked for whether it is there.
fn is_condition(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "parenthesized_expression" | "binary_expression" => {
            parent.parent().is_some_and(|around| around.kind() == "if_statement")
                || is_condition(parent)
        }
        "unary_expression" => true,
        "ternary_expression" => {
            parent.child_by_field_name("condition").is_some_and(|c| c.id() == node.id())
        }
        _ => false,
    }
}

fn in_python<'t>(node: Node<'t>, source: &'t str) -> Option<Found<'t>> {
    if node.kind() != "call" {
        return None;
    }
    let taker = field(node, "function", source)?;
    let (module, name) = taker.rsplit_once('.').unwrap_or(("", taker));
    let takes = match module {
        "re" | "regex" => matches!(
            name,
            "compile"
                | "match"
                | "search"
                | "fullmatch"
                | "findall"
                | "finditer"
                | "sub"
                | "subn"
                | "split"
        ),
        _ => matches!(name, "RegexValidator" | "re_path" | "RegexField"),
    };
    let first = first_argument(node).filter(|first| takes && first.kind() == "string")?;
    Some(Found {
        node: first,
        pattern: literal(first, source)?,
        taker,
        whole: name == "fullmatch",
        checks: false,
    })
}

fn in_java<'t>(node: Node<'t>, source: &'t str) -> Option<Found<'t>> {
    if node.kind() != "method_invocation" {
        return None;
    }
    let taker = field(node, "name", source)?;
    let of_pattern =
        field(node, "object", source).is_some_and(|object| object.ends_with("Pattern"));
    let takes = match taker {
        "compile" => of_pattern,
        "matches" | "replaceAll" | "replaceFirst" | "split" => true,
        _ => false,
    };
    let first = first_argument(node).filter(|first| takes && first.kind() == "string_literal")?;
    Some(Found {
        node: first,
        pattern: literal(first, source)?,
        taker,
        whole: taker == "matches",
        checks: false,
    })
}

fn in_go<'t>(node: Node<'t>, source: &'t str) -> Option<Found<'t>> {
    if node.kind() != "call_expression" {
        return None;
    }
    let taker = field(node, "function", source).filter(|taker| taker.starts_with("regexp."))?;
    let first = first_argument(node).filter(|first| first.kind().ends_with("string_literal"))?;
    Some(Found {
        node: first,
        pattern: literal(first, source)?,
        taker,
        whole: false,
        checks: false,
    })
}

fn first_argument(call: Node<'_>) -> Option<Node<'_>> {
    parts(call.child_by_field_name("arguments")?).first().copied()
}

/// The value of a string, or of several that are put together.
fn folded(node: Node<'_>, source: &str) -> Option<String> {
    match node.kind() {
        "string" | "template_string" => literal(node, source),
        "binary_expression" if field(node, "operator", source) == Some("+") => {
            let left = folded(node.child_by_field_name("left")?, source)?;
            Some(left + &folded(node.child_by_field_name("right")?, source)?)
        }
        _ => None,
    }
}

/// The value of a string that is spelt out.
fn literal(node: Node<'_>, source: &str) -> Option<String> {
    let spelt = text(node, source);
    let open = spelt.find(['"', '\'', '`'])?;
    let (prefix, rest) = spelt.split_at(open);
    if prefix.contains(['f', 'F']) {
        return None;
    }
    let quote = if rest.starts_with("\"\"\"") || rest.starts_with("'''") { 3 } else { 1 };
    let inner = rest.get(quote..rest.len().checked_sub(quote)?)?;
    if rest.starts_with('`') || prefix.contains(['r', 'R']) {
        return Some(inner.to_owned());
    }
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => value.push_str("\\n"),
            ('\\', Some('t')) => value.push('\t'),
            ('\\', Some(c @ ('\\' | '"' | '\'' | '/'))) => value.push(c),
            ('\\', Some(c)) => {
                value.push('\\');
                value.push(c);
            }
            (c, _) => value.push(c),
        }
    }
    Some(value)
}
