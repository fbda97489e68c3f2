//! JSON with lines, comments and commas at the end, as package managers write it.

use super::ReadError;
use super::tree::{Lines, Node, Value};

/// How deep values may be nested.
const DEEPEST: usize = 200;

pub(super) fn parse(text: &str) -> Result<Node, ReadError> {
    let text_without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text: text_without_mark, at: 0, lines: Lines::of(text_without_mark) };
    let node = reader.value(0)?;
    reader.skip();
    if reader.at < reader.text.len() {
        return Err(reader.error("something follows the value"));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    lines: Lines,
}

impl Reader<'_> {
    fn error(&self, cause: &str) -> ReadError {
        let line = self.lines.line(self.at);
        ReadError { format: "JSON", cause: format!("line {line}: {cause}") }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes over space and comments.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += comment;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, ReadError> {
        if depth > DEEPEST {
            return Err(self.error("nested too deeply"));
        }
        self.skip();
        let line = self.lines.line(self.at);
        let value = match self.peek() {
            None => return Err(self.error("a value is missing")),
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => {
                let rest = &self.text[self.at..];
                let word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
                let scalar = &rest[..length];
                if !matches!(scalar, "true" | "false" | "null") && scalar.parse::<f64>().is_err() {
                    return Err(self.error("neither a value nor a number"));
                }
                self.at += length;
                Value::Scalar(scalar.to_owned())
            }
        };
        Ok(Node { line, value })
    }

    fn map(&mut self, depth: usize) -> Result<Value, ReadError> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Map(entries));
                }
                Some(b'"') => {
                    let line = self.lines.line(self.at);
                    let key = self.string()?;
                    self.skip();
                    if self.peek() != Some(b':') {
                        return Err(self.error("a colon is missing"));
                    }
                    self.at += 1;
                    let value = self.value(depth + 1)?.value;
                    entries.push((key, Node { line, value }));
                }
                _ => return Err(self.error("a name in quotes is missing")),
            }
            self.comma(b'}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, ReadError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Value::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.comma(b']')?;
        }
    }

    /// A comma, or the end that makes it unnecessary.
    fn comma(&mut self, end: u8) -> Result<(), ReadError> {
        self.skip();
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(byte) if byte == end => {}
            _ => return Err(self.error("a comma is missing")),
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, ReadError> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.text.as_bytes()[start + 1..].iter().enumerate() {
            match byte {
                b'"' if !escaped => {
                    self.at = start + offset + 2;
                    let quoted = &self.text[start..self.at];
                    return serde_json::from_str(quoted)
                        .map_err(|_| self.error("a text has an unknown escape"));
                }
                b'\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        Err(self.error("a text does not end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let node =
            parse("{\n  // c\n  \"a\": {\"b\": [1,\n \"x\\u0041\",]},\n}\n").expect("it parses");
        let list = node.at(&["a", "b"]).expect("a list");
        assert_eq!((list.line, list.items()[1].line), (3, 4));
        assert_eq!(list.items()[1].text(), Some("xA"));
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let deep = "[".repeat(100_000);
        for text in ["", "this is not json", "{", "{\"a\"}", "[1 2]", "\"a", "{} x", &deep] {
            assert!(parse(text).is_err(), "{text:.20}");
        }
    }
}
