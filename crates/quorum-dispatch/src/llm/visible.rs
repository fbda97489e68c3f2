//! Characters that nobody sees, made visible.
//!
//! A reviewer that reads another text than a compiler does can be deceived: by characters that turn
//! the order of others around, that take no room, or that a terminal obeys.

use std::borrow::Cow;
use std::fmt::Write as _;

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

/// `text` without these characters: what somebody meant who hid words with them.
pub(crate) fn without_hidden(text: &str) -> String {
    text.chars().filter(|&character| !is_hidden(character)).collect()
}

/// Whether `text` holds characters that reorder others or carry hidden text.
pub(crate) fn deceives(text: &str) -> bool {
    text.chars().any(|character| is_bidirectional(character) || is_tag(character))
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

fn is_bidirectional(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_characters_are_shown_and_others_stay() {
        assert_eq!(visible("a\u{202e}b\u{200b}\tc\u{7}"), "a⟨U+202E⟩b⟨U+200B⟩\tc⟨U+0007⟩");
        assert_eq!(visible("größe 日本 🦀"), "größe 日本 🦀");
        assert!(deceives("x\u{2066}y") && !deceives("größe"));
        assert_eq!(without_hidden("ig\u{200b}nore"), "ignore");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text: String) {
            prop_assert!(!visible(&text).chars().any(is_hidden));
        }
    }
}
