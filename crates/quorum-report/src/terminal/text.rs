//! Text from strangers, made safe and made to fit.

use std::fmt::Write as _;

use crate::text::is_hidden;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// One line that shows what is in `text`, in at most `most` columns.
///
/// Line breaks and tabs become spaces; what a terminal would act on is written out.
pub(super) fn line(text: &str, most: usize, ellipsis: &str) -> String {
    let room = most.saturating_sub(width(ellipsis));
    let (mut shown, mut taken, mut fitting) = (String::new(), 0, 0);
    for c in text.trim().chars() {
        let before = shown.len();
        push(&mut shown, c);
        taken += shown[before..].width();
        if taken <= room {
            fitting = shown.len();
        } else if taken > most {
            shown.truncate(fitting);
            shown.push_str(ellipsis);
            return shown;
        }
    }
    shown
}

/// The end of a path, which tells more than its beginning, in at most `most` columns.
pub(super) fn path(path: &str, most: usize, ellipsis: &str) -> String {
    // A character takes a column or more, or is written out: no more than these can be shown.
    let end: Vec<char> = path.chars().rev().take(most + 1).collect();
    let whole = line(&end.into_iter().rev().collect::<String>(), usize::MAX, ellipsis);
    if width(&whole) <= most {
        return whole;
    }
    let room = most.saturating_sub(width(ellipsis));
    let (mut start, mut taken) = (whole.len(), 0);
    for (index, c) in whole.char_indices().rev() {
        taken += c.width().unwrap_or(0);
        if taken > room {
            break;
        }
        start = index;
    }
    format!("{ellipsis}{}", &whole[start..])
}

/// Lines of at most `columns`, broken at spaces where there are some; no more than `most` lines.
pub(super) fn wrap(text: &str, columns: usize, most: usize, ellipsis: &str) -> Vec<String> {
    // More than can be shown need not be looked at.
    let text: String = text.chars().take(columns.saturating_mul(most + 1)).collect();
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in text.split_whitespace() {
        let word = line(word, usize::MAX, ellipsis);
        let space = usize::from(!current.is_empty());
        if width(&current) + space + width(&word) <= columns {
            current.extend(std::iter::repeat_n(' ', space));
            current.push_str(&word);
            continue;
        }
        if !current.is_empty() {
            lines.push(std::mem::take(&mut current));
        }
        current = word;
        while width(&current) > columns {
            let cut = cut_at(&current, columns);
            let rest = current.split_off(cut);
            lines.push(std::mem::replace(&mut current, rest));
        }
    }
    if !current.is_empty() {
        lines.push(current);
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = line(&format!("{last} {ellipsis}"), columns, ellipsis);
        }
    }
    lines
}

/// The byte at which a text is `columns` wide; at least one character in.
fn cut_at(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    for (index, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > columns && index > 0 {
            return index;
        }
    }
    text.len()
}

/// A line of code in at most `most` columns; its indentation stays.
pub(super) fn code(text: &str, most: usize, ellipsis: &str) -> String {
    let indent = text.len() - text.trim_start().len();
    let columns: usize = text[..indent].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let columns = columns.min(most / 2);
    format!("{}{}", " ".repeat(columns), line(text, most - columns, ellipsis))
}

/// Appends a character as it can be shown.
fn push(shown: &mut String, c: char) {
    match c {
        '\n' | '\r' | '\t' => shown.push(' '),
        c if is_hidden(c) => {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", c.escape_unicode());
        }
        c => shown.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_written_out() {
        assert_eq!(line("a\x1b[31mb", 80, "…"), r"a\u{1b}[31mb");
        assert_eq!(line("x\u{202e}y\u{200b}", 80, "…"), r"x\u{202e}y\u{200b}");
        assert_eq!(line("one\ntwo\tthree\u{9b}", 80, "…"), r"one two three\u{9b}");
    }

    #[test]
    fn lines_are_cut_by_columns_not_by_characters() {
        assert_eq!(line("abcdef", 6, "…"), "abcdef");
        assert_eq!(line("abcdefg", 6, "…"), "abcde…");
        assert_eq!(line("日本語テスト", 7, "…"), "日本語…");
        assert_eq!(line("abcdefg", 6, "..."), "abc...");
        let long = "x".repeat(1 << 20);
        assert_eq!(width(&line(&long, 80, "…")), 80);
    }

    #[test]
    fn paths_keep_their_end() {
        assert_eq!(path("src/auth/worker.go", 11, "…"), "…/worker.go");
        assert_eq!(path("a.go", 11, "…"), "a.go");
    }

    #[test]
    fn texts_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7, 9, "…"), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4, 9, "…"), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("one two three four", 7, 1, "…"), ["one tw…"]);
        assert!(wrap("  ", 7, 9, "…").is_empty());
    }

    #[test]
    fn code_keeps_its_indentation() {
        assert_eq!(code("\tif x {", 20, "…"), "    if x {");
        assert_eq!(width(&code(&" ".repeat(500), 20, "…")), 10);
    }
}
