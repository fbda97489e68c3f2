//! Code inside files of another kind: the cells of notebooks, the scripts of pages.
//!
//! Each language of such a file becomes one text that is reviewed like any other; every line of it
//! knows the line of the file on which it stands.

pub(crate) mod notebook;
mod script;

use std::sync::Arc;

use quorum_model::scope::FileKind;
use quorum_syntax::Lang;

use crate::finding::RuleFinding;
use crate::review::{Limit, Limited};
use crate::source::{LineSet, ParsedFile, SourceFile};

/// Where a line of code stands in the file that it was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    /// The line.
    line: u64,
    /// The cell of a notebook, from 1.
    cell: Option<u64>,
}

/// Code of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Code {
    text: String,
    origins: Vec<Origin>,
}

impl Code {
    fn push(&mut self, line: &str, origin: Origin) {
        self.text.push_str(line);
        self.text.push('\n');
        self.origins.push(origin);
    }
}

/// The code in one version of a file, by language.
type ByLanguage = Vec<(Lang, Code)>;

/// A part of a file that is reviewed as a file of its own.
pub(crate) struct Part {
    pub(crate) file: ParsedFile,
    origins: Vec<Origin>,
}

/// The languages of the code inside a file, where it is one that holds some.
pub(crate) fn languages(path: &str, text: &str) -> Vec<Lang> {
    split(path, text).into_iter().map(|(lang, _)| lang).collect()
}

fn split(path: &str, text: &str) -> ByLanguage {
    let lower = path.to_ascii_lowercase();
    if lower.ends_with(".ipynb") {
        notebook::split(text)
    } else if crate::checks::templates::is_page(&lower) {
        script::split(&lower, text)
    } else {
        Vec::new()
    }
}

/// The lines of a file that holds code, where that code cannot be told from the rest.
///
/// Of what only a diff shows, nobody can say more than that; a whole file has no such excuse.
pub(crate) fn not_understood(source: &SourceFile) -> Option<Limited> {
    let path = &*source.entry.path;
    let head = source.head.as_deref()?;
    if !path.to_ascii_lowercase().ends_with(".ipynb") {
        return None;
    }
    let from = notebook::broken(head)?;
    let is_part = head.starts_with('\n') || head.starts_with("\r\n");
    let last = (head.lines().count() as u64).max(1);
    Some(Limited {
        file: path.to_owned(),
        lines: vec![(1, last)],
        limit: if is_part { Limit::Unparsed } else { Limit::Bound },
        cause: format!("not the JSON of a notebook, from line {from} on"),
    })
}

/// The parts of a file.
pub(crate) fn of(source: &SourceFile) -> Vec<Part> {
    let path = &*source.entry.path;
    let Some(head) = source.head.as_deref() else { return Vec::new() };
    let before = source.base.as_deref().map(|base| split(path, base)).unwrap_or_default();
    let parts = split(path, head).into_iter().map(|(lang, code)| {
        let old = before.iter().find(|(other, _)| *other == lang).map(|(_, code)| code);
        part(source, lang, code, old)
    });
    parts.collect()
}

fn part(source: &SourceFile, lang: Lang, code: Code, old: Option<&Code>) -> Part {
    let lines = |origins: &[Origin], of: &dyn Fn(u64) -> bool| {
        let mut set = LineSet::default();
        for (number, _) in (1..).zip(origins).filter(|(_, origin)| of(origin.line)) {
            set.push(number);
        }
        set
    };
    let added =
        source.added.as_ref().map(|added| lines(&code.origins, &|line| added.contains(line)));
    let removed = old.map(|old| lines(&old.origins, &|line| source.removed.contains(line)));
    let mut entry = source.entry.clone();
    entry.language = Some(lang.name().to_owned());
    entry.kind = FileKind::Code;
    let file = ParsedFile::new(SourceFile {
        entry,
        head: Some(Arc::from(code.text)),
        base: old.map(|old| Arc::from(old.text.as_str())),
        added,
        removed: removed.unwrap_or_default(),
    });
    Part { file, origins: code.origins }
}

impl Part {
    /// The finding at its place in the file; absent where the place is not known.
    pub(crate) fn place(&self, mut found: RuleFinding) -> Option<RuleFinding> {
        let origin = self.origin(found.line)?;
        let end = self.origin(found.end_line).map_or(origin.line, |end| end.line);
        found.line = origin.line;
        found.end_line = end.max(origin.line);
        for step in &mut found.trace {
            if step.file == found.file
                && let Some(origin) = self.origin(step.line)
            {
                step.line = origin.line;
            }
        }
        if let Some(cell) = origin.cell {
            found.issue = format!("{} This is in cell {cell} of the notebook.", found.issue);
        }
        // It would replace lines of the file that hold more than the code.
        found.replacement = None;
        Some(found)
    }

    /// Lines of the code as lines of the file.
    pub(crate) fn lines(&self, (first, last): (u64, u64)) -> (u64, u64) {
        let line = |line| self.origin(line).map_or(1, |origin| origin.line);
        (line(first), line(last).max(line(first)))
    }

    fn origin(&self, line: u64) -> Option<Origin> {
        let at = usize::try_from(line.checked_sub(1)?).ok()?;
        self.origins.get(at.min(self.origins.len().saturating_sub(1))).copied()
    }
}

#[cfg(test)]
mod tests;
