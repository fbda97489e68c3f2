//! Texts as reviewers are shown them: without secrets, with nothing hidden.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use quorum_model::scope::Hunk;
use quorum_rules::notebook::cell_lines;

use super::redact::{OfFile, Redactor, redact};
use super::visible::visible;

/// The repository at the revision under review.
pub trait Material: Sync {
    /// What the change does to a file of the scope.
    fn changed(&self, path: &str) -> Option<Changed>;

    /// A text file after the change, in the scope or not.
    fn head(&self, path: &str) -> Option<Arc<str>>;

    /// The paths of all files after the change.
    fn paths(&self) -> &[String];
}

/// What a change does to one file.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// After the change; absent for a deleted file.
    pub head: Option<Arc<str>>,
    /// Before the change, where that is known.
    pub base: Option<Arc<str>>,
    /// The hunks with their texts, each line with its mark.
    pub hunks: Vec<(Hunk, String)>,
}

/// One text, line by line, without line ends.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    /// Where it begins in the text.
    start: usize,
    /// Redacted, and otherwise as it is: byte positions hold.
    redacted: String,
    /// The same with nothing hidden. A line of a notebook that holds lines of a cell is those lines.
    visible: String,
    /// The cell of a notebook that it belongs to.
    cell: Option<Cell>,
}

/// A cell of a notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) number: u64,
    pub(crate) is_code: bool,
}

impl Shown {
    pub(crate) fn of(text: &str, redactor: &dyn Redactor) -> Result<Self, String> {
        let redacted = redact(redactor, text)?;
        let mut start = 0;
        let mut lines: Vec<Line> = Vec::new();
        for text in redacted.split('\n') {
            lines.push(line(start, text));
            start += text.len() + 1;
        }
        // What ends with a line end has no further line.
        if redacted.ends_with('\n') || redacted.is_empty() {
            lines.pop();
        }
        Ok(Self { lines })
    }

    /// The file at `path`: the cells of a notebook are shown as what they hold, each line on the line
    /// of the file on which it stands. What is secret only once it is no longer JSON is masked, too.
    pub(crate) fn of_file(path: &str, text: &str, redactor: &dyn Redactor) -> Result<Self, String> {
        let mut shown = Self::of(text, redactor)?;
        if !path.to_ascii_lowercase().ends_with(".ipynb") {
            return Ok(shown);
        }
        let plain: Vec<&str> = shown.lines.iter().map(|line| line.redacted.as_str()).collect();
        let cells = cell_lines(&plain.join("\n"));
        let code: Vec<&str> = cells.iter().map(|line| line.text.as_str()).collect();
        let code = redact(redactor, &code.join("\n"))?;
        let mut begun = BTreeSet::new();
        for (cell, text) in cells.iter().zip(code.split('\n')) {
            let index = usize::try_from(cell.line).unwrap_or(usize::MAX).saturating_sub(1);
            let Some(line) = shown.lines.get_mut(index) else { continue };
            if begun.insert(cell.line) {
                line.visible.clear();
            } else {
                line.visible.push('\n');
            }
            line.visible.push_str(&visible(text));
            line.cell = Some(Cell { number: cell.cell, is_code: cell.is_code });
        }
        Ok(shown)
    }

    /// The cell of a notebook that line `number` belongs to.
    pub(crate) fn cell(&self, number: u64) -> Option<Cell> {
        self.get(number).and_then(|line| line.cell)
    }

    /// Line `number`, counted from 1.
    pub(crate) fn line(&self, number: u64) -> Option<&str> {
        self.get(number).map(|line| line.visible.as_str())
    }

    /// A part of line `number`, given by bytes of the whole text.
    pub(crate) fn part(&self, number: u64, range: &std::ops::Range<usize>) -> Option<String> {
        self.get(number).map(|line| part(&line.redacted, line.start, range))
    }

    pub(crate) fn len(&self) -> u64 {
        self.lines.len() as u64
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let lines = (1..).zip(&self.lines);
        lines.flat_map(|(number, line)| line.visible.split('\n').map(move |text| (number, text)))
    }

    fn get(&self, number: u64) -> Option<&Line> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lines.get(index)
    }
}

fn line(start: usize, text: &str) -> Line {
    let text = text.strip_suffix('\r').unwrap_or(text);
    Line { start, redacted: text.to_owned(), visible: visible(text).into_owned(), cell: None }
}

