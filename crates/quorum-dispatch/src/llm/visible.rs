//! Characters that nobody sees, made visible.
//!
//! A reviewer that reads another text than a compiler does can be deceived: by characters that turn
//! the order of others around, that take no room, or that a terminal obeys.

use std::borrow::Cow;
use std::fmt::Write as _;

use quorum_rules::injection::{is_bidirectional, is_tag};

/// `text` with every such character written as `⟨U+202E⟩`; tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a string cannot fail.
            _ = write!(shown, "⟨U+{:04X}⟩", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(character: char) -> bool {
    (character.is_control() && character != '\t')
        || is_bidirectional(character)
        || is_tag(character)
        || matches!(
            character,
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}'
            | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{115f}' | '\u{1160}' | '\u{3164}'
            | '\u{e0100}'..='\u{e01ef}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_characters_are_shown_and_others_stay() {
        assert_eq!(visible("a\u{202e}b\u{200b}\tc\u{7}"), "a⟨U+202E⟩b⟨U+200B⟩\tc⟨U+0007⟩");
        assert_eq!(visible("größe 日本 🦀"), "größe 日本 🦀");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text: String) {
            prop_assert!(!visible(&text).chars().any(is_hidden));
        }
    }
}
