//! Which remarks are about one defect.
//!
//! Remarks merge when they are about the same place and the same issue. How sure that is, is a
//! number: how alike the texts are, and a little for each thing that the two have in common beside
//! it. Clusters grow by average link: a remark joins where it is like the members on average, so
//! that a chain of half-likenesses does not make one defect of many.

use std::collections::BTreeMap;

use crate::linkage;
use crate::similarity::Texts;

/// What somebody says about a defect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark<'a> {
    /// Who says it.
    pub agent: &'a str,
    /// What is wrong.
    pub text: &'a str,
    /// Where, if that is known.
    pub place: Option<Place<'a>>,
    /// The rule that found it, where one did.
    pub rule: Option<&'a str>,
    /// The weakness class, such as `CWE-89`.
    pub cwe: Option<&'a str>,
    /// What sort of defect; empty where it is not known.
    pub category: &'a str,
}

/// Where a defect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file.
    pub file: &'a str,
    /// First and last line; absent where the file as a whole is meant.
    pub lines: Option<(u64, u64)>,
    /// The quoted code, normalised; empty where there is none.
    pub quote: &'a str,
}

/// From this on two remarks are about the same issue.
///
/// Chosen on labelled reviews of five repositories, the same for each of them left out.
pub const ALIKE: f64 = 0.34;

/// What it adds to the likeness of texts when the lines overlap or the quote is the same.
const SAME_LINES: f64 = 0.10;
/// What it adds when the category is the same.
const SAME_CATEGORY: f64 = 0.10;
/// What it adds when the weakness is the same: enough to decide it, at one place.
const SAME_WEAKNESS: f64 = ALIKE;
/// One agent's remarks about one place are about two defects, unless they all but repeat each other.
const REPEATED: f64 = 0.80;
/// Lines between two remarks that may still mean the same place.
const NEAR: u64 = 3;