/// The bytes of `text`, which begins at `start` of something larger, that lie within `range` of it.
pub(crate) fn part(text: &str, start: usize, range: &std::ops::Range<usize>) -> String {
    let inside = |position: usize| {
        let position = position.saturating_sub(start).min(text.len());
        // A cut within a character gives all of it to what comes after.
        (0..=position).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    };
    visible(&text[inside(range.start)..inside(range.end)]).into_owned()
}

/// A changed file as reviewers are shown it.
#[derive(Debug, Default)]
pub(crate) struct ShownFile {
    pub(crate) head: Option<Shown>,
    pub(crate) base: Option<Shown>,
    pub(crate) hunks: Vec<ShownHunk>,
}

/// A hunk whose lines hold no secrets; byte positions are those of the hunk's own text.
#[derive(Debug)]
pub(crate) struct ShownHunk {
    pub(crate) hunk: Hunk,
    pub(crate) lines: Vec<HunkLine>,
}

/// One line of a hunk.
#[derive(Debug)]
pub(crate) struct HunkLine {
    /// Where it begins in the hunk's text, its mark included.
    pub(crate) start: usize,
    /// Where it ends, its line end included.
    pub(crate) end: usize,
    pub(crate) mark: Mark,
    /// Its number: in the new file, or in the old one where it is removed.
    pub(crate) number: u64,
    /// Redacted, without mark and line end.
    pub(crate) text: String,
    /// The lines of a notebook's cell that it holds, with the cell.
    pub(crate) code: Option<(Cell, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Same,
    Added,
    Removed,
    /// What git says about a line, such as that it has no end.
    Remark,
}

impl ShownFile {
    pub(crate) fn of(
        path: &str,
        changed: &Changed,
        redactor: &dyn Redactor,
    ) -> Result<Self, String> {
        let side = |text: &Option<Arc<str>>| {
            text.as_ref().map(|text| Shown::of_file(path, text, redactor)).transpose()
        };
        let (head, base) = (side(&changed.head)?, side(&changed.base)?);
        let hunks = changed.hunks.iter();
        let hunks = hunks.map(|(hunk, text)| {
            let sides = (head.as_ref(), base.as_ref());
            shown_hunk(*hunk, text, sides, redactor)
        });
        let hunks = hunks.collect::<Result<_, String>>()?;
        Ok(Self { head, base, hunks })
    }
}

fn shown_hunk(
    hunk: Hunk,
    text: &str,
    (head, base): (Option<&Shown>, Option<&Shown>),
    redactor: &dyn Redactor,
) -> Result<ShownHunk, String> {
    // Where a file is not there as a whole, or has changed since, the hunk speaks for itself.
    let own = redact(redactor, &text.replace("\n+", "\n ").replace("\n-", "\n "))?;
    let mut own = own.split_inclusive('\n');
    let first = |start: u64, lines: u64| if lines == 0 { start.saturating_add(1) } else { start };
    let mut new = first(hunk.new_start, hunk.new_lines);
    let mut old = first(hunk.old_start, hunk.old_lines);
    let mut lines = Vec::new();
    let mut start = 0;
    for raw in text.split_inclusive('\n') {
        let redacted = own.next().unwrap_or_default();
        let body = without_end(raw);
        let mark = match body.as_bytes().first() {
            Some(b'+') => Mark::Added,
            Some(b'-') => Mark::Removed,
            Some(b'\\') => Mark::Remark,
            _ => Mark::Same,
        };
        let (side, number) = match mark {
            Mark::Removed => (base, old),
            Mark::Added | Mark::Same => (head, new),
            Mark::Remark => (None, new),
        };
        let words = unmarked(body);
        let whole = side.and_then(|side| side.get(number)).map(|line| line.redacted.as_str());
        // A secret that begins on another line is known only from the whole text.
        let text = whole
            .filter(|whole| whole.len() == words.len())
            .map_or_else(|| unmarked(without_end(redacted)).to_owned(), str::to_owned);
        let code = side.and_then(|side| side.get(number));
        let code = code.and_then(|line| Some((line.cell?, line.visible.clone())));
        lines.push(HunkLine { start, end: start + raw.len(), mark, number, text, code });
        start += raw.len();
        new += u64::from(matches!(mark, Mark::Added | Mark::Same));
        old += u64::from(matches!(mark, Mark::Removed | Mark::Same));
    }
    Ok(ShownHunk { hunk, lines })
}

fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn unmarked(line: &str) -> &str {
    line.strip_prefix([' ', '+', '-', '\\']).unwrap_or(line)
}

/// Shows files, each made ready once.
pub(crate) struct Library<'a> {
    material: &'a dyn Material,
    redactor: &'a dyn Redactor,
    changed: Mutex<BTreeMap<String, Option<Arc<ShownFile>>>>,
    around: Mutex<BTreeMap<String, Option<Arc<Shown>>>>,
}

