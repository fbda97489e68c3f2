//! What is assigned to a name, in any language, by the marks between them.
//!
//! There is no grammar here on purpose: the same code reads source, settings, shell history, logs
//! and prose, and what it hands on is judged by its value.

use std::ops::Range;

/// A name and the value beside it, as places in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    /// The name, such as `config.api_key`.
    pub(super) name: Range<usize>,
    /// The value without its quotes.
    pub(super) value: Range<usize>,
    /// Whether quotes or tags set the value apart.
    pub(super) quoted: bool,
}

/// The longest name and value that are looked at.
const NAME: usize = 96;
const VALUE: usize = 2048;

/// Reads around a word that stands at `word` for the name that it is part of and its value.
pub(super) fn assigned(text: &[u8], word: Range<usize>) -> Option<Assigned> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let before = text[word.start.saturating_sub(NAME)..word.start].iter().rev();
    let start = word.start - before.take_while(|&&byte| is_name(byte)).count();
    let after = text[word.end..].iter().take(NAME);
    let end = word.end + after.take_while(|&&byte| is_name(byte)).count();
    let mut reader = Reader { text, at: end };
    let quoted_name = start > 0 && is_quote(text[start - 1]);
    let marks = reader.skip_marks(start, quoted_name)?;
    let (value, quoted) = reader.value(marks)?;
    Some(Assigned { name: start..end, value, quoted })
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// An operator; the value may stand without quotes.
    Operator,
    /// The value must be in quotes.
    Call,
    /// An element's start tag.
    Tag,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, bytes: &[u8]) -> usize {
        let count = self.rest().iter().take_while(|byte| bytes.contains(byte)).count();
        self.at += count;
        count
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self
            .rest()
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
        if found {
            self.at += word.len();
        }
        found
    }

    /// Goes over the marks between name and value.
    fn skip_marks(&mut self, start: usize, quoted_name: bool) -> Option<Marks> {
        let spaced = b" \t";
        if self.peek() == Some(b'>') && start > 0 && self.text[start - 1] == b'<' {
            self.at += 1;
            self.skip(b" \t\r\n");
            return Some(Marks::Tag);
        }
        self.skip(b"\\\"'`");
        self.skip(b")]");
        if self.peek() == Some(b'[') {
            // `char key[] = …`, `key[32] = …`
            let closed = self.rest().iter().take(8).position(|&byte| byte == b']')?;
            self.at += closed + 1;
        }
        let spaces = self.skip(spaced);
        if spaces > 0 && quoted_name && self.skip_word("value") {
            self.skip(spaced);
            return (self.skip(b"=") == 1).then_some(Marks::Operator);
        }
        self.skip_type();
        if self.skip_operator() {
            self.skip(spaced);
            self.skip_wrapper();
            return Some(Marks::Operator);
        }
        match self.peek()? {
            b',' if quoted_name => {
                self.at += 1;
                self.skip(spaced);
                Some(Marks::Call)
            }
            b'(' if !self.is_read_by(start) => {
                self.at += 1;
                self.skip(spaced);
                Some(Marks::Call)
            }
            _ if spaces > 0 && self.follows_flag_or_definition(start) => Some(Marks::Operator),
            _ => None,
        }
    }

    /// `password.encode("utf-8")`: a method that reads what it is called on.
    fn is_read_by(&self, start: usize) -> bool {
        const READS: &[&str] = &[
            "encode",
            "decode",
            "get",
            "split",
            "replace",
            "startswith",
            "startsWith",
            "endswith",
            "endsWith",
            "format",
            "join",
            "strip",
            "rstrip",
            "lstrip",
            "find",
            "index",
            "indexOf",
            "count",
            "match",
            "matches",
            "includes",
            "contains",
            "pop",
            "read",
            "getBytes",
            "test",
        ];
        let name = self.text.get(start..self.at).unwrap_or_default();
        let method = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        method.len() < name.len() && READS.iter().any(|read| read.as_bytes() == method)
    }

    /// `: &str =`, `: string =`, `string =`: a type between the name and its operator.
    fn skip_type(&mut self) {
        let start = self.at;
        if self.skip(b":") == 1 {
            self.skip(b" \t");
        }
        let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_&'<>[]?.*|: \t".contains(byte);
        let length = self.rest().iter().take(40).take_while(|&byte| is_type(byte)).count();
        let typed = self.rest().get(..length).unwrap_or_default();
        let assigns = self.assigns_string(self.at + length);
        let opens = typed.contains(&b'<');
        let word = typed.iter().any(u8::is_ascii_alphabetic) && opens == typed.contains(&b'>');
        if assigns && word && length < 40 {
            self.at += length;
        } else {
            self.at = start;
        }
    }

    /// Whether `=` and a string stand here.
    fn assigns_string(&self, at: usize) -> bool {
        let mut ahead = Reader { text: self.text, at };
        let equals = ahead.skip(b"=") == 1;
        ahead.skip(b" \t");
        ahead.skip_wrapper();
        equals && ahead.peek().is_some_and(is_quote)
    }

    fn skip_operator(&mut self) -> bool {
        const OPERATORS: &[&str] = &[
            ":::=", "===", "!==", "||=", "??=", "::=", ":=", "=>", "->", "?=", "+=", ".=", "==",
            "!=", "=~", "||", "??", "=", ":", "or ",
        ];
        let found = OPERATORS.iter().find(|operator| self.rest().starts_with(operator.as_bytes()));
        if let Some(operator) = found {
            self.at += operator.len();
        }
        found.is_some()
    }

    /// A string's prefix, or a call that only turns text into another type of text.
    fn skip_wrapper(&mut self) {
        const WRAPPERS: &[&str] = &[
            "[]byte(",
            "String::from(",
            "Buffer.from(",
            "SecretString(",
            "str(",
            "String(",
            "@",
            "b",
            "r",
            "u",
            "L",
        ];
        for wrapper in WRAPPERS {
            let quote = self.text.get(self.at + wrapper.len());
            if self.rest().starts_with(wrapper.as_bytes()) && quote.copied().is_some_and(is_quote) {
                self.at += wrapper.len();
                return;
            }
        }
    }

    /// Whether the name is a command's flag, or defined by a word before it.
    fn follows_flag_or_definition(&self, start: usize) -> bool {
        let before = &self.text[start.saturating_sub(16)..start];
        let own = &self.text[start..self.at];
        let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        own.starts_with(b"-")
            || line.ends_with(b"-")
            || line.ends_with(b"#define ")
            || line.ends_with(b"ENV ")
            || line.ends_with(b"ARG ")
    }

    fn value(&mut self, marks: Marks) -> Option<(Range<usize>, bool)> {
        if marks == Marks::Tag {
            let length = self.rest().iter().take(VALUE).position(|&byte| byte == b'<')?;
            let raw = &self.rest()[..length];
            let trimmed = raw.trim_ascii_end().len();
            return Some((self.at..self.at + trimmed, true));
        }
        let escaped = self.rest().starts_with(b"\\\"") || self.rest().starts_with(b"\\'");
        self.at += usize::from(escaped);
        match self.peek()? {
            quote if is_quote(quote) => {
                self.at += 1;
                // A docstring's or a raw string's further quotes.
                self.skip(&[quote]);
                let length = closing(self.rest(), quote)?;
                let end = self.at + length - usize::from(escaped && length > 0);
                Some((self.at..end, true))
            }
            _ if marks == Marks::Call => None,
            _ => {
                let stops =
                    |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>,;(){}[]|\\&#".contains(byte);
                let length = self.rest().iter().take(VALUE).take_while(|&b| !stops(b)).count();
                let called = matches!(self.text.get(self.at + length), Some(b'(' | b'[' | b'{'));
                (length > 0 && !called).then_some((self.at..self.at + length, false))
            }
        }
    }
}

