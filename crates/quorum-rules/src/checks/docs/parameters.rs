//! Documentation of parameters that does not match the signature.

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::functions::functions;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{end_line, field, line, parts, text};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const STALE: CodeRule = CodeRule {
    id: "docs.stale-parameter",
    agent: AGENT,
    category: "accuracy",
    severity: Severity::Medium,
    confidence: 0.8,
};
pub(crate) const MISSING: CodeRule = CodeRule {
    id: "docs.missing-parameter",
    agent: AGENT,
    category: "completeness",
    severity: Severity::Low,
    confidence: 0.65,
};

/// A documented name and the line that documents it.
struct Documented<'s> {
    name: &'s str,
    line: u64,
    quote: &'s str,
}

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    if file.source.entry.has(Flag::Test)
        || !matches!(
            lang,
            Lang::Python | Lang::JavaScript | Lang::TypeScript | Lang::Tsx | Lang::Java
        )
    {
        return;
    }
    let source = file.text();
    for function in functions(root, lang, source) {
        let Some((documented, doc)) = documented(function.node, function.body, lang, source) else {
            continue;
        };
        let Some(names) = names(function.node, lang, source) else { continue };
        let reads_all = lang != Lang::Python && text(function.body, source).contains("arguments");
        if reads_all {
            continue;
        }
        let touched = file.source.touches(line(function.node), line(function.body))
            || file.source.touches(doc.0, doc.1);
        if !touched {
            continue;
        }
        let own = function
            .name
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .split('#')
            .next()
            .unwrap_or_default();
        let stale: Vec<&Documented<'_>> =
            documented.iter().filter(|entry| !names.contains(&entry.name)).collect();
        if let Some(first) = stale.first() {
            let others: Vec<String> =
                stale.iter().map(|entry| format!("`{}`", entry.name)).collect();
            let issue = format!(
                "`{own}` has no parameter {}, which its documentation describes.",
                others.join(", ")
            );
            let fix = "Rename or remove the entry, so that it matches the signature.";
            let mut found =
                STALE.on(file.path(), (first.line, first.line), first.quote, issue, fix);
            found.caused = true;
            findings.push(found);
            continue;
        }
        let missing: Vec<&&str> = names
            .iter()
            .filter(|name| !documented.iter().any(|entry| entry.name == **name))
            .collect();
        if let [missing] = missing[..]
            && let Some(last) = documented.last()
            && documented.len() + 1 == names.len()
            && file.source.touches(line(function.node), line(function.body))
            && is_new(file, function.name.as_str(), missing, lang)
            // One remark for each file is enough to make somebody look.
            && !findings.iter().any(|found| found.rule == MISSING.id)
        {
            let issue = format!(
                "The documentation of `{own}` describes every parameter but the new one, `{missing}`."
            );
            let fix = format!("Describe `{missing}` too.");
            let mut found = MISSING.on(file.path(), (last.line, last.line), last.quote, issue, fix);
            found.caused = true;
            findings.push(found);
        }
    }
}

/// Whether the change brought the parameter.
fn is_new(file: &ParsedFile, function: &str, parameter: &str, lang: Lang) -> bool {
    let Some(tree) = &file.base_tree else { return false };
    let base = file.source.base.as_deref().unwrap_or_default();
    functions(tree.root_node(), lang, base)
        .iter()
        .find(|old| old.name == function)
        .and_then(|old| names(old.node, lang, base))
        .is_some_and(|names| !names.contains(&parameter))
}

/// The names of the parameters; absent where they cannot be told.
fn names<'s>(node: Node<'_>, lang: Lang, source: &'s str) -> Option<Vec<&'s str>> {
    let list = match node.child_by_field_name("parameters") {
        Some(list) => parts(list),
        None => vec![node.child_by_field_name("parameter")?],
    };
    let mut names = Vec::new();
    for part in list {
        let spelt = text(part, source);
        // Whatever else is passed may be described by name.
        if spelt.starts_with('*') && spelt.len() > 1 || spelt.starts_with("...") {
            return None;
        }
        let name = match lang {
            Lang::Python => match part.kind() {
                "keyword_separator" | "positional_separator" => continue,
                _ => {
                    spelt.trim_start_matches('*').split([':', '=', ' ']).next().unwrap_or_default()
                }
            },
            Lang::Java => {
                field(part, "name", source).or_else(|| spelt.rsplit(' ').next()).unwrap_or_default()
            }
            _ => {
                let pattern = field(part, "pattern", source)
                    .or_else(|| field(part, "left", source))
                    .unwrap_or(spelt);
                // What is taken apart has any name in the documentation.
                if pattern.starts_with(['{', '[']) {
                    return None;
                }
                pattern
                    .trim_start_matches("...")
                    .split([':', '=', '?', ' '])
                    .next()
                    .unwrap_or_default()
            }
        };
        if !matches!(name, "self" | "cls" | "this" | "") {
            names.push(name);
        }
    }
    Some(names)
}

