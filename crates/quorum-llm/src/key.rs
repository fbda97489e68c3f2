//! Keys, and how not to show them.

use std::fmt;

/// A key to a provider. No way of printing shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Takes a key; absent when it is empty or cannot be sent in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        sendable.then(|| Self(text.to_owned()))
    }

    /// The key itself, for the one header that it belongs in.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that a server wrote: it may repeat what it was sent.
    pub fn redact(&self, text: &str) -> String {
        // A short key would take ordinary words with it.
        if self.0.len() < 8 { text.to_owned() } else { text.replace(&self.0, "[redacted]") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = Key::new(" sk-verysecret \n").expect("it can be sent");
        assert_eq!(format!("{key:?}"), "Key(…)");
        assert_eq!(key.expose(), "sk-verysecret");
        assert_eq!(key.redact("bad key sk-verysecret"), "bad key [redacted]");
    }

    #[test]
    fn what_cannot_stand_in_a_header_is_no_key() {
        for text in ["", "  ", "a\nb", "schlüssel"] {
            assert_eq!(Key::new(text), None, "{text:?}");
        }
    }
}
