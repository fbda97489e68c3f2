//! Copied statements in which one name was not changed with the others.

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::{Lang, Node};

use super::AGENT;
use crate::checks::rule::CodeRule;
use crate::checks::syntax::{end_line, is_comment, leaves, line, text, walk};
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

pub(crate) const RULE: CodeRule = CodeRule {
    id: "quality.inconsistent-copy",
    agent: AGENT,
    category: "logic",
    severity: Severity::Medium,
    confidence: 0.6,
};

/// Shorter statements are alike by chance.
const LEAVES: usize = 8;
/// Longer ones are not copies by hand any more.
const MOST_LEAVES: usize = 400;

pub(super) fn check(
    file: &ParsedFile,
    _lang: Lang,
    root: Node<'_>,
    findings: &mut Vec<RuleFinding>,
) {
    if file.source.entry.has(Flag::Test) {
        return;
    }
    walk(root, |node| {
        if is_statement(node)
            && let Some(next) = next_statement(node)
            && file.source.touches(line(next), end_line(next))
            && let Some(slip) = slip(node, next, file.text())
        {
            let issue = format!(
                "`{}` is probably left over from the statement before, which this one copies: \
                 everywhere else `{}` became `{}`.",
                slip.stale, slip.from, slip.to
            );
            let fix = format!(
                "Use the name with `{}` here as well, or say in a comment why not.",
                slip.to
            );
            let mut found = RULE.at(file, next, issue, fix);
            found.caused = true;
            findings.push(found);
        }
        true
    });
}

fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("_statement")
        || kind.ends_with("_declaration")
        || kind == "expression_statement"
        || kind == "if_expression"
}

fn next_statement(node: Node<'_>) -> Option<Node<'_>> {
    let mut next = node.next_named_sibling();
    while next.is_some_and(is_comment) {
        next = next.and_then(|node| node.next_named_sibling());
    }
    next.filter(|next| next.kind_id() == node.kind_id())
}

struct Slip {
    from: String,
    to: String,
    stale: String,
}

/// The one place at which a word was kept that is exchanged everywhere else.
fn slip(first: Node<'_>, second: Node<'_>, source: &str) -> Option<Slip> {
    let before: Vec<_> = leaves(first).take(MOST_LEAVES + 1).collect();
    let after: Vec<_> = leaves(second).take(MOST_LEAVES + 1).collect();
    if before.len() != after.len() || before.len() < LEAVES || before.len() > MOST_LEAVES {
        return None;
    }
    let mut exchanged: Option<(&str, &str)> = None;
    let mut exchanges = 0;
    let mut kept: Vec<&str> = Vec::new();
    let mut renamed: Vec<&str> = Vec::new();
    for (old, new) in before.iter().zip(&after) {
        if old.kind_id() != new.kind_id() {
            return None;
        }
        let (a, b) = (text(*old, source), text(*new, source));
        if a == b {
            kept.push(a);
            continue;
        }
        if !is_name(*old) {
            return None;
        }
        let pair = exchanged_word(a, b)?;
        let (from, to) = *exchanged.get_or_insert(pair);
        if !from.eq_ignore_ascii_case(pair.0) || !to.eq_ignore_ascii_case(pair.1) {
            return None;
        }
        renamed.push(a);
        exchanges += 1;
    }
    let (from, to) = exchanged?;
    let mut stale =
        kept.into_iter().filter(|name| words(name).any(|word| word.eq_ignore_ascii_case(from)));
    let left_over = stale.next()?;
    let mentions_new = before
        .iter()
        .any(|leaf| words(text(*leaf, source)).any(|word| word.eq_ignore_ascii_case(to)));
    // A name that is exchanged nowhere else may well be the same in both.
    let exchanged_elsewhere = renamed.contains(&left_over);
    if exchanges < 2 || stale.next().is_some() || mentions_new || !exchanged_elsewhere {
        return None;
    }
    Some(Slip { from: from.to_owned(), to: to.to_owned(), stale: left_over.to_owned() })
}

fn is_name(node: Node<'_>) -> bool {
    node.kind().contains("identifier")
}

/// The word by which two names differ, if they differ by one.
fn exchanged_word<'s>(a: &'s str, b: &'s str) -> Option<(&'s str, &'s str)> {
    let (left, right): (Vec<_>, Vec<_>) = (words(a).collect(), words(b).collect());
    if left.len() != right.len() {
        return None;
    }
    let mut different = left.iter().zip(&right).filter(|(x, y)| x != y);
    let pair = different.next().map(|(x, y)| (*x, *y))?;
    different.next().is_none().then_some(pair)
}

/// The words of a name: `maxX_left` is `max`, `X`, `left`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut chars = rest.char_indices();
        let (_, first) = chars.next()?;
        let mut lower_seen = first.is_lowercase() || first.is_numeric();
        let end = chars
            .find(|(_, c)| {
                let ends = !c.is_alphanumeric() || (c.is_uppercase() && lower_seen);
                lower_seen = lower_seen || c.is_lowercase();
                ends
            })
            .map_or(rest.len(), |(at, _)| at);
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slip_in(source: &str) -> Option<String> {
        let tree = quorum_syntax::parse(source.as_bytes(), Lang::JavaScript).expect("it parses");
        let root = tree.root_node();
        let first = root.named_child(0)?;
        slip(first, next_statement(first)?, source).map(|slip| slip.stale)
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("maxX_leftOf2").collect::<Vec<_>>(), ["max", "X", "left", "Of2"]);
    }

    #[test]
    fn one_name_that_was_not_changed_with_the_others() {
        let copied = "if (x < box.minX) { box.minX = x }\nif (y < box.minY) { box.minX = y }\n";
        assert_eq!(slip_in(copied).as_deref(), Some("minX"));
        let copied = "this.startLine = from.startLine + offsets.startLine(a);\nthis.endLine = from.startLine + offsets.endLine(a);\n";
        assert_eq!(slip_in(copied).as_deref(), Some("startLine"));
    }

    #[test]
    fn a_copy_that_is_changed_throughout_is_fine() {
        let copied = "this.startLine = from.startLine + offsets.startLine(a);\nthis.endLine = from.endLine + offsets.endLine(a);\n";
        assert_eq!(slip_in(copied), None);
    }
}
