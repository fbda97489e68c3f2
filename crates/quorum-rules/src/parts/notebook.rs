//! Notebooks: the code of their cells, with the lines of the JSON on which it stands.
//!
//! The reader takes what is there, also where it is not quite JSON: what a notebook's own program
//! opens is not for us to refuse. What it does not understand it says.

use quorum_syntax::Lang;

use super::{ByLanguage, Code, Origin};

/// A cell that holds code.
#[derive(Clone, Debug, Default)]
struct Cell {
    is_code: bool,
    /// Lines with the line of the file that each begins on.
    lines: Vec<(String, u64)>,
    /// Whether the last line has its end.
    ended: bool,
}

impl Cell {
    /// Adds a piece of the source, which begins on this line of the file.
    fn add(&mut self, piece: &str, line: u64) {
        let mut rest = piece;
        loop {
            let (text, more) = match rest.split_once('\n') {
                Some((text, more)) => (text, Some(more)),
                None => (rest, None),
            };
            match self.lines.last_mut() {
                Some((last, _)) if !self.ended => last.push_str(text),
                _ if more.is_none() && text.is_empty() => return,
                _ => self.lines.push((text.to_owned(), line)),
            }
            self.ended = more.is_some();
            match more {
                Some(more) => rest = more,
                None => return,
            }
        }
    }
}

/// A line of a cell, and where it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellLine {
    /// The line of the file that it begins on.
    pub line: u64,
    /// The cell, from 1.
    pub cell: u64,
    /// Whether the cell holds code, and not prose.
    pub is_code: bool,
    /// The line, without its end.
    pub text: String,
}

/// The lines of all cells of a notebook, in the order of the file.
pub fn cell_lines(text: &str) -> Vec<CellLine> {
    let cells = Reader::read(text).cells;
    let lines = (1..).zip(cells).flat_map(|(cell, found)| {
        let is_code = found.is_code;
        let lines = found.lines.into_iter();
        lines.map(move |(text, line)| CellLine { line, cell, is_code, text })
    });
    lines.collect()
}

/// The first line of a notebook that is not the JSON of one; absent where all of it is.
pub(super) fn broken(text: &str) -> Option<u64> {
    Reader::read(text).broken
}

/// The code of a notebook, by language. Cells of one language follow each other as in one program.
pub(super) fn split(text: &str) -> ByLanguage {
    let read = Reader::read(text);
    let kernel = read.language.as_deref().unwrap_or("python");
    let kernel = if kernel.eq_ignore_ascii_case("ipython") { "python" } else { kernel };
    let mut all: ByLanguage = Vec::new();
    for (number, cell) in (1..).zip(&read.cells).filter(|(_, cell)| cell.is_code) {
        let (lang, skip) = language(cell, kernel);
        let Some(lang) = lang else { continue };
        let known = all.iter().position(|(known, _)| *known == lang);
        let at = known.unwrap_or_else(|| {
            all.push((lang, Code::default()));
            all.len() - 1
        });
        for (line, place) in cell.lines.iter().skip(usize::from(skip)) {
            let origin = Origin { line: *place, cell: Some(number) };
            let line = if lang == Lang::Python { without_magic(line) } else { line.clone() };
            all[at].1.push(&line, origin);
        }
    }
    all
}

/// The language of a cell, and whether its first line only says so.
fn language(cell: &Cell, kernel: &str) -> (Option<Lang>, bool) {
    const SAME: [&str; 6] = ["time", "timeit", "capture", "prun", "debug", "python3"];
    let first = cell.lines.first().map(|(line, _)| line.trim()).unwrap_or_default();
    let Some(magic) = first.strip_prefix("%%") else { return (Lang::from_name(kernel), false) };
    let mut words = magic.split_whitespace();
    let name = words.next().unwrap_or_default();
    if SAME.contains(&name) {
        return (Lang::from_name(kernel), true);
    }
    let named = match name {
        "script" => words.next().unwrap_or_default(),
        "writefile" | "file" => {
            return (words.last().and_then(Lang::from_path), true);
        }
        name => name,
    };
    (Lang::from_name(named), true)
}

/// A line of Python without what only the notebook's shell understands.
fn without_magic(line: &str) -> String {
    let code = line.trim_start();
    let indentation = &line[..line.len() - code.len()];
    let is_help =
        (code.ends_with('?') || code.starts_with('?')) && !code.contains(['\'', '"', '#']);
    if let Some(magic) = code.strip_prefix('%') {
        let (name, rest) = magic.split_once(' ').unwrap_or((magic, ""));
        let measured = matches!(name, "time" | "timeit" | "prun") && !rest.trim().starts_with('-');
        let rest = if measured { rest.trim() } else { "" };
        return format!("{indentation}{}", if rest.is_empty() { "pass" } else { rest });
    }
    if code.starts_with('!') || is_help {
        return format!("{indentation}pass");
    }
    // `files = !ls` and `took = %timeit -o f()` give a value that nobody knows here.
    if let Some((target, value)) = code.split_once('=') {
        let value = value.trim_start();
        let is_target = target.trim().chars().all(|c| c.is_alphanumeric() || "_, ".contains(c));
        let is_magic = value.starts_with('!') && !value.starts_with("!=");
        if is_target && (is_magic || value.starts_with('%')) {
            return format!("{indentation}{target}= None");
        }
    }
    line.to_owned()
}

