//! Where the code of an earlier finding is now.

use serde::{Deserialize, Serialize};

/// How many lines of its surroundings are kept with a finding.
const KEPT: usize = 3;

/// The lines around a finding, without their white space, so that the place is found again after
/// the code in it is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchors {
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

/// Where the code of an earlier finding is now, in lines from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The same code, here.
    Same(u64, u64),
    /// The code is gone; this is what stands in its place, or the lines on both sides of where it
    /// was.
    Changed(u64, u64),
}

/// The lines of a text that are not blank, with their numbers, without white space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(Vec<(u64, String)>);

impl Lines {
    /// The lines of `text`.
    pub fn of(text: &str) -> Self {
        let squeeze = |line: &str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let lines = (1..).zip(text.lines().map(squeeze));
        Self(lines.filter(|(_, line)| !line.is_empty()).collect())
    }
}

impl Lines {
    /// The same lines as digests, as a pull request remembers them.
    #[must_use]
    pub fn digested(&self) -> Self {
        Self(self.0.iter().map(|(number, line)| (*number, digest(line))).collect())
    }

    /// What stands on the lines from `start` to `end`, without blank lines.
    pub fn between(&self, start: u64, end: u64) -> impl Iterator<Item = &str> {
        let from = self.0.partition_point(|(number, _)| *number < start);
        let to = self.0.partition_point(|(number, _)| *number <= end);
        self.0.get(from..to.max(from)).unwrap_or_default().iter().map(|(_, line)| line.as_str())
    }

    /// Whether one of the lines from the one before `start` to `end` has `word` in it.
    pub fn mention(&self, start: u64, end: u64, word: &str) -> bool {
        let near = self.0.iter().filter(|(number, _)| number + 1 >= start && *number <= end);
        near.into_iter().any(|(_, line)| line.contains(word))
    }
}

impl Anchors {
    /// The surroundings of the lines `start` to `end` of a text.
    pub fn around(Lines(lines): &Lines, start: u64, end: u64) -> Self {
        let from = lines.partition_point(|(number, _)| *number < start);
        let to = lines.partition_point(|(number, _)| *number <= end.max(start));
        let kept = |range: &[(u64, String)]| range.iter().map(|(_, line)| line.clone()).collect();
        Self {
            before: kept(&lines[from.saturating_sub(KEPT)..from]),
            after: kept(&lines[to..lines.len().min(to + KEPT)]),
        }
    }

    /// How many of the lines next to the finding are the same, on both sides.
    pub(super) fn in_common(&self, other: &Self) -> usize {
        let same = |pair: &(&String, &String)| pair.0 == pair.1;
        let before = self.before.iter().rev().zip(other.before.iter().rev());
        let after = self.after.iter().zip(&other.after);
        before.take_while(same).count() + after.take_while(same).count()
    }
}

/// A line as a few letters: a pull request remembers no code. A line without a word, such as a lone
/// brace, stays as it is, so that nobody takes it for a landmark.
pub(super) fn digest(line: &str) -> String {
    if line.chars().any(char::is_alphanumeric) {
        blake3::hash(line.as_bytes()).to_hex()[..10].to_owned()
    } else {
        line.chars().take(10).collect()
    }
}

/// Finds the place of a finding that was at line `line` with `evidence`, in what is there now.
pub fn locate(
    Lines(lines): &Lines,
    evidence: &str,
    line: u64,
    end_line: u64,
    anchors: &Anchors,
) -> Place {
    let quoted: Vec<String> = Lines::of(evidence).0.into_iter().map(|(_, line)| line).collect();
    if let Some((start, end)) = nearest(lines, &quoted, line) {
        return Place::Same(start, end);
    }
    let before = anchor(lines, &anchors.before, line, <[String]>::split_first);
    let after = anchor(lines, &anchors.after, end_line, <[String]>::split_last);
    let last = lines.last().map_or(1, |(number, _)| *number);
    match (before, after) {
        (Some((_, above)), Some((below, _))) if above + 1 < below => {
            Place::Changed(above + 1, below - 1)
        }
        (Some((_, above)), Some((below, _))) if above < below => Place::Changed(above, below),
        (Some((_, above)), _) => {
            Place::Changed(above, (above + 1 + end_line.saturating_sub(line)).min(last.max(above)))
        }
        (None, Some((below, _))) => {
            Place::Changed(below.saturating_sub(1 + end_line.saturating_sub(line)).max(1), below)
        }
        (None, None) => Place::Changed(line.min(last), end_line.max(line).min(last)),
    }
}

