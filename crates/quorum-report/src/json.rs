//! The result document, and JSON in general. The document's schema is `schemas/result.json`.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use crate::report::Report;
use crate::text;

/// The result as JSON, as `result.json` has it.
pub fn render(report: &Report<'_>) -> String {
    pretty(report.result)
}

/// `value` on many lines.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    // Documents are plain data, with strings as keys: nothing can fail.
    let mut text = inert(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned();
    text.push('\n');
    text
}

/// `value` on one line, with its end.
pub(crate) fn line(value: &impl Serialize) -> String {
    let mut text = inert(&serde_json::to_string(value).unwrap_or_default()).into_owned();
    text.push('\n');
    text
}

/// The same JSON with everything escaped that would act on a terminal or hide from a reader. Outside
/// of strings JSON has no such characters.
fn inert(json: &str) -> Cow<'_, str> {
    if !json.contains(text::is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if text::is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_read_back() {
        let text = "a\u{9b}31m\u{202e}b\u{e0041}\u{1b}";
        let json = line(&text);
        assert_eq!(json, "\"a\\u009b31m\\u202eb\\udb40\\udc41\\u001b\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
    }
}
