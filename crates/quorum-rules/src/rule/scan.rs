//! One walk over a file's tree for all rules that are shapes of it.

use std::collections::HashSet;
use std::sync::Arc;

use quorum_model::finding::Replacement;
use quorum_syntax::grep::AstGrep;
use quorum_syntax::grep::tree_sitter::StrDoc;

use super::compiled::RuleShape;
use super::{Rule, RuleSet, agent};
use crate::finding::{RuleFinding, dedent};
use crate::pattern::{Bindings, SyntaxNode};
use crate::source::ParsedFile;

/// Adds what the shapes of the rules find in a file.
pub(crate) fn scan(rules: &RuleSet, file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let (Some(lang), Some(tree)) = (file.lang, &file.tree) else { return };
    let Some(compiled) = rules.compiled(lang) else { return };
    let awake = compiled.awake(file.path(), file.text());
    if !awake.contains(&true) {
        return;
    }
    let document = StrDoc { src: file.text().to_owned(), lang, tree: tree.clone() };
    let grep = AstGrep::doc(document);
    let empty = Bindings::new();
    let mut seen = HashSet::new();
    for node in grep.root().dfs() {
        let here = compiled.by_kind.get(&node.kind_id()).map_or(&[][..], Vec::as_slice);
        for &index in here.iter().chain(&compiled.anywhere) {
            let rule = &compiled.shapes[index];
            if awake[index]
                && let Some(bound) = rule.shape.matches(&node, &empty)
            {
                let found = finding(rule, &node, &bound, file);
                let id = Arc::as_ptr(&rule.rule) as usize;
                if seen.insert((id, found.line, found.end_line)) {
                    findings.push(found);
                }
            }
        }
    }
}

fn finding<'t>(
    shape: &RuleShape,
    node: &SyntaxNode<'t>,
    bound: &Bindings<'t>,
    file: &ParsedFile,
) -> RuleFinding {
    let found = shape.found();
    let place = found.report.as_deref().and_then(|name| bound.get_match(name)).unwrap_or(node);
    let mut recommendation = fill(&shape.rule.fix, bound);
    let instead = found.autofix.as_ref().map(|autofix| fill(autofix, bound));
    if let Some(instead) = &instead {
        recommendation.push_str("\n\nInstead: ");
        recommendation.push_str(instead);
    }
    let title = fill(&shape.rule.title, bound);
    let inner = place.get_inner_node();
    let last = inner.end_position();
    let last_row = if last.column == 0 { last.row.saturating_sub(1) } else { last.row };
    let first_row = inner.start_position().row;
    let mut finding = report(&shape.rule, file, first_row, last_row, &title, recommendation);
    finding.replacement = instead.and_then(|instead| in_whole_lines(file, node.range(), &instead));
    finding
}

/// The lines that `range` is in, with `text` in its place.
fn in_whole_lines(
    file: &ParsedFile,
    range: std::ops::Range<usize>,
    text: &str,
) -> Option<Replacement> {
    let source = file.text();
    let (before, after) = (source.get(..range.start)?, source.get(range.end..)?);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = after.lines().next().unwrap_or_default();
    let line_of = |byte: usize| file.row_of(byte) as u64 + 1;
    Some(Replacement {
        start_line: line_of(range.start),
        end_line: line_of(range.end),
        text: [before.get(start..)?, text, rest].concat(),
    })
}

/// A finding of a rule about lines of a file, counted from 0.
pub(crate) fn report(
    rule: &Rule,
    file: &ParsedFile,
    first: usize,
    last: usize,
    title: &str,
    recommendation: String,
) -> RuleFinding {
    let issue =
        if rule.why.is_empty() { title.to_owned() } else { format!("{title} {}", rule.why.trim()) };
    RuleFinding {
        rule: rule.id.clone(),
        agent: agent::name(&rule.agent),
        severity: rule.severity,
        confidence: rule.confidence,
        category: rule.category.clone(),
        cwe: rule.cwe.clone(),
        file: file.path().to_owned(),
        line: first as u64 + 1,
        end_line: last.max(first) as u64 + 1,
        evidence: evidence(file, first, last),
        issue,
        recommendation,
        references: rule.references.clone(),
        effort: rule.effort,
        trace: Vec::new(),
        dependency: None,
        replacement: None,
        caused: false,
    }
}

/// The lines as they stand, the first six of them where there are more.
fn evidence(file: &ParsedFile, first: usize, last: usize) -> String {
    const LINES: usize = 6;
    let count = (last.max(first) - first + 1).min(LINES);
    let lines: Vec<&str> = (first..first + count).map_while(|row| file.line(row)).collect();
    dedent(&lines.join("\n"))
}

/// Puts the text of metavariables into a sentence.
fn fill(sentence: &str, bound: &Bindings<'_>) -> String {
    const LONG: usize = 60;
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        if let Some(node) = bound.get_match(name) {
            let text = node.text();
            let line = text.lines().next().unwrap_or_default();
            out.extend(line.chars().take(LONG));
            if line.chars().count() > LONG || text.lines().count() > 1 {
                out.push('…');
            }
        } else {
            out.push('$');
            out.push_str(name);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
