//! Languages that are read line by line.

mod dockerfile;
mod markdown;
mod sql;
mod toml;

use quorum_model::symbol::{SymbolKind, Visibility};

pub(super) use dockerfile::dockerfile;
pub(super) use markdown::markdown;
pub(super) use sql::sql;
pub(super) use toml::toml;

use super::Declaration;

/// As much of a line as becomes a signature.
const LONGEST: usize = 200;

/// A declaration that starts and, for now, ends on `line`.
fn declaration(name: &str, kind: SymbolKind, line: u32, signature: &str) -> Declaration {
    let cut = |text: &str| text[..text.floor_char_boundary(LONGEST)].to_owned();
    Declaration {
        name: cut(name),
        kind,
        parent: None,
        scope: None,
        signature: cut(signature.trim()),
        doc: None,
        doc_lines: None,
        visibility: Visibility::Public,
        line,
        start_line: line,
        end_line: line,
    }
}

/// The lines of a text with their numbers; what is not UTF-8 is read as replacement characters.
fn lines(source: &[u8]) -> impl Iterator<Item = (u32, std::borrow::Cow<'_, str>)> {
    let lines = source.split(|&byte| byte == b'\n');
    (1..).zip(lines.map(|line| String::from_utf8_lossy(line.trim_ascii_end())))
}

/// How many lines there are.
fn count(source: &[u8]) -> u32 {
    let feeds = memchr::memchr_iter(b'\n', source).count();
    let last = usize::from(!source.ends_with(b"\n") && !source.is_empty());
    u32::try_from(feeds + last).unwrap_or(u32::MAX)
}

/// Lets each declaration reach to the line before the next one, and the last to the end.
fn reach_to_next(declarations: &mut [Declaration], last_line: u32) {
    let starts: Vec<u32> = declarations.iter().map(|found| found.start_line).collect();
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([last_line]);
    for (found, end) in declarations.iter_mut().zip(ends) {
        found.end_line = end.max(found.start_line);
    }
}