/// Reads what matters of a notebook's JSON, with lines, which a parser for values does not keep.
#[derive(Default)]
struct Reader {
    cells: Vec<Cell>,
    language: Option<String>,
    /// The first line that is not JSON.
    broken: Option<u64>,
    /// The number of cells before the list that is open, where there are several.
    before: usize,
    /// Whether there is a list of cells.
    has_cells: bool,
}

/// An object or a list that is open, with the key that was read last.
struct Open {
    is_object: bool,
    key: String,
    count: usize,
}

impl Reader {
    fn read(text: &str) -> Self {
        let mut reader = Self::default();
        let mut stack: Vec<Open> = Vec::new();
        let bytes = text.as_bytes();
        let (mut at, mut line) = (0, 1);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\n' => line += 1,
                b'{' | b'[' => {
                    if byte == b'[' && stack.last().is_some_and(|open| open.key == "cells") {
                        reader.before = reader.cells.len();
                        reader.has_cells = true;
                    }
                    stack.push(Open { is_object: byte == b'{', key: String::new(), count: 0 });
                }
                b'}' | b']' => {
                    let open = stack.pop();
                    if open.is_none_or(|open| open.is_object != (byte == b'}')) {
                        reader.breaks(line);
                    }
                }
                b',' => {
                    if let Some(open) = stack.last_mut() {
                        open.count += 1;
                    }
                }
                b'"' => {
                    let end = string_end(bytes, at);
                    let raw = text.get(at..end).unwrap_or_default();
                    let value: String = serde_json::from_str(raw).unwrap_or_else(|_| {
                        reader.breaks(line);
                        raw.trim_matches('"').to_owned()
                    });
                    let after = bytes.get(end..).unwrap_or_default();
                    let is_key =
                        after.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                    match stack.last_mut() {
                        Some(open) if open.is_object && is_key => open.key = value,
                        _ => reader.take(&stack, &value, line),
                    }
                    line += raw.bytes().filter(|byte| *byte == b'\n').count() as u64;
                    at = end;
                    continue;
                }
                b':' | b' ' | b'\t' | b'\r' => {}
                _ => {
                    let end = word_end(bytes, at);
                    if !is_value(&text.as_bytes()[at..end]) {
                        reader.breaks(line);
                    }
                    at = end;
                    continue;
                }
            }
            at += 1;
        }
        if !stack.is_empty() || !reader.has_cells {
            reader.breaks(line);
        }
        reader
    }

    fn breaks(&mut self, line: u64) {
        self.broken.get_or_insert(line);
    }

    fn take(&mut self, stack: &[Open], value: &str, line: u64) {
        let key = |at: usize| stack.get(at).map_or("", |open| open.key.as_str());
        // Before their fourth format, notebooks had worksheets around the cells.
        let top = if key(0) == "worksheets" { 2 } else { 0 };
        match (key(top), key(1)) {
            ("cells", _) if stack.len() >= top + 3 => {
                let number = self.before + stack.get(top + 1).map_or(0, |open| open.count);
                // A notebook has at most as many cells as it has characters.
                while self.cells.len() <= number {
                    self.cells.push(Cell::default());
                }
                let Some(cell) = self.cells.get_mut(number) else { return };
                match (key(top + 2), stack.len() - top) {
                    ("cell_type", 3) => cell.is_code = value == "code",
                    ("source" | "input", 3 | 4) => cell.add(value, line),
                    _ => {}
                }
            }
            ("metadata", "kernelspec") if key(2) == "language" => {
                self.language = Some(value.to_owned());
            }
            ("metadata", "language_info") if key(2) == "name" && self.language.is_none() => {
                self.language = Some(value.to_owned());
            }
            _ => {}
        }
    }
}

/// The byte after a word that begins at `at`.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"{}[],:\"".contains(byte);
    let rest = bytes.get(at..).unwrap_or_default();
    (at + rest.iter().position(ends).unwrap_or(rest.len())).max(at + 1).min(bytes.len())
}

/// Whether a word is a number or one of the words that Python's JSON knows.
fn is_value(word: &[u8]) -> bool {
    let words: [&[u8]; 6] = [b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity"];
    words.contains(&word)
        || word.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}

/// The byte after a string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'"' => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}
