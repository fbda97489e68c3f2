//! Comments that document a declaration, and its signature.

use std::ops::Range;

use quorum_model::symbol::SymbolKind;
use tree_sitter::Node;

/// As much of a signature as is kept.
const LONGEST_SIGNATURE: usize = 240;

/// As much of a comment as is kept.
const LONGEST_DOC: usize = 4000;

/// Comments and attributes just above a declaration, without an empty line in between.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    pub(super) start_row: usize,
    pub(super) end_row: usize,
    comments: Vec<(Range<usize>, usize, usize)>,
}

impl Lead {
    pub(super) fn add_comment(
        lead: &mut Option<Self>,
        bytes: Range<usize>,
        start: usize,
        end: usize,
    ) {
        Self::extend(lead, start, end).comments.push((bytes, start, end));
    }

    pub(super) fn add_attribute(lead: &mut Option<Self>, start: usize, end: usize) {
        Self::extend(lead, start, end);
    }

    fn extend(lead: &mut Option<Self>, start: usize, end: usize) -> &mut Self {
        let goes_on = lead.as_ref().is_some_and(|lead| start <= lead.end_row + 1);
        if !goes_on {
            *lead = None;
        }
        let fresh = Self { start_row: start, end_row: end, comments: Vec::new() };
        let lead = lead.get_or_insert(fresh);
        lead.end_row = end;
        lead
    }

    /// The text of the comments that document, and their rows.
    pub(super) fn documentation(
        &self,
        source: &[u8],
        marks: &[&str],
    ) -> (Option<String>, Option<Range<usize>>) {
        let mut text = String::new();
        let mut rows: Option<Range<usize>> = None;
        for (bytes, start, end) in &self.comments {
            let comment = source.get(bytes.clone()).unwrap_or_default();
            let comment = String::from_utf8_lossy(comment);
            let documents = marks.is_empty() || marks.iter().any(|mark| comment.starts_with(mark));
            if !documents || text.len() > LONGEST_DOC {
                continue;
            }
            for line in comment.lines() {
                let line = uncommented(line);
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(line);
            }
            rows = Some(rows.map_or(*start, |rows| rows.start)..end + 1);
        }
        let text = cut(text.trim(), LONGEST_DOC);
        if text.is_empty() { (None, None) } else { (Some(text.to_owned()), rows) }
    }
}

/// A line of a comment without its marks.
fn uncommented(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_suffix("*/").unwrap_or(line);
    let marks = ["///", "//!", "/**", "/*!", "/*", "//", "#!", "--", "#", "*"];
    let line = marks.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    line.trim_start_matches(['#', '/']).trim()
}

/// The string that a Python function or class starts with, and its rows.
pub(super) fn docstring(node: Node<'_>, source: &[u8]) -> Option<(String, Range<usize>)> {
    let first = node.child_by_field_name("body")?.named_child(0)?;
    let string = match first.kind() {
        "string" => first,
        "expression_statement" => first.named_child(0).filter(|child| child.kind() == "string")?,
        _ => return None,
    };
    let text = String::from_utf8_lossy(source.get(string.byte_range())?);
    let text = text.trim_start_matches(['r', 'R', 'u', 'U', 'b', 'f']).trim_matches(['"', '\'']);
    let text: Vec<&str> = text.lines().map(str::trim).collect();
    let text = text.join("\n");
    let text = cut(text.trim(), LONGEST_DOC);
    let rows = string.start_position().row..string.end_position().row + 1;
    (!text.is_empty()).then(|| (text.to_owned(), rows))
}

/// The declaration without its body, on one line.
pub(super) fn signature(node: Node<'_>, start: usize, source: &[u8], kind: SymbolKind) -> String {
    let end = body_start(node).unwrap_or_else(|| node.end_byte());
    // What is cut off below is never looked at: bodies can be long.
    let end = end.min(start.saturating_add(LONGEST_SIGNATURE * 4));
    let text = String::from_utf8_lossy(source.get(start..end).unwrap_or_default());
    let text = match kind {
        SymbolKind::Key | SymbolKind::Constant | SymbolKind::Variable => {
            text.lines().next().unwrap_or_default()
        }
        kind if kind.is_type() => text.split('{').next().unwrap_or_default(),
        _ => &text,
    };
    let mut signature = String::new();
    for word in text.split_whitespace() {
        if !signature.is_empty() {
            signature.push(' ');
        }
        signature.push_str(word);
    }
    let trimmed = signature.trim_end_matches(['{', ':', '=', ' ', ';', ',']);
    let trimmed = trimmed.strip_suffix("=>").unwrap_or(trimmed).trim_end();
    let short = cut(trimmed, LONGEST_SIGNATURE);
    if short.len() < trimmed.len() { format!("{short}…") } else { short.to_owned() }
}

fn body_start(node: Node<'_>) -> Option<usize> {
    let body = node.child_by_field_name("body").or_else(|| {
        let value = ["value", "right"].iter().find_map(|field| node.child_by_field_name(field))?;
        value.child_by_field_name("body")
    });
    let body = body.or_else(|| {
        let bodies =
            ["function_body", "class_body", "enum_class_body", "block", "body", "macro_rule"];
        super::names::child_of_kind(node, &bodies)
    });
    body.map(|body| body.start_byte())
}

fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
