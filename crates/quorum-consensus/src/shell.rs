//! Words that a shell reads back as they are.

use std::fmt::Write as _;

/// `word` as one word of a shell command.
///
/// Characters that no terminal shows as they are, or that change the direction of reading, are
/// written out in `$'…'`.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(is_invisible) {
        let mut quoted = String::from("$'");
        for byte in word.bytes() {
            match byte {
                b'\'' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                b' '..=b'~' => quoted.push(char::from(byte)),
                byte => {
                    // Writing to a string cannot fail.
                    let _ = write!(quoted, "\\x{byte:02x}");
                }
            }
        }
        quoted.push('\'');
        return quoted;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// `word` as the name of a file in a command: one that starts with `-` is no option.
pub(crate) fn quote_path(path: &str) -> String {
    if path.starts_with('-') { quote(&format!("./{path}")) } else { quote(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        let cases = [
            ("src/worker.go", "src/worker.go"),
            ("a b.go", "'a b.go'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("", "''"),
            ("a\nb'\\", r"$'a\x0ab\'\\'"),
            ("ü", "'ü'"),
            ("a\u{202e}b", r"$'a\xe2\x80\xaeb'"),
        ];
        for (word, quoted) in cases {
            assert_eq!(quote(word), quoted);
        }
        assert_eq!(quote_path("-rf"), "./-rf");
    }
}
