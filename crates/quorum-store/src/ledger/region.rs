//! Where the code of an earlier finding is now.

use std::collections::HashMap;

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
pub struct Lines {
    all: Vec<(u64, String)>,
    /// All of them, each followed by a line end, and where each begins.
    joined: String,
    starts: Vec<usize>,
    /// Where in `all` each text stands, in order.
    places: HashMap<String, Vec<usize>>,
}

impl Lines {
    /// The lines of `text`.
    pub fn of(text: &str) -> Self {
        let squeeze = |line: &str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        Self::from_lines((1..).zip(text.lines().map(squeeze)))
    }

    fn from_lines(lines: impl Iterator<Item = (u64, String)>) -> Self {
        let mut found = Self::default();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            found.starts.push(found.joined.len());
            found.joined.push_str(&line);
            found.joined.push('\n');
            found.places.entry(line.clone()).or_default().push(found.all.len());
            found.all.push((number, line));
        }
        found
    }

    /// The occurrence of `wanted` that is nearest to `line`.
    fn nearest(&self, wanted: &[String], line: u64) -> Option<(u64, u64)> {
        let first = wanted.first()?;
        let same = self.places.get(first).map_or(&[][..], Vec::as_slice);
        let whole = |&at: &usize| {
            let there = self.all.get(at..at + wanted.len())?;
            let equal = there.iter().zip(wanted).all(|((_, there), wanted)| there == wanted);
            equal.then_some((there.first()?.0, there.last()?.0))
        };
        // In order, so that the first on either side is the nearest there.
        let (above, below) = same.split_at(same.partition_point(|&at| self.all[at].0 < line));
        let sides = [above.iter().rev().find_map(whole), below.iter().find_map(whole)];
        let distance = |(start, _): &(u64, u64)| start.abs_diff(line);
        let found = sides.into_iter().flatten().min_by_key(distance);
        if found.is_some() || wanted.len() > 1 {
            return found;
        }
        // A quote may begin and end within a line. One search of the whole text is quicker by far
        // than one of each line.
        let within = self.joined.match_indices(first.as_str()).map(|(at, _)| {
            let number = self.all[self.starts.partition_point(|&start| start <= at) - 1].0;
            (number, number)
        });
        within.min_by_key(distance)
    }
}

impl Lines {
    /// The same lines as digests, as a pull request remembers them.
    #[must_use]
    pub fn digested(&self) -> Self {
        Self::from_lines(self.all.iter().map(|(number, line)| (*number, digest(line))))
    }

    /// What stands on the lines from `start` to `end`, without blank lines.
    pub fn between(&self, start: u64, end: u64) -> impl Iterator<Item = &str> {
        let from = self.all.partition_point(|(number, _)| *number < start);
        let to = self.all.partition_point(|(number, _)| *number <= end);
        self.all.get(from..to.max(from)).unwrap_or_default().iter().map(|(_, line)| line.as_str())
    }

    /// Whether one of the lines from the one before `start` to `end` has `word` in it.
    pub fn mention(&self, start: u64, end: u64, word: &str) -> bool {
        let from = self.all.partition_point(|(number, _)| number + 1 < start);
        let mut near = self.all[from..].iter().take_while(|(number, _)| *number <= end);
        near.any(|(_, line)| line.contains(word))
    }
}

impl Anchors {
    /// The surroundings of the lines `start` to `end` of a text.
    pub fn around(Lines { all: lines, .. }: &Lines, start: u64, end: u64) -> Self {
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
pub fn locate(lines: &Lines, evidence: &str, line: u64, end_line: u64, anchors: &Anchors) -> Place {
    let quoted = Lines::of(evidence).all.into_iter().map(|(_, line)| line);
    if let Some((start, end)) = lines.nearest(&quoted.collect::<Vec<_>>(), line) {
        return Place::Same(start, end);
    }
    let before = anchor(lines, &anchors.before, line, <[String]>::split_first);
    let after = anchor(lines, &anchors.after, end_line, <[String]>::split_last);
    let last = lines.all.last().map_or(1, |(number, _)| *number);
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
    lines: &Lines,
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
        if let Some(found) = lines.nearest(sequence, line) {
            return Some(found);
        }
        sequence = shrink(sequence)?.1;
    }
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