/// Files around the change that are kept ready.
const MOST_KEPT: usize = 256;

impl<'a> Library<'a> {
    pub(crate) fn new(material: &'a dyn Material, redactor: &'a dyn Redactor) -> Self {
        Self { material, redactor, changed: Mutex::default(), around: Mutex::default() }
    }

    pub(crate) fn material(&self) -> &dyn Material {
        self.material
    }

    /// A file of the scope; absent where nothing of it may be shown.
    pub(crate) fn changed(&self, path: &str) -> Option<Arc<ShownFile>> {
        let mut kept = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = kept.get(path) {
            return file.clone();
        }
        let changed = self.material.changed(path);
        let redactor = OfFile { redactor: self.redactor, path };
        let file = changed.and_then(|changed| ShownFile::of(path, &changed, &redactor).ok());
        let file = file.map(Arc::new);
        kept.insert(path.to_owned(), file.clone());
        file
    }

    /// Any file after the change.
    pub(crate) fn around(&self, path: &str) -> Option<Arc<Shown>> {
        let mut kept = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = kept.get(path) {
            return shown.clone();
        }
        let text = self.material.head(path);
        let redactor = OfFile { redactor: self.redactor, path };
        let shown = text.and_then(|text| Shown::of_file(path, &text, &redactor).ok());
        let shown = shown.map(Arc::new);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(path.to_owned(), shown.clone());
        shown
    }

    /// A file's name without secrets; nothing is shown of one that cannot be told apart from them.
    pub(crate) fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.clean(name) {
            Ok(clean) if clean == name => Cow::Borrowed(name),
            Ok(clean) => Cow::Owned(clean),
            Err(_) => Cow::Borrowed("(not shown)"),
        }
    }

    /// `text` without secrets; absent where that cannot be said.
    pub(crate) fn clean(&self, text: &str) -> Result<String, String> {
        redact(self.redactor, text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::redact::NoSecrets;
    use super::*;
    use std::ops::Range;

    struct Word(&'static str);

    impl Redactor for Word {
        fn secrets(&self, text: &str) -> Result<Vec<Range<usize>>, String> {
            Ok(text.match_indices(self.0).map(|(at, word)| at..at + word.len()).collect())
        }
    }

    #[test]
    fn lines_are_counted_as_editors_do() {
        let lines = |text: &str| Shown::of(text, &NoSecrets).unwrap().len();
        assert_eq!([lines(""), lines("a"), lines("a\n"), lines("a\r\n\r\nb")], [0, 1, 1, 3]);
    }

    #[test]
    fn a_secret_across_lines_is_taken_out_of_a_hunk_that_shows_half_of_it() {
        let changed = Changed {
            head: Some("KEY\nSECRET\nEND\n".into()),
            base: None,
            hunks: vec![(
                Hunk { old_start: 1, old_lines: 0, new_start: 2, new_lines: 1 },
                "+SECRET\n".to_owned(),
            )],
        };
        let file = ShownFile::of("a", &changed, &Word("KEY\nSECRET")).unwrap();
        assert_eq!(file.hunks[0].lines[0].text, "CTED**");
        assert_eq!(file.hunks[0].lines[0].number, 2);
    }

    #[test]
    fn without_the_whole_file_a_hunk_speaks_for_itself() {
        let hunk = Hunk { old_start: 7, old_lines: 2, new_start: 7, new_lines: 2 };
        let text = " same\n-old SECRET\n+new SECRET\r\n\\ No newline\n".to_owned();
        let changed = Changed { head: None, base: None, hunks: vec![(hunk, text)] };
        let file = ShownFile::of("a", &changed, &Word("SECRET")).unwrap();
        let lines: Vec<_> =
            file.hunks[0].lines.iter().map(|l| (l.mark, l.number, l.text.as_str())).collect();
        assert_eq!(
            lines,
            [
                (Mark::Same, 7, "same"),
                (Mark::Removed, 8, "old REDACT"),
                (Mark::Added, 8, "new REDACT"),
                (Mark::Remark, 9, " No newline"),
            ]
        );
    }
}