/// The place of as many anchor lines as are still together; `shrink` drops the one that is
/// farthest from the finding.
fn anchor(
    lines: &[(u64, String)],
    sequence: &[String],
    line: u64,
    shrink: impl for<'a> Fn(&'a [String]) -> Option<(&'a String, &'a [String])>,
) -> Option<(u64, u64)> {
    let mut sequence = sequence;
    loop {
        // A lone brace is everywhere.
        let telling = sequence.iter().any(|line| line.chars().any(char::is_alphanumeric));
        if sequence.is_empty() || !telling {
            return None;
        }
        if let Some(found) = nearest(lines, sequence, line) {
            return Some(found);
        }
        sequence = shrink(sequence)?.1;
    }
}

/// The occurrence of `wanted` that is nearest to `line`.
fn nearest(lines: &[(u64, String)], wanted: &[String], line: u64) -> Option<(u64, u64)> {
    if wanted.is_empty() {
        return None;
    }
    let matches = lines.windows(wanted.len()).filter(|window| {
        // A quote may begin and end within a line.
        let contains = |(there, quoted): (&(u64, String), &String)| match wanted.len() {
            1 => there.1.contains(quoted.as_str()),
            _ => there.1 == *quoted,
        };
        window.iter().zip(wanted).all(contains)
    });
    let places = matches.filter_map(|window| Some((window.first()?.0, window.last()?.0)));
    places.min_by_key(|(start, _)| start.abs_diff(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str =
        "fn a() {\n    one();\n    bad();\n    two();\n}\n\nfn b() {\n    three();\n}\n";

    fn find(text: &str) -> Place {
        locate(&Lines::of(text), "    bad();", 3, 3, &Anchors::around(&Lines::of(OLD), 3, 3))
    }

    #[test]
    fn code_that_moved_or_was_reformatted_is_found() {
        assert_eq!(find(OLD), Place::Same(3, 3));
        assert_eq!(find(&format!("// new\n\n{OLD}")), Place::Same(5, 5));
        assert_eq!(find("fn a() { one();\n\tbad( );\n two(); }"), Place::Same(2, 2));
    }

    #[test]
    fn the_place_of_code_that_is_gone_is_found_by_its_surroundings() {
        let shifted = format!("// 1\n// 2\n// 3\n{}", OLD.replace("bad()", "good()"));
        assert_eq!(find(&shifted), Place::Changed(6, 6));
        assert_eq!(find(&OLD.replace("    bad();\n", "")), Place::Changed(2, 3));
        // Only what came after it is left.
        assert_eq!(find("// x\n// y\n// z\n    two();\n}\n\nfn b() {"), Place::Changed(3, 4));
    }

    #[test]
    fn without_a_trace_the_old_lines_hold() {
        assert_eq!(find("x\ny\nz\nw\n"), Place::Changed(3, 3));
        assert_eq!(find("x\n"), Place::Changed(1, 1));
        assert_eq!(find(""), Place::Changed(1, 1));
    }

    #[test]
    fn of_several_occurrences_the_nearest_counts() {
        let text = "bad();\n\n\n\nbad();\n";
        assert_eq!(
            locate(&Lines::of(text), "bad();", 4, 4, &Anchors::default()),
            Place::Same(5, 5)
        );
    }
}
