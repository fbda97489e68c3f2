//! The hunks between two texts, for files of which git shows none.

use quorum_model::scope::Hunk;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// As many lines around a change as git shows.
const CONTEXT: usize = 3;

/// More lines than these are not compared one by one: what is between the same beginning and the
/// same end is replaced as a whole.
const MOST_LINES: usize = 20_000;

/// The lines of all hunks, each with its mark, and where in them each hunk is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunks {
    /// The text.
    pub text: Vec<u8>,
    /// The hunks.
    pub hunks: Vec<(Hunk, std::ops::Range<usize>)>,
}

/// What differs between `old` and `new`.
pub fn between(old: &[u8], new: &[u8]) -> Hunks {
    let (old, new) = (lines(old), lines(new));
    let mut found = Hunks::default();
    for group in group_diff_ops(operations(&old, &new), CONTEXT) {
        found.push(&group, &old, &new);
    }
    found
}

fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let (old_keys, new_keys): (Vec<_>, Vec<_>) =
        (old.iter().map(|line| key(line)).collect(), new.iter().map(|line| key(line)).collect());
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    let pairs = || old_keys.iter().zip(&new_keys);
    let start = pairs().take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old_keys.iter().rev().zip(new_keys.iter().rev());
    let end = end.take(rest).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (old.len() - start - end, new.len() - start - end);
    if old_len + new_len <= MOST_LINES && old_len > 0 && new_len > 0 {
        return placed(&capture_diff_slices(Algorithm::Myers, &old_keys, &new_keys));
    }
    let middle = match (old_len, new_len) {
        (0, 0) => None,
        (0, _) => Some(DiffOp::Insert { old_index: start, new_index: start, new_len }),
        (_, 0) => Some(DiffOp::Delete { old_index: start, old_len, new_index: start }),
        _ => Some(DiffOp::Replace { old_index: start, old_len, new_index: start, new_len }),
    };
    let equal = |old_index: usize, new_index: usize, len: usize| {
        (len > 0).then_some(DiffOp::Equal { old_index, new_index, len })
    };
    let last = equal(old.len() - end, new.len() - end, end);
    [equal(0, 0, start), middle, last].into_iter().flatten().collect()
}

/// The same operations, each where the ones before it end: `similar` moves them to make them
/// shorter, and leaves their places on the other side behind.
fn placed(operations: &[DiffOp]) -> Vec<DiffOp> {
    let (mut old_index, mut new_index) = (0, 0);
    let place = |operation: &DiffOp| {
        let (tag, old, new) = operation.as_tag_tuple();
        let (old_len, new_len) = (old.len(), new.len());
        let placed = match tag {
            DiffTag::Equal => DiffOp::Equal { old_index, new_index, len: old_len },
            DiffTag::Delete => DiffOp::Delete { old_index, old_len, new_index },
            DiffTag::Insert => DiffOp::Insert { old_index, new_index, new_len },
            DiffTag::Replace => DiffOp::Replace { old_index, old_len, new_index, new_len },
        };
        old_index += old_len;
        new_index += new_len;
        placed
    };
    operations.iter().map(place).collect()
}

impl Hunks {
    fn push(&mut self, group: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let (old_range, new_range) = (
            first.old_range().start..last.old_range().end,
            first.new_range().start..last.new_range().end,
        );
        let start = self.text.len();
        for operation in group {
            let (tag, gone, come) = operation.as_tag_tuple();
            if tag == DiffTag::Equal {
                come.for_each(|index| self.line(b' ', new[index]));
                continue;
            }
            gone.for_each(|index| self.line(b'-', old[index]));
            come.for_each(|index| self.line(b'+', new[index]));
        }
        // Git names the line before the place for a side without lines.
        let number = |range: &std::ops::Range<usize>| {
            let lines = range.len() as u64;
            (range.start as u64 + u64::from(lines > 0), lines)
        };
        let ((old_start, old_lines), (new_start, new_lines)) =
            (number(&old_range), number(&new_range));
        let hunk = Hunk { old_start, old_lines, new_start, new_lines };
        self.hunks.push((hunk, start..self.text.len()));
    }

    fn line(&mut self, mark: u8, line: &[u8]) {
        self.text.push(mark);
        self.text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            self.text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// What is compared of a line: git stores one line end and may write another.
fn key(line: &[u8]) -> (&[u8], bool) {
    let text = line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n"));
    (text.unwrap_or(line), text.is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quorum_model::scope::Change;

    use super::*;
    use crate::content::Content;
    use crate::files::RawFile;
    use crate::versions;

    #[test]
    fn hunks_are_numbered_as_git_numbers_them() {
        let found = between(b"a\nb\nc\nd\ne\nf\ng\nh\n", b"a\nb\nc\nd\nE\nf\ng\nh\n");
        let hunk = Hunk { old_start: 2, old_lines: 7, new_start: 2, new_lines: 7 };
        assert_eq!(found.hunks, [(hunk, 0..found.text.len())]);
        assert_eq!(found.text, b" b\n c\n d\n-e\n+E\n f\n g\n h\n");
        let added = between(b"", b"x\ny");
        let hunk = Hunk { old_start: 0, old_lines: 0, new_start: 1, new_lines: 2 };
        assert_eq!(added.hunks[0].0, hunk);
        assert_eq!(added.text, b"+x\n+y\n\\ No newline at end of file\n");
        assert_eq!(between(b"same\n", b"same\r\n"), Hunks::default());
    }

    #[test]
    fn a_large_middle_is_replaced_as_a_whole() {
        let old = "a\n".repeat(MOST_LINES);
        let found = between(format!("x\n{old}z\n").as_bytes(), b"x\nb\nz\n");
        assert_eq!(found.hunks.len(), 1);
        assert!(found.text.starts_with(b" x\n-a\n") && found.text.ends_with(b"-a\n+b\n z\n"));
    }

    proptest! {
        #[test]
        fn undone_they_give_the_old_text(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let found = between(old.as_bytes(), new.as_bytes());
            let file = RawFile {
                change: Change::Modified,
                patch: found.text,
                hunks: found.hunks,
                ..RawFile::whole("a".into())
            };
            let versions = versions::of(&file, Content::Whole(new.clone().into_bytes()));
            let base = versions.base.unwrap_or_default();
            prop_assert_eq!(lines(&base).iter().map(|l| key(l)).collect::<Vec<_>>(),
                lines(old.as_bytes()).iter().map(|l| key(l)).collect::<Vec<_>>());
        }
    }
}
