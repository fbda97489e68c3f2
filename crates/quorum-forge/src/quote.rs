//! File names as Git writes them.

use std::fmt::Write as _;

/// Quotes a name the way Git does with `core.quotePath`: only if it holds a control character, a
/// quote, a backslash, or a byte outside ASCII.
pub(crate) fn quote(name: &str) -> String {
    if !name.bytes().any(is_special) {
        return name.to_owned();
    }
    let mut quoted = String::with_capacity(name.len() + 8);
    quoted.push('"');
    for byte in name.bytes() {
        match byte {
            0x07 => quoted.push_str("\\a"),
            0x08 => quoted.push_str("\\b"),
            b'\t' => quoted.push_str("\\t"),
            b'\n' => quoted.push_str("\\n"),
            0x0b => quoted.push_str("\\v"),
            0x0c => quoted.push_str("\\f"),
            b'\r' => quoted.push_str("\\r"),
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            _ if is_special(byte) => {
                write!(quoted, "\\{byte:03o}").expect("writing to a string cannot fail");
            }
            _ => quoted.push(char::from(byte)),
        }
    }
    quoted.push('"');
    quoted
}

fn is_special(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte) || matches!(byte, b'"' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(quote("a/src/with space.rs"), "a/src/with space.rs");
        assert_eq!(quote("a/it's {$HOME}"), "a/it's {$HOME}");
    }

    #[test]
    fn special_bytes_are_escaped_as_git_does() {
        assert_eq!(quote("a/f\u{f6}o"), r#""a/f\303\266o""#);
        assert_eq!(quote("a\"b\\c"), r#""a\"b\\c""#);
        assert_eq!(quote("\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1}\u{7f}"), r#""\a\b\t\n\v\f\r\001\177""#);
    }
}
