//! Text inside Markdown and inside the HTML that Markdown allows.

use crate::text;

/// A piece of prose: plain, or between backticks.
enum Piece<'a> {
    Plain(&'a str),
    Code(&'a str),
}

/// `text` on one line as inline Markdown that shows exactly this text. Pairs of backticks make code,
/// as people mean them to; nothing else has a meaning. Not for the start of a line.
pub(crate) fn prose(text: &str, limit: usize) -> String {
    let line = text::line(text, limit);
    let mut shown = String::with_capacity(line.len() + 16);
    for piece in pieces(&line) {
        match piece {
            Piece::Plain(plain) => escape(plain, &mut shown),
            Piece::Code(code) => shown.push_str(&span(code)),
        }
    }
    shown
}

/// `text` on one line, for the cell of a table: no code, whose bars would end the cell.
pub(super) fn cell(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    escape(&text::line(text, limit), &mut shown);
    shown
}

/// `text` on one line as a code span.
pub(super) fn code(text: &str, limit: usize) -> String {
    span(&text::line(text, limit))
}

/// `text` as HTML that shows exactly this text.
pub(super) fn html(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            c => shown.push(c),
        }
        if is_reference(c, rest.peek().copied()) {
            shown.push_str("<!-- -->");
        }
    }
    shown
}

/// `text` on one line as HTML, with pairs of backticks as code.
pub(super) fn html_prose(text: &str, limit: usize) -> String {
    let line = text::line(text, limit);
    let shown = pieces(&line).into_iter().map(|piece| match piece {
        Piece::Plain(plain) => html(plain),
        Piece::Code(code) => format!("<code>{}</code>", html(code)),
    });
    shown.collect()
}

/// A fenced block that `text` cannot close.
pub(super) fn fence(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}text\n{text}{end}{fence}\n")
}

/// `line` cut at its code spans.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let Some(end) = rest[start + 1..].find('`').map(|end| start + 1 + end) else { break };
        let inside = &rest[start + 1..end];
        if inside.trim().is_empty() {
            // Two backticks in a row quote nothing: a fence, or a longer delimiter. Leave all of
            // the run as text.
            let run = rest[start..].len() - rest[start..].trim_start_matches('`').len();
            let after = start + run.max(1);
            pieces.push(Piece::Plain(&rest[..after]));
            rest = &rest[after..];
            continue;
        }
        pieces.push(Piece::Plain(&rest[..start]));
        pieces.push(Piece::Code(inside));
        rest = &rest[end + 1..];
    }
    pieces.push(Piece::Plain(rest));
    pieces
}

/// A code span that shows exactly `text`, which has no line end.
fn span(text: &str) -> String {
    if text.trim().is_empty() {
        return "`(empty)`".to_owned();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn escape(text: &str, shown: &mut String) {
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied();
        match c {
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => {
                shown.push('\\');
                shown.push(c);
            }
            // Inside a word an underscore is an underscore.
            '_' if before.is_alphanumeric() && after.is_some_and(char::is_alphanumeric) => {
                shown.push(c);
            }
            '_' => shown.push_str("\\_"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            c => shown.push(c),
        }
        if is_reference(c, after) {
            shown.push_str("<!-- -->");
        }
        before = c;
    }
}

/// Whether a code host would call somebody (`@name`) or link an issue (`#12`).
fn is_reference(c: char, after: Option<char>) -> bool {
    match c {
        '@' => after.is_some_and(char::is_alphanumeric),
        '#' | '!' => after.is_some_and(|after| after.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "Use `db.Query(\"… $1\", id)` with user_id, as the docs say (see 3.1).";
        assert_eq!(prose(text, 200), text);
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(prose("<b>*x*</b> [a](b)", 200), "&lt;b&gt;\\*x\\*&lt;/b&gt; \\[a\\](b)");
        assert_eq!(prose("ask @team about #12", 200), "ask @<!-- -->team about #<!-- -->12");
        assert_eq!(prose("```\nfence", 200), "\\`\\`\\` fence");
        assert_eq!(prose("one ` alone", 200), "one \\` alone");
        assert_eq!(html("<a href=\"x\">"), "&lt;a href=&quot;x&quot;&gt;");
    }

    #[test]
    fn a_span_or_fence_cannot_be_closed_from_inside() {
        assert_eq!(code("a`b", 20), "``a`b``");
        assert_eq!(code("`a", 20), "`` `a ``");
        assert_eq!(fence("x\n````\ny"), "`````text\nx\n````\ny\n`````\n");
    }
}
