//! SQL: statements that create something, in any dialect.

use quorum_model::symbol::SymbolKind;

use super::{count, declaration};
use crate::outline::{Declaration, Outline};

/// Words between `CREATE` and what is created.
const BETWEEN: [&str; 16] = [
    "or",
    "replace",
    "alter",
    "temp",
    "temporary",
    "unlogged",
    "global",
    "local",
    "external",
    "materialized",
    "unique",
    "recursive",
    "virtual",
    "force",
    "definer",
    "concurrently",
];

/// What statements create.
pub(crate) fn sql(source: &[u8]) -> Outline {
    let mut outline = Outline::default();
    let mut reader = Reader { source, at: 0, line: 1 };
    let mut open: Option<Declaration> = None;
    let mut words: Vec<String> = Vec::new();
    let mut start = (1, 0);
    while let Some(token) = reader.next() {
        match token {
            Token::End => {
                if let Some(mut found) = open.take() {
                    found.end_line = reader.line;
                    outline.declarations.push(found);
                }
                words.clear();
            }
            Token::Word { text, line, at } if open.is_none() && words.len() < 16 => {
                if words.is_empty() {
                    start = (line, at);
                }
                words.push(text);
                if let Some((kind, name)) = created(&words) {
                    let head = String::from_utf8_lossy(&source[start.1..reader.at]);
                    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
                    let mut found = declaration(&name, kind, line, &head);
                    found.start_line = start.0;
                    open = Some(found);
                }
            }
            Token::Word { .. } => {}
        }
    }
    if let Some(mut found) = open {
        found.end_line = count(source).max(found.start_line);
        outline.declarations.push(found);
    }
    outline
}

/// What the first words of a statement create, once its name is among them.
fn created(words: &[String]) -> Option<(SymbolKind, String)> {
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    if lower.first()? != "create" {
        return None;
    }
    let mut rest =
        lower.iter().zip(words).skip(1).skip_while(|(word, _)| BETWEEN.contains(&word.as_str()));
    let (what, _) = rest.next()?;
    let kind = match what.as_str() {
        "table" | "view" | "index" | "sequence" => SymbolKind::Table,
        "function" | "procedure" | "trigger" | "macro" => SymbolKind::Function,
        "type" | "domain" => SymbolKind::Type,
        "schema" | "database" => SymbolKind::Module,
        _ => return None,
    };
    let skip = ["if", "not", "exists", "concurrently"];
    let (_, name) = rest.find(|(word, _)| !skip.contains(&word.as_str()))?;
    let name = name.rsplit('.').next().unwrap_or(name);
    let name = name.trim_matches(['"', '`', '[', ']']);
    (!name.is_empty()).then(|| (kind, name.to_owned()))
}

enum Token {
    Word {
        text: String,
        line: u32,
        at: usize,
    },
    /// The end of a statement.
    End,
}

/// Reads words and ends of statements; comments and strings are skipped.
struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    line: u32,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = self.source.get(self.at..)?;
            let first = *rest.first()?;
            if rest.starts_with(b"--") {
                self.skip(rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()));
            } else if rest.starts_with(b"/*") {
                self.skip(after(&rest[2..], b"*/") + 2);
            } else if first == b'\'' {
                self.skip(after(&rest[1..], b"'") + 1);
            } else if first == b'$' {
                let end = rest[1..].iter().position(|&byte| !is_word(byte)).unwrap_or_default();
                let tag = rest.get(..end + 2).filter(|tag| tag.ends_with(b"$"));
                match tag {
                    Some(tag) => self.skip(after(&rest[tag.len()..], tag) + tag.len()),
                    None => self.skip(1),
                }
            } else if first == b';' {
                self.skip(1);
                return Some(Token::End);
            } else if is_word(first) || matches!(first, b'"' | b'`' | b'[') {
                let length = word_length(rest);
                let (line, at) = (self.line, self.at);
                let text = String::from_utf8_lossy(&rest[..length]).into_owned();
                self.skip(length);
                return Some(Token::Word { text, line, at });
            } else {
                self.skip(1);
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.at + bytes.max(1)).min(self.source.len());
        let feeds = memchr::memchr_iter(b'\n', &self.source[self.at..end]).count();
        self.line = self.line.saturating_add(u32::try_from(feeds).unwrap_or(u32::MAX));
        self.at = end;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A name with its quotes and the names that qualify it.
fn word_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let close = match byte {
            b'"' | b'`' => Some(byte),
            b'[' => Some(b']'),
            _ => None,
        };
        if let Some(close) = close {
            at += 1 + after(&text[at + 1..], &[close]);
        } else if is_word(byte) || (byte == b'.' && at > 0) {
            at += 1;
        } else {
            break;
        }
    }
    at.clamp(1, text.len())
}

/// The length of `text` up to and with `end`; all of it where that does not come.
fn after(text: &[u8], end: &[u8]) -> usize {
    let found = text.windows(end.len().max(1)).position(|window| window == end);
    found.map_or(text.len(), |index| index + end.len())
}
