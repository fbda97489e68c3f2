//! Java's escapes, which are replaced before anything else is read: `\u000a` in a comment ends it.

use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    Line,
    Block,
    Quote(char),
    /// A text of several lines, between three quotes.
    Text,
}

struct Letter {
    value: char,
    escaped: bool,
}

/// `text` as the compiler sees it, where an escape stands for anything but part of a literal or of
/// a comment.
pub(super) fn resolve(path: &str, text: &[u8]) -> Option<String> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    if !ending.eq_ignore_ascii_case("java") || memchr::memmem::find(text, b"\\u").is_none() {
        return None;
    }
    let text: Cow<'_, str> = String::from_utf8_lossy(text);
    let letters = letters(&text);
    is_more_than_a_literal(&letters).then(|| letters.iter().map(|letter| letter.value).collect())
}

/// The characters after replacement. A backslash after another one starts no escape.
fn letters(text: &str) -> Vec<Letter> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    let mut after_backslash = false;
    while let Some(value) = rest.next() {
        if value == '\\' && !after_backslash {
            let mut ahead = rest.clone();
            let mut next = ahead.next();
            let marked = next == Some('u');
            while next == Some('u') {
                next = ahead.next();
            }
            let digits = [next, ahead.next(), ahead.next(), ahead.next()];
            let code = digits.iter().try_fold(0, |code, digit| {
                Some(code * 16 + digit.and_then(|digit| digit.to_digit(16))?)
            });
            if let Some(code) = code.filter(|_| marked) {
                // Half of a character beyond the first plane is no character alone.
                let value = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                found.push(Letter { value, escaped: true });
                rest = ahead;
                continue;
            }
        }
        after_backslash = value == '\\' && !after_backslash;
        found.push(Letter { value, escaped: false });
    }
    found
}

/// Whether an escape is code, or begins or ends a comment or a literal.
fn is_more_than_a_literal(letters: &[Letter]) -> bool {
    let at = |index: usize| letters.get(index).map(|letter| letter.value);
    let mut state = State::Code;
    let mut index = 0;
    while let Some(letter) = letters.get(index) {
        let (value, next) = (letter.value, at(index + 1));
        let three = value == '"' && next == Some('"') && at(index + 2) == Some('"');
        let (after, taken) = match (state, value) {
            (State::Code, '/') if next == Some('/') => (State::Line, 2),
            (State::Code, '/') if next == Some('*') => (State::Block, 2),
            (State::Code, '"') if three => (State::Text, 3),
            (State::Code, '"' | '\'') => (State::Quote(value), 1),
            (State::Line | State::Quote(_), '\n' | '\r') => (State::Code, 1),
            (State::Block, '*') if next == Some('/') => (State::Code, 2),
            (State::Text, '"') if three => (State::Code, 3),
            (State::Quote(quote), _) if quote == value => (State::Code, 1),
            (State::Quote(_) | State::Text, '\\') => (state, 2),
            (same, _) => (same, 1),
        };
        let escaped = letters.iter().skip(index).take(taken).any(|letter| letter.escaped);
        if escaped && (state == State::Code || after != state) {
            return true;
        }
        state = after;
        index += taken;
    }
    false
}
