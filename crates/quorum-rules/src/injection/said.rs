//! What code says in words: its comments and strings, by the syntax tree.

use std::ops::Range;

use quorum_syntax::{Node, Tree};

use super::Place;

/// Comments without code between them, or strings that are put together.
#[derive(Debug)]
pub(super) struct Utterance {
    pub(super) place: Place,
    /// Bytes of the file, in order.
    pub(super) parts: Vec<Range<usize>>,
    rows: (usize, usize),
}

/// What is said on or next to one of `rows`, which are sorted.
///
/// Only such nodes are looked at, so that the cost is that of the places, not of the file.
pub(super) fn utterances(tree: &Tree, source: &str, rows: &[usize]) -> Vec<Utterance> {
    let mut found: Vec<Utterance> = Vec::new();
    let mut cursor = tree.root_node().walk();
    loop {
        let node = cursor.node();
        let (first, last) = (node.start_position().row, node.end_position().row);
        let near = meets(rows, first, last);
        let place = if near { place(node) } else { None };
        if let Some(place) = place {
            add(&mut found, place, node, source);
        }
        if near && place.is_none() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Whether one of the sorted rows is at most one away from what lies between these two.
fn meets(rows: &[usize], first: usize, last: usize) -> bool {
    let at = rows.partition_point(|&row| row + 1 < first);
    rows.get(at).is_some_and(|&row| row <= last + 1)
}

fn place(node: Node<'_>) -> Option<Place> {
    let kind = node.kind();
    if !node.is_named() {
        return None;
    }
    if kind.contains("comment") || matches!(kind, "uninterpreted" | "preproc_arg") {
        return Some(Place::Comment);
    }
    let is_text = kind.contains("string")
        || kind.contains("heredoc")
        || kind.contains("scalar")
        || kind.contains("regex")
        || matches!(kind, "quoted_template" | "template_literal" | "jsx_text" | "text" | "command");
    if !is_text || matches!(kind, "string_array" | "concatenated_string" | "chained_string") {
        return None;
    }
    // A string that nothing uses, such as one that documents a function, is a comment.
    let unused = node.parent().is_some_and(|above| above.kind() == "expression_statement");
    Some(if unused { Place::Comment } else { Place::Text })
}

fn add(found: &mut Vec<Utterance>, place: Place, node: Node<'_>, source: &str) {
    let bytes = node.byte_range();
    let rows = (node.start_position().row, node.end_position().row);
    if let Some(last) = found.last_mut()
        && last.place == place
        && rows.0 <= last.rows.1 + 1
    {
        let end = last.parts.last().map_or(0, |part| part.end);
        let between = source.get(end..bytes.start).unwrap_or("?");
        let joins = match place {
            Place::Comment => between.trim().is_empty(),
            // Strings are put together by these; others follow each other in a list.
            Place::Text => {
                between.trim().trim_matches(['+', '.', '&', '\\', '<', '~']).trim().is_empty()
            }
        };
        if joins {
            last.parts.push(bytes);
            last.rows.1 = rows.1;
            return;
        }
    }
    found.push(Utterance { place, parts: vec![bytes], rows });
}

impl Utterance {
    /// Its lines with their numbers, without the code around them.
    pub(super) fn lines(&self, source: &str) -> Vec<(u64, String)> {
        let mut lines: Vec<(u64, String)> = Vec::new();
        let (mut row, mut at) = (self.rows.0, None);
        for part in &self.parts {
            let before = at.and_then(|end: usize| source.get(end..part.start)).unwrap_or_default();
            row += before.matches('\n').count();
            let text = source.get(part.clone()).unwrap_or_default();
            for (index, line) in text.split('\n').enumerate() {
                row += usize::from(index > 0);
                let number = row as u64 + 1;
                match lines.last_mut() {
                    Some((last, said)) if *last == number => {
                        said.push(' ');
                        said.push_str(line);
                    }
                    _ => lines.push((number, line.to_owned())),
                }
            }
            at = Some(part.end);
        }
        lines
    }
}