/// Where a string that was opened by `quote` ends, on the same line.
pub(super) fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut escaped = false;
    for (at, &byte) in text.iter().take(VALUE).enumerate() {
        match byte {
            b'\n' => return None,
            byte if byte == quote => return Some(at),
            b'\\' if !escaped => escaped = true,
            _ => escaped = false,
        }
    }
    None
}

/// The words of a name: `dbPassword2` and `db-password_2` are both `db`, `password`, `2`.
pub(super) fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = b'_';
    for (at, &byte) in name.iter().enumerate() {
        let starts = match byte {
            b'A'..=b'Z' => {
                !previous.is_ascii_uppercase()
                    || name.get(at + 1).is_some_and(u8::is_ascii_lowercase)
            }
            b'0'..=b'9' => !previous.is_ascii_digit(),
            _ => !previous.is_ascii_alphabetic(),
        };
        if byte.is_ascii_alphanumeric() {
            let letter = char::from(byte.to_ascii_lowercase());
            match words.last_mut() {
                Some(word) if !starts => word.push(letter),
                _ => words.push(letter.to_string()),
            }
        }
        previous = byte;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, word: &str) -> Option<(String, bool)> {
        let at = line.find(word).expect("the word is there");
        let found = assigned(line.as_bytes(), at..at + word.len())?;
        Some((line[found.value].to_owned(), found.quoted))
    }

    #[test]
    fn values_are_read_in_many_languages() {
        for line in [
            "api_key = \"V\"",
            "var apiKey string = \"V\"; api_key := `V`",
            "const API_KEY: &str = \"V\";api_key: \"V\"",
            "api_key: Option<String> = 'V'",
            "config[\"api_key\"] = 'V'",
            "{\"api_key\": \"V\"}",
            "'api_key' => 'V',",
            "setProperty(\"api_key\", \"V\")",
            "api_key(\"V\")",
            "<api_key>V</api_key>",
            "<api_key>\n  V\n</api_key>",
            "<add key=\"api_key\" value=\"V\"/>",
            "char api_key[] = \"V\";",
            "#define api_key \"V\"",
            "process.env.api_key || \"V\"",
            "api_key = []byte(\"V\")",
            "\"{\\\"api_key\\\": \\\"V\\\"}\"",
        ] {
            assert_eq!(read(line, "api_key"), Some(("V".to_owned(), true)), "{line}");
        }
        for line in ["api_key=V", "api_key: V", "--api_key V", "ENV api_key V", "?api_key=V&x=1"] {
            assert_eq!(read(line, "api_key"), Some(("V".to_owned(), false)), "{line}");
        }
    }

    #[test]
    fn expressions_are_no_values() {
        for line in
            ["api_key = load(x)", "api_key.", "the api_key of a user", "api_key)", "api_key"]
        {
            assert_eq!(read(line, "api_key"), None, "{line}");
        }
    }

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(words(b"dbPassword2"), ["db", "password", "2"]);
        assert_eq!(words(b"AWS_SECRET-key"), ["aws", "secret", "key"]);
        assert_eq!(words(b"APIKey"), ["api", "key"]);
    }
}