/// What the documentation of a function says about parameters, and the lines that it covers.
fn documented<'s>(
    node: Node<'_>,
    body: Node<'_>,
    lang: Lang,
    source: &'s str,
) -> Option<(Vec<Documented<'s>>, (u64, u64))> {
    if lang == Lang::Python {
        let string = body
            .named_child(0)
            .filter(|first| first.kind() == "expression_statement")?
            .named_child(0)
            .filter(|string| string.kind() == "string")?;
        return Some((python(string, source), (line(string), end_line(string))));
    }
    let mut holder = node;
    while holder.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "export_statement"
                | "variable_declarator"
                | "lexical_declaration"
                | "variable_declaration"
                | "assignment_expression"
                | "expression_statement"
        ) && parent.start_position().row == holder.start_position().row
    }) {
        holder = holder.parent()?;
    }
    let comment = holder.prev_sibling().filter(|before| {
        matches!(before.kind(), "comment" | "block_comment")
            && text(*before, source).starts_with("/**")
    })?;
    Some((tags(comment, source), (line(comment), end_line(comment))))
}

/// `@param {type} name`.
fn tags<'s>(comment: Node<'_>, source: &'s str) -> Vec<Documented<'s>> {
    let mut found = Vec::new();
    for (number, full) in (line(comment)..).zip(text(comment, source).lines()) {
        let trimmed = full.trim().trim_start_matches('*').trim_start();
        let Some(rest) = trimmed.strip_prefix("@param") else { continue };
        let mut rest = rest.trim_start();
        if rest.starts_with('{') {
            let mut depth = 0;
            let end = rest.find(|c| {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            rest = end.map_or("", |end| rest[end + 1..].trim_start());
        }
        let name = rest
            .trim_start_matches('[')
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '.' | '<'))
            .next()
            .unwrap_or_default();
        // A member of a parameter, or a type parameter.
        if name.is_empty() || name.contains('.') || name.starts_with('<') {
            continue;
        }
        found.push(Documented { name, line: number, quote: full.trim() });
    }
    found
}

/// `:param name:` and the sections `Args:` and `Parameters`.
fn python<'s>(string: Node<'_>, source: &'s str) -> Vec<Documented<'s>> {
    let mut found = Vec::new();
    let mut section: Option<(usize, Option<usize>)> = None;
    for (number, full) in (line(string)..).zip(text(string, source).lines()) {
        let trimmed = full.trim();
        let indent = full.len() - full.trim_start().len();
        if let Some(rest) = trimmed.strip_prefix(":param ") {
            let name = rest
                .split(':')
                .next()
                .unwrap_or_default()
                .rsplit(' ')
                .next()
                .unwrap_or_default()
                .trim_start_matches(['*', '\\']);
            if is_identifier(name) {
                found.push(Documented { name, line: number, quote: trimmed });
            }
        } else if matches!(trimmed, "Args:" | "Arguments:") {
            section = Some((indent, None));
        } else if let Some((outer, entries)) = section {
            if !trimmed.is_empty() && indent <= outer {
                section = None;
            } else if !trimmed.is_empty() {
                let level = entries.unwrap_or(indent);
                section = Some((outer, Some(level)));
                let name = trimmed
                    .split([':', ' ', '('])
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches(['*', '\\']);
                let has_colon = trimmed[trimmed.find(name).unwrap_or(0) + name.len()..]
                    .trim_start()
                    .starts_with([':', '(']);
                if indent == level && is_identifier(name) && has_colon {
                    found.push(Documented { name, line: number, quote: trimmed });
                }
            }
        }
    }
    found
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_numeric())
}
