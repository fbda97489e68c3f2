//! Both versions of a changed file, from the new one and the hunks between them.

use quorum_model::scope::{Change, Hunk};

use crate::content::Content;
use crate::files::RawFile;

/// Both versions of a file, and the lines in which they differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// After the change; absent for a deleted file, and for one that cannot be read. Where only a
    /// diff is known: the lines that it shows at their numbers, and empty lines between them.
    pub head: Option<Vec<u8>>,
    /// Before the change; absent for an added file, and where whole files are reviewed.
    pub base: Option<Vec<u8>>,
    /// Lines of `head` that are new, first and last of each run; absent where all of it is reviewed.
    pub added: Option<Vec<(u64, u64)>>,
    /// Lines of `base` that are gone, first and last of each run.
    pub removed: Vec<(u64, u64)>,
}

/// Both versions of `file`, whose content after the change is `content`.
pub fn of(file: &RawFile, content: Content) -> Versions {
    if matches!(file.change, Change::Unchanged | Change::Unmerged) {
        return match content {
            Content::Whole(head) => Versions { head: Some(head), ..Versions::default() },
            _ => Versions::default(),
        };
    }
    let mut sides = Sides::default();
    for (hunk, body) in &file.hunks {
        sides.read(hunk, file.patch.get(body.clone()).unwrap_or_default());
    }
    let head = match content {
        Content::Whole(head) => Some(head),
        Content::DiffOnly if file.change != Change::Deleted => {
            Some(spread(&sides.hunks, |h| &h.new))
        }
        _ => None,
    };
    let base = match (file.change, &head) {
        (Change::Added, _) => None,
        (Change::Deleted, _) => Some(spread(&sides.hunks, |h| &h.old)),
        (_, Some(head)) => Some(undo(head, &sides.hunks)),
        (_, None) => None,
    };
    Versions { head, base, added: Some(sides.added), removed: sides.removed }
}

/// The lines of one hunk, as each side has them.
struct Parts<'a> {
    old: Part<'a>,
    new: Part<'a>,
}

/// The lines that a hunk has of one side.
struct Part<'a> {
    start: u64,
    lines: Vec<&'a [u8]>,
}

#[derive(Default)]
struct Sides<'a> {
    hunks: Vec<Parts<'a>>,
    added: Vec<(u64, u64)>,
    removed: Vec<(u64, u64)>,
}

impl<'a> Sides<'a> {
    fn read(&mut self, hunk: &Hunk, body: &'a [u8]) {
        let mut old = Part { start: first_line(hunk.old_start, hunk.old_lines), lines: Vec::new() };
        let mut new = Part { start: first_line(hunk.new_start, hunk.new_lines), lines: Vec::new() };
        let mut last = b' ';
        for line in body.split_inclusive(|&byte| byte == b'\n') {
            let (&mark, text) = line.split_first().unwrap_or((&b' ', line));
            match mark {
                b'+' => {
                    extend(&mut self.added, new.next());
                    new.lines.push(text);
                }
                b'-' => {
                    extend(&mut self.removed, old.next());
                    old.lines.push(text);
                }
                b'\\' => {
                    if last != b'-' {
                        drop_line_end(&mut new.lines);
                    }
                    if last != b'+' {
                        drop_line_end(&mut old.lines);
                    }
                }
                // An empty line is a context line whose space an editor took.
                _ => {
                    let text = if mark == b' ' { text } else { line };
                    old.lines.push(text);
                    new.lines.push(text);
                }
            }
            last = mark;
        }
        self.hunks.push(Parts { old, new });
    }
}

impl Part<'_> {
    fn next(&self) -> u64 {
        self.start.saturating_add(self.lines.len() as u64)
    }
}

/// Git names the line before the place for a side without lines.
fn first_line(start: u64, lines: u64) -> u64 {
    if lines == 0 { start.saturating_add(1) } else { start }
}

fn extend(ranges: &mut Vec<(u64, u64)>, line: u64) {
    match ranges.last_mut() {
        Some((_, last)) if last.checked_add(1) == Some(line) => *last = line,
        _ => ranges.push((line, line)),
    }
}

fn drop_line_end(lines: &mut [&[u8]]) {
    if let Some(line) = lines.last_mut() {
        *line = line.strip_suffix(b"\n").unwrap_or(line);
    }
}

