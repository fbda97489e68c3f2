//! What the embedded reviewers read: the files of a change, and the repository around them.

use std::sync::{Arc, OnceLock};

use quorum_advisories::Database;
use quorum_model::scope::FileEntry;
use quorum_syntax::{Lang, Limits, ParseError, Rows, Tree};

/// Which version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The version under review.
    Head,
    /// The version before the change.
    Base,
}

/// Reads the repository around the change. Called from several threads.
pub trait Sources: Sync {
    /// The text of a file; absent when it is not there, not text, or cannot be read.
    fn read(&self, path: &str, side: Side) -> Option<Arc<str>>;
    /// The paths of all files at the head revision, sorted; empty where only a diff is known.
    fn paths(&self) -> &[String];
    /// The advisories that the user imported.
    fn advisories(&self) -> Option<&Database> {
        None
    }
}

/// One file of the change with its text on both sides.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// What the scope knows about it.
    pub entry: FileEntry,
    /// Its text at the head revision; absent for a deleted file. Where only a diff is known, the
    /// lines that the diff shows, at their numbers, with empty lines between them.
    pub head: Option<Arc<str>>,
    /// Its text before the change; absent for an added file, and where whole files are reviewed.
    pub base: Option<Arc<str>>,
    /// Lines of `head` that the change adds or rewrites; `None` where the whole file is reviewed.
    pub added: Option<LineSet>,
    /// Lines of `base` that the change removes or rewrites.
    pub removed: LineSet,
}

impl SourceFile {
    /// Whether the change adds or rewrites this line; true for every line of a whole file.
    pub fn is_added(&self, line: u64) -> bool {
        self.added.as_ref().is_none_or(|added| added.contains(line))
    }

    /// Whether the change adds or rewrites a line between these two, both included.
    pub fn touches(&self, first: u64, last: u64) -> bool {
        self.added.as_ref().is_none_or(|added| added.meets(first, last))
    }
}

/// A set of line numbers, as sorted ranges that do not meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineSet(Vec<(u64, u64)>);

impl LineSet {
    /// From first and last line of each range, sorted.
    pub fn from_ranges(ranges: Vec<(u64, u64)>) -> Self {
        Self(ranges)
    }

    /// Adds a line after all others.
    pub fn push(&mut self, line: u64) {
        match self.0.last_mut() {
            Some((_, last)) if *last + 1 >= line => *last = (*last).max(line),
            _ => self.0.push((line, line)),
        }
    }

    /// Whether a line is in the set.
    pub fn contains(&self, line: u64) -> bool {
        self.meets(line, line)
    }

    /// Whether any line between these two, both included, is in the set.
    pub fn meets(&self, first: u64, last: u64) -> bool {
        let at = self.0.partition_point(|&(_, end)| end < first);
        self.0.get(at).is_some_and(|&(start, _)| start <= last)
    }

    /// First and last line of each range.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The language of a file, where there is a grammar for it.
pub(crate) fn lang_of(entry: &FileEntry) -> Option<Lang> {
    let named = entry.language.as_deref().and_then(Lang::from_name);
    named.or_else(|| Lang::from_path(&entry.path))
}

/// A file of the change that is parsed, once, for all rules of all agents.
#[derive(Debug)]
pub struct ParsedFile {
    /// The file.
    pub source: SourceFile,
    /// Its language, where there is a grammar for it.
    pub lang: Option<Lang>,
    /// The head version's tree.
    pub tree: Option<Tree>,
    /// The base version's tree.
    pub base_tree: Option<Tree>,
    /// Why there is no tree, though there is a grammar.
    pub failure: Option<ParseError>,
    /// Lines of the head version that are not in its tree, because they are nested too deep.
    pub too_deep: Rows,
    /// Lines of the head version that the grammar does not understand.
    pub unparsed: Rows,
    /// Where each line of the head version starts.
    starts: OnceLock<Vec<usize>>,
}

impl ParsedFile {
    /// Parses both versions of a file, within the limits of [`quorum_syntax::Limits`].
    pub fn new(source: SourceFile) -> Self {
        let lang = lang_of(&source.entry);
        let (mut tree, mut base_tree, mut failure) = (None, None, None);
        let (mut too_deep, mut unparsed) = (Rows::new(), Rows::new());
        if let Some(lang) = lang {
            if let Some(head) = &source.head {
                match quorum_syntax::read_within(head.as_bytes(), lang, Limits::default()) {
                    Ok(parsed) => {
                        tree = Some(parsed.tree);
                        too_deep = parsed.too_deep;
                        unparsed = parsed.unread;
                    }
                    Err(error) => failure = Some(error),
                }
            }
            if let Some(base) = &source.base {
                base_tree = quorum_syntax::parse(base.as_bytes(), lang).ok();
            }
        }
        let starts = OnceLock::new();
        Self { source, lang, tree, base_tree, failure, too_deep, unparsed, starts }
    }

    /// The path at the head revision.
    pub fn path(&self) -> &str {
        &self.source.entry.path
    }

    /// The text under review; empty for a deleted file.
    pub fn text(&self) -> &str {
        self.source.head.as_deref().unwrap_or_default()
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let text = self.text();
            let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
            std::iter::once(0).chain(ends).filter(|&at| at < text.len()).collect()
        })
    }

    /// How many lines the text under review has.
    pub fn line_count(&self) -> usize {
        self.starts().len()
    }

    /// A line of the text under review, counted from 0, without its end.
    pub fn line(&self, row: usize) -> Option<&str> {
        let starts = self.starts();
        let start = *starts.get(row)?;
        let end = starts.get(row + 1).copied().unwrap_or(self.text().len());
        let line = self.text().get(start..end)?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// The line that a byte of the text under review stands in, counted from 0.
    pub fn row_of(&self, byte: usize) -> usize {
        self.starts().partition_point(|&start| start <= byte).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_sequence_are_one_range() {
        let mut lines = LineSet::default();
        for line in [2, 3, 4, 9] {
            lines.push(line);
        }
        assert_eq!(lines.ranges(), [(2, 4), (9, 9)]);
        assert!(lines.contains(3) && !lines.contains(5));
        assert!(lines.meets(5, 9) && !lines.meets(5, 8));
    }
}