/// Groups remarks by defect; the groups hold their indices.
///
/// Remarks without a place are compared by text alone, those with one only within it. `alike` is
/// [`ALIKE`] in a review. The groups depend on the order of the remarks only where two mergers are
/// equally good.
pub fn group(remarks: &[Remark<'_>], alike: f64) -> Vec<Vec<usize>> {
    let texts = Texts::new(remarks.iter().map(|remark| remark.text));
    let score = |a: usize, b: usize| same(&remarks[a], &remarks[b], || texts.alike(a, b));
    let mut groups = Vec::new();
    for neighbours in by_file(remarks) {
        groups.extend(linkage::average(&neighbours, alike, score, |a, b| {
            // Sorted by line: whatever comes after the first that is out of reach is, too.
            reaches(&remarks[a], &remarks[b])
        }));
    }
    groups.sort_unstable();
    groups
}

/// The remarks of each file by line, and those without a place.
fn by_file(remarks: &[Remark<'_>]) -> impl Iterator<Item = Vec<usize>> {
    let mut files: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (index, remark) in remarks.iter().enumerate() {
        files.entry(remark.place.map(|place| place.file)).or_default().push(index);
    }
    let start = |index: &usize| remarks[*index].place.and_then(|place| place.lines);
    for remarks in files.values_mut() {
        remarks.sort_by_key(start);
    }
    files.into_values()
}

/// Whether a remark that starts later could still be near enough.
fn reaches(a: &Remark<'_>, later: &Remark<'_>) -> bool {
    match (lines(a), lines(later)) {
        (Some((_, end)), Some((start, _))) => start <= end.saturating_add(NEAR),
        _ => true,
    }
}

fn lines(remark: &Remark<'_>) -> Option<(u64, u64)> {
    remark.place.and_then(|place| place.lines)
}

/// How sure it is that two remarks are about one defect; 0 where they cannot be.
fn same(a: &Remark<'_>, b: &Remark<'_>, text: impl FnOnce() -> f64) -> f64 {
    let (Some(here), Some(there)) = (a.place, b.place) else {
        let alone = a.agent == b.agent || a.place.is_some() || b.place.is_some();
        return if alone { 0.0 } else { text() };
    };
    if !same_place(&here, &there) {
        return 0.0;
    }
    if let (Some(one), Some(other)) = (a.rule, b.rule)
        && (a.agent == b.agent || one == other)
    {
        // A rule speaks of exactly the lines that it names, and never twice of them.
        return if one == other && here.lines == there.lines { 1.0 } else { 0.0 };
    }
    let overlap = match (here.lines, there.lines) {
        (Some(here), Some(there)) => here.0 <= there.1 && there.0 <= here.1,
        (None, None) => true,
        _ => false,
    };
    let both_by_model = a.rule.is_none() && b.rule.is_none();
    if a.agent == b.agent && both_by_model {
        return if overlap && text() >= REPEATED { 1.0 } else { 0.0 };
    }
    let quoted = !here.quote.is_empty() && here.quote == there.quote;
    let equal = |a: &str, b: &str| !a.is_empty() && a.eq_ignore_ascii_case(b);
    let weakness = a.cwe.zip(b.cwe).is_some_and(|(a, b)| equal(a, b));
    let mut sure = text();
    for (holds, adds) in [
        (overlap || quoted, SAME_LINES),
        (equal(a.category, b.category), SAME_CATEGORY),
        (weakness, SAME_WEAKNESS),
    ] {
        sure += if holds { adds } else { 0.0 };
    }
    sure.min(1.0)
}

/// Whether two places are the same, give or take a few lines.
pub(crate) fn same_place(a: &Place<'_>, b: &Place<'_>) -> bool {
    if a.file != b.file {
        return false;
    }
    match (a.lines, b.lines) {
        (Some(a), Some(b)) => a.0 <= b.1.saturating_add(NEAR) && b.0 <= a.1.saturating_add(NEAR),
        (None, None) => true,
        // One names the file alone: the quote tells whether it means the other's lines.
        _ => !a.quote.is_empty() && a.quote == b.quote,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(agent: &'static str, line: u64, text: &'static str) -> Remark<'static> {
        let place = Place { file: "a.go", lines: Some((line, line)), quote: "db.Query(sql)" };
        Remark { agent, text, place: Some(place), rule: None, cwe: None, category: "" }
    }

    const INJECTION: &str = "SQL injection: user input is interpolated into the query";
    const REWORDED: &str = "The SQL query is built from user input, which allows injection";
    const IGNORED: &str = "The error that the call returns is never checked";

    fn groups(remarks: &[Remark<'_>]) -> Vec<Vec<usize>> {
        group(remarks, ALIKE)
    }

    #[test]
    fn one_place_and_one_issue_is_one_defect() {
        assert_eq!(groups(&[at("a", 7, INJECTION), at("b", 7, REWORDED)]), [[0, 1]]);
    }

    #[test]
    fn another_issue_at_the_same_place_stays_apart() {
        assert_eq!(groups(&[at("a", 7, INJECTION), at("b", 7, IGNORED)]), [[0], [1]]);
    }

    #[test]
    fn the_same_issue_at_another_place_stays_apart() {
        assert_eq!(groups(&[at("a", 7, INJECTION), at("b", 70, INJECTION)]), [[0], [1]]);
        let mut elsewhere = at("b", 7, INJECTION);
        elsewhere.place = Some(Place { file: "b.go", lines: Some((7, 7)), quote: "" });
        assert_eq!(groups(&[at("a", 7, INJECTION), elsewhere]), [[0], [1]]);
    }

    #[test]
    fn the_same_weakness_at_one_place_needs_no_words() {
        let (mut one, mut other) = (at("a", 7, INJECTION), at("b", 8, IGNORED));
        (one.cwe, other.cwe) = (Some("CWE-89"), Some("cwe-89"));
        assert_eq!(groups(&[one, other]), [[0, 1]]);
        other.cwe = Some("CWE-252");
        assert_eq!(groups(&[one, other]), [[0], [1]]);
    }

    #[test]
    fn one_agent_does_not_say_the_same_thing_twice() {
        assert_eq!(groups(&[at("a", 7, INJECTION), at("a", 7, REWORDED)]), [[0], [1]]);
        assert_eq!(groups(&[at("a", 7, INJECTION), at("a", 7, INJECTION)]), [[0, 1]]);
        assert_eq!(groups(&[at("a", 7, INJECTION), at("a", 8, INJECTION)]), [[0], [1]]);
    }

    #[test]
    fn a_rule_and_a_model_of_one_agent_can_agree() {
        let mut rule = at("a", 7, INJECTION);
        rule.rule = Some("go.sql-injection");
        assert_eq!(groups(&[rule, at("a", 7, REWORDED)]), [[0, 1]]);
    }

    #[test]
    fn a_rule_that_fires_on_neighbouring_lines_found_two_defects() {
        let (mut one, mut other) = (at("a", 7, INJECTION), at("a", 8, INJECTION));
        (one.rule, other.rule) = (Some("go.sql-injection"), Some("go.sql-injection"));
        assert_eq!(groups(&[one, other]), [[0], [1]]);
    }

    #[test]
    fn without_a_place_texts_decide() {
        let bare = |agent, text| Remark { place: None, ..at(agent, 1, text) };
        let remarks = [bare("a", INJECTION), bare("b", REWORDED), bare("c", IGNORED)];
        assert_eq!(groups(&remarks), [vec![0, 1], vec![2]]);
        assert_eq!(groups(&[bare("a", INJECTION), at("b", 7, INJECTION)]), [[0], [1]]);
    }
}