/// The lines that the hunks show of one side at their numbers, and empty lines between them.
fn spread<'a>(hunks: &'a [Parts<'a>], side: fn(&'a Parts<'a>) -> &'a Part<'a>) -> Vec<u8> {
    /// A diff may claim any line number; beyond this no empty lines are made up.
    const MOST_LINES: u64 = 1 << 22;
    let mut text = Vec::new();
    let mut next = 1;
    for part in hunks.iter().map(side) {
        if part.start > MOST_LINES {
            break;
        }
        let between = usize::try_from(part.start.saturating_sub(next)).unwrap_or_default();
        text.extend(std::iter::repeat_n(b'\n', between));
        for line in &part.lines {
            text.extend_from_slice(line);
        }
        next = part.next().max(next);
    }
    text
}

/// The text before the hunks were applied.
fn undo(head: &[u8], hunks: &[Parts<'_>]) -> Vec<u8> {
    let mut text = Vec::with_capacity(head.len());
    let mut lines = head.split_inclusive(|&byte| byte == b'\n');
    let mut next = 1;
    for hunk in hunks {
        while next < hunk.new.start {
            let Some(line) = lines.next() else { break };
            text.extend_from_slice(line);
            next += 1;
        }
        for _ in &hunk.new.lines {
            next += u64::from(lines.next().is_some());
        }
        for line in &hunk.old.lines {
            text.extend_from_slice(line);
        }
    }
    for line in lines {
        text.extend_from_slice(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(change: Change, hunks: &[(Hunk, &str)]) -> RawFile {
        let mut patch = Vec::new();
        let mut ranges = Vec::new();
        for (hunk, body) in hunks {
            let start = patch.len();
            patch.extend_from_slice(body.as_bytes());
            ranges.push((*hunk, start..patch.len()));
        }
        RawFile { change, patch, hunks: ranges, ..RawFile::whole("a".into()) }
    }

    fn hunk(old: (u64, u64), new: (u64, u64)) -> Hunk {
        Hunk { old_start: old.0, old_lines: old.1, new_start: new.0, new_lines: new.1 }
    }

    #[test]
    fn the_old_version_is_the_new_one_with_the_hunks_undone() {
        let hunks = [(hunk((2, 2), (2, 3)), " b\n-c\n+C\n+D\n")];
        let versions =
            of(&file(Change::Modified, &hunks), Content::Whole(b"a\nb\nC\nD\ne\n".to_vec()));
        assert_eq!(versions.base.as_deref(), Some(b"a\nb\nc\ne\n".as_slice()));
        assert_eq!(versions.added, Some(vec![(3, 4)]));
        assert_eq!(versions.removed, [(3, 3)]);
    }

    #[test]
    fn a_missing_newline_stays_missing_on_its_side() {
        let hunks = [(hunk((1, 1), (1, 1)), "-a\n\\ No newline at end of file\n+b\n")];
        let versions = of(&file(Change::Modified, &hunks), Content::Whole(b"b\n".to_vec()));
        assert_eq!(versions.base.as_deref(), Some(b"a".as_slice()));
    }

    #[test]
    fn a_diff_alone_gives_its_lines_at_their_numbers() {
        let hunks = [(hunk((3, 1), (3, 2)), " c\n+d\n")];
        let versions = of(&file(Change::Modified, &hunks), Content::DiffOnly);
        assert_eq!(versions.head.as_deref(), Some(b"\n\nc\nd\n".as_slice()));
        assert_eq!(versions.added, Some(vec![(4, 4)]));
    }

    #[test]
    fn a_deleted_file_has_only_an_old_version() {
        let hunks = [(hunk((1, 2), (0, 0)), "-a\n-b\n")];
        let versions = of(&file(Change::Deleted, &hunks), Content::Absent);
        assert_eq!((versions.head, versions.base), (None, Some(b"a\nb\n".to_vec())));
        assert_eq!(versions.removed, [(1, 2)]);
    }

    proptest! {
        #[test]
        fn no_hunk_makes_it_panic(
            content in proptest::collection::vec(any::<u8>(), 0..60),
            body in "[-+ a\\\\\n]{0,40}",
            numbers in any::<[u32; 4]>(),
        ) {
            let [a, b, c, d] = numbers.map(u64::from);
            let hunks = [(hunk((a, b), (c, d)), body.as_str())];
            of(&file(Change::Modified, &hunks), Content::Whole(content));
            of(&file(Change::Modified, &hunks), Content::DiffOnly);
            of(&file(Change::Deleted, &hunks), Content::Absent);
        }
    }
}
