//! Path names as git quotes them.

use bstr::BString;

/// Reads a name in double quotes at the start of `text`, with C escapes; returns the name and what
/// follows the closing quote. Absent when `text` does not start with a well-formed quoted name.
pub fn unquote(text: &[u8]) -> Option<(BString, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = BString::default();
    loop {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (byte, tail) = unescape(rest)?;
                name.push(byte);
                rest = tail;
            }
            other => name.push(other),
        }
    }
}

/// Reads what follows a backslash.
fn unescape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&byte, rest) = text.split_first()?;
    let plain = match byte {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'"' => b'"',
        b'\\' => b'\\',
        b'0'..=b'3' => {
            let digits = text.get(..3)?;
            if !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
                return None;
            }
            let value = digits.iter().fold(0u8, |value, digit| value * 8 + (digit - b'0'));
            return Some((value, &text[3..]));
        }
        _ => return None,
    };
    Some((plain, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_git_quotes() {
        let cases: [(&str, &[u8]); 4] = [
            (r#""plain""#, b"plain"),
            (r#""caf\303\251.txt""#, "café.txt".as_bytes()),
            (r#""tab\there \"quoted\" back\\slash""#, b"tab\there \"quoted\" back\\slash"),
            (r#""\377\001""#, b"\xff\x01"),
        ];
        for (quoted, name) in cases {
            let (read, rest) = unquote(quoted.as_bytes()).expect("it is well formed");
            assert_eq!(read, name);
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn malformed_names_are_refused() {
        for text in ["", "plain", "\"open", "\"\\", "\"\\9\"", "\"\\40\"", "\"\\488\""] {
            assert_eq!(unquote(text.as_bytes()), None, "{text:?}");
        }
    }
}
