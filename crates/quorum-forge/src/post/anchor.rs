//! The lines of a diff that a comment can stand on.

use std::collections::BTreeMap;

/// The lines of the new side that a diff shows, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    files: BTreeMap<String, FileAnchors>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FileAnchors {
    old_path: String,
    /// By line: the hunk, and the line before the change where the change does not touch it.
    lines: BTreeMap<u64, (usize, Option<u64>)>,
    hunks: usize,
}

/// Where a comment can stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) old_path: String,
    pub(crate) start_line: u64,
    pub(crate) line: u64,
    pub(crate) old_line: Option<u64>,
}

impl Anchors {
    /// Adds one hunk of a file: its first lines on both sides, and its body.
    pub fn add(&mut self, path: &str, old_path: &str, (old, new): (u64, u64), body: &[u8]) {
        let file = self.files.entry(path.to_owned()).or_default();
        old_path.clone_into(&mut file.old_path);
        let (mut old, mut new) = (old, new);
        for line in body.split(|&byte| byte == b'\n') {
            match line.first() {
                Some(b'+') => {
                    file.lines.insert(new, (file.hunks, None));
                    new = new.saturating_add(1);
                }
                Some(b'-') => old = old.saturating_add(1),
                Some(b'\\') | None => {}
                Some(_) => {
                    file.lines.insert(new, (file.hunks, Some(old)));
                    old = old.saturating_add(1);
                    new = new.saturating_add(1);
                }
            }
        }
        file.hunks += 1;
    }

    /// The lines from `first` to `last` where the diff shows all of them in one hunk, else the
    /// first of them that it shows.
    pub(crate) fn place(&self, path: &str, first: u64, last: u64) -> Option<Place> {
        let file = self.files.get(path)?;
        let shown = |line: u64| file.lines.get(&line);
        let place = |start_line, line| {
            let old_line = shown(line).and_then(|(_, old)| *old);
            Place { old_path: file.old_path.clone(), start_line, line, old_line }
        };
        if let (Some((a, _)), Some((b, _))) = (shown(first), shown(last))
            && a == b
            && first <= last
        {
            return Some(place(first, last));
        }
        let line = *file.lines.range(first..=last.max(first)).next()?.0;
        Some(place(line, line))
    }

    /// Whether the diff shows all these lines in one hunk.
    pub(crate) fn shows(&self, path: &str, first: u64, last: u64) -> bool {
        self.place(path, first, last)
            .is_some_and(|place| (place.start_line, place.line) == (first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors() -> Anchors {
        let mut anchors = Anchors::default();
        anchors.add("a.go", "a.go", (10, 10), b" one\n-two\n+TWO\n+three\n four\n");
        anchors.add("a.go", "a.go", (40, 41), b"+x\n");
        anchors
    }

    #[test]
    fn added_and_context_lines_take_a_comment() {
        let anchors = anchors();
        assert_eq!(anchors.place("a.go", 11, 11).map(|p| p.old_line), Some(None));
        assert_eq!(anchors.place("a.go", 13, 13).map(|p| p.old_line), Some(Some(12)));
        assert_eq!(anchors.place("a.go", 9, 9), None);
        assert_eq!(anchors.place("b.go", 11, 11), None);
    }

    #[test]
    fn lines_that_leave_the_hunk_shrink_to_the_first_that_is_shown() {
        let anchors = anchors();
        let place = anchors.place("a.go", 12, 41).expect("line 12 is shown");
        assert_eq!((place.start_line, place.line), (12, 12));
        let place = anchors.place("a.go", 5, 10).expect("line 10 is shown");
        assert_eq!((place.start_line, place.line), (10, 10));
        assert!(anchors.shows("a.go", 10, 13) && !anchors.shows("a.go", 12, 41));
    }
}
