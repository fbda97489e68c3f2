//! Comments that name what the change removed from the same file.

use std::collections::HashSet;

use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::functions::shape;
use crate::checks::rule::CodeRule;
use crate::checks::search::find_word;
use crate::checks::syntax::{field, is_comment, line, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const RULE: CodeRule = CodeRule {
    id: "docs.stale-comment",
    agent: AGENT,
    category: "accuracy",
    severity: Severity::Low,
    confidence: 0.7,
};

pub(super) fn check(
    file: &ParsedFile,
    lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    let Some(base_tree) = &file.base_tree else { return };
    if shape(lang).is_none() || file.source.removed.is_empty() {
        return;
    }
    let base = file.source.base.as_deref().unwrap_or_default();
    let source = file.text();
    let mut gone = declared(base_tree.root_node(), base);
    if gone.is_empty() {
        return;
    }
    // What is still written in code, under whatever role, is not gone.
    walk(root, |node| {
        if node.child_count() == 0 && !is_comment(node) {
            let spelt = text(node, source);
            gone.remove(spelt);
            if node.kind().contains("string")
                || node.kind().contains("fragment")
                || node.kind().contains("content")
            {
                gone.retain(|name| find_word(spelt, name).is_none());
            }
        }
        true
    });
    if gone.is_empty() {
        return;
    }
    walk(root, |node| {
        if is_comment(node) && !file.source.is_added(line(node)) {
            let spelt = text(node, source);
            let mut names: Vec<&&str> =
                gone.iter().filter(|name| find_word(spelt, name).is_some()).collect();
            names.sort();
            if let Some(name) = names.first() {
                let at = find_word(spelt, name).unwrap_or(0);
                let row = spelt[..at].matches('\n').count();
                let number = line(node) + row as u64;
                let quote = spelt.lines().nth(row).unwrap_or_default().trim();
                let issue = format!(
                    "This comment speaks of `{name}`, which the change removes or renames."
                );
                let mut found = RULE.on(
                    file.path(),
                    (number, number),
                    quote,
                    issue,
                    "Use the new name, or remove the remark.",
                );
                found.caused = true;
                if !findings.iter().any(|known| known.rule == RULE.id && known.line == number) {
                    findings.push(found);
                }
            }
        }
        true
    });
}

/// Names of functions, types and constants that are long and odd enough to be nothing else.
fn declared<'s>(root: Node<'_>, source: &'s str) -> HashSet<&'s str> {
    let mut names = HashSet::new();
    walk(root, |node| {
        let kind = node.kind();
        let declares = kind.ends_with("_declaration")
            || kind.ends_with("_definition")
            || kind.ends_with("_item")
            || kind.ends_with("_spec");
        if declares
            && let Some(name) = field(node, "name", source)
            && is_telling(name)
        {
            names.insert(name);
        }
        true
    });
    names
}

fn is_telling(name: &str) -> bool {
    let inner_capital =
        name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    name.len() >= 6
        && (inner_capital || name.trim_matches('_').contains('_'))
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
