//! From labels and findings to precision, recall and F1.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::eval::Hit;
use crate::eval::labels::{Expected, Label};

/// A file of a corpus with its labels.
#[derive(Clone, Debug)]
pub struct LabelledFile {
    /// Its path, relative to the corpus.
    pub path: String,
    /// Its language, where it is known.
    pub language: Option<String>,
    /// What it is about, such as a weakness class or a folder's name.
    pub category: String,
    /// Its labels.
    pub labels: Vec<Label>,
}

/// How labels and findings are matched.
#[derive(Clone, Copy, Debug)]
pub struct Matching {
    /// How many lines a finding may be away from its label.
    pub tolerance: u64,
    /// Whether a finding on a line without a label is a false alarm.
    pub unlabelled_is_false: bool,
}

/// How often a tool was right and wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Defects that it found.
    pub true_positives: u64,
    /// Sound places that it complained about.
    pub false_positives: u64,
    /// Defects that it missed.
    pub false_negatives: u64,
    /// Findings on lines that the corpus says nothing about.
    pub unlabelled: u64,
}

impl Tally {
    /// The share of its complaints that are right; absent when it made none.
    pub fn precision(self) -> Option<f64> {
        ratio(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The share of the defects that it found; absent when there are none.
    pub fn recall(self) -> Option<f64> {
        ratio(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// The harmonic mean of the two.
    pub fn f1(self) -> Option<f64> {
        let wrong = self.false_positives + self.false_negatives;
        ratio(2 * self.true_positives, 2 * self.true_positives + wrong)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a corpus has far fewer than 2^52 labels")]
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A tool's figures on a corpus.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Score {
    /// Over everything.
    pub total: Tally,
    /// By what the file is about.
    pub by_category: BTreeMap<String, Tally>,
    /// By language.
    pub by_language: BTreeMap<String, Tally>,
    /// By rule: misses have none, so recall is not known here.
    pub by_rule: BTreeMap<String, Tally>,
    /// By agent, the same way.
    pub by_agent: BTreeMap<String, Tally>,
    /// Defects that were missed, as `file:line`.
    pub missed: Vec<String>,
    /// Sound places with a complaint, as `file:line rule`.
    pub false_alarms: Vec<String>,
    /// Findings on lines without a label, as `file:line rule`.
    pub unlabelled: Vec<String>,
}

/// Compares what a tool found with what the corpus says.
pub fn score(corpus: &[LabelledFile], hits: &[Hit], matching: Matching) -> Score {
    let mut by_file: BTreeMap<&str, Vec<&Hit>> = BTreeMap::new();
    for hit in hits {
        by_file.entry(&hit.file).or_default().push(hit);
    }
    let mut score = Score::default();
    for file in corpus {
        let hits = by_file.get(file.path.as_str()).map(Vec::as_slice).unwrap_or_default();
        score_file(&mut score, file, hits, matching);
    }
    score
}

fn score_file(score: &mut Score, file: &LabelledFile, hits: &[&Hit], matching: Matching) {
    let mut reached: BTreeSet<usize> = BTreeSet::new();
    let mut tally = Tally::default();
    for hit in hits {
        let place = format!("{}:{} {}", file.path, hit.line, hit.rule);
        let (number, outcome) = match nearest(&file.labels, hit, matching.tolerance) {
            Some(number) => (Some(number), file.labels[number].expected),
            None if matching.unlabelled_is_false => (None, Expected::Sound),
            None => {
                tally.unlabelled += 1;
                score.unlabelled.push(place);
                for group in [&mut score.by_rule, &mut score.by_agent].into_iter().zip(names(hit)) {
                    group.0.entry(group.1).or_default().unlabelled += 1;
                }
                continue;
            }
        };
        let first = number.is_none_or(|number| reached.insert(number));
        let groups = [&mut score.by_rule, &mut score.by_agent];
        match outcome {
            Expected::Defect => {
                tally.true_positives += u64::from(first);
                for (group, name) in groups.into_iter().zip(names(hit)) {
                    group.entry(name).or_default().true_positives += 1;
                }
            }
            Expected::Sound => {
                tally.false_positives += u64::from(first);
                score.false_alarms.push(place);
                for (group, name) in groups.into_iter().zip(names(hit)) {
                    group.entry(name).or_default().false_positives += 1;
                }
            }
        }
    }
    for (number, label) in file.labels.iter().enumerate() {
        if label.expected == Expected::Defect && !reached.contains(&number) {
            tally.false_negatives += 1;
            let line = label.line.map(|line| format!(":{line}")).unwrap_or_default();
            score.missed.push(format!("{}{line}", file.path));
        }
    }
    let language = file.language.clone().unwrap_or_else(|| "other".to_owned());
    for sum in [
        &mut score.total,
        score.by_category.entry(file.category.clone()).or_default(),
        score.by_language.entry(language).or_default(),
    ] {
        sum.true_positives += tally.true_positives;
        sum.false_positives += tally.false_positives;
        sum.false_negatives += tally.false_negatives;
        sum.unlabelled += tally.unlabelled;
    }
}

fn names(hit: &Hit) -> [String; 2] {
    [hit.rule.clone(), hit.agent.clone()]
}

/// The label that a finding is about: the one nearest to its first line, within its own lines and
/// the tolerance; a label for the whole file where there is no other.
fn nearest(labels: &[Label], hit: &Hit, tolerance: u64) -> Option<usize> {
    let distance = |label: &Label| {
        let Some(line) = label.line else { return Some(u64::MAX) };
        let last = hit.end_line.max(hit.line);
        let near = line + tolerance >= hit.line && line <= last + tolerance;
        near.then(|| line.abs_diff(hit.line))
    };
    let candidates = labels.iter().enumerate();
    let candidates = candidates.filter_map(|(number, label)| Some((distance(label)?, number)));
    candidates.min().map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(line: Option<u64>, expected: Expected) -> Label {
        Label { line, expected, category: None }
    }

    fn hit(line: u64, end_line: u64) -> Hit {
        Hit {
            file: "a.py".to_owned(),
            line,
            end_line,
            rule: "r".to_owned(),
            agent: "s".to_owned(),
            cwe: None,
        }
    }

    fn run(labels: Vec<Label>, hits: &[Hit]) -> Tally {
        let file = LabelledFile {
            path: "a.py".to_owned(),
            language: None,
            category: "c".to_owned(),
            labels,
        };
        let matching = Matching { tolerance: 1, unlabelled_is_false: false };
        score(&[file], hits, matching).total
    }

    #[test]
    fn a_finding_goes_to_the_nearest_label() {
        let labels = vec![label(Some(4), Expected::Sound), label(Some(5), Expected::Defect)];
        let tally = run(labels.clone(), &[hit(5, 5)]);
        assert_eq!((tally.true_positives, tally.false_positives), (1, 0));
        let tally = run(labels, &[hit(4, 4)]);
        assert_eq!((tally.true_positives, tally.false_positives), (0, 1));
        assert_eq!(tally.false_negatives, 1);
    }

    #[test]
    fn one_defect_counts_once_however_often_it_is_found() {
        let tally = run(vec![label(Some(5), Expected::Defect)], &[hit(5, 5), hit(4, 6)]);
        assert_eq!(tally, Tally { true_positives: 1, ..Tally::default() });
        assert_eq!(tally.precision(), Some(1.0));
    }

    #[test]
    fn lines_that_nobody_labelled_are_counted_apart() {
        let tally = run(vec![label(Some(5), Expected::Defect)], &[hit(40, 40)]);
        assert_eq!((tally.unlabelled, tally.false_positives), (1, 0));
    }

    #[test]
    fn a_label_for_the_file_takes_any_line() {
        let tally = run(vec![label(None, Expected::Defect)], &[hit(40, 40)]);
        assert_eq!(tally.true_positives, 1);
    }
}
