//! Findings that belong together without being one: at the same place, or of the same sort.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::Finding;

use crate::cluster::{ALIKE, Place, same_place};
use crate::similarity::Texts;

/// No finding refers to more than this many others of a kind: the worst ones will do.
const REFERENCES: usize = 8;
/// A flood of findings at one place is not compared each with each.
const NEIGHBOURS: usize = 64;
/// More findings of one category than this are compared by rule and weakness alone.
const COMPARED: usize = 200;
/// Texts at different places are about the same issue from here on: there is no place to help.
const SAME: f64 = 2.0 * ALIKE;

/// Fills in `same_place` and `same_issue`.
pub(crate) fn connect(findings: &mut [&mut Finding]) {
    let places = same_places(findings);
    let issues = same_issues(findings);
    let ids: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    let named = |indices: &BTreeSet<usize>, most: usize| -> Vec<String> {
        indices.iter().take(most).map(|&index| ids[index].clone()).collect()
    };
    for (index, finding) in findings.iter_mut().enumerate() {
        finding.same_place = named(&places[index], REFERENCES);
        let elsewhere = &issues[index] - &places[index];
        finding.same_issue = named(&elsewhere, REFERENCES);
    }
}

fn place(finding: &Finding) -> Place<'_> {
    let lines = (finding.line > 0).then_some((finding.line, finding.end_line));
    Place { file: &finding.file, lines, quote: "" }
}

fn same_places(findings: &[&mut Finding]) -> Vec<BTreeSet<usize>> {
    let mut links = vec![BTreeSet::new(); findings.len()];
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by_key(|&index| (&findings[index].file, findings[index].line));
    for (position, &a) in order.iter().enumerate() {
        let here = place(findings[a]);
        let later = order[position + 1..].iter().take(NEIGHBOURS);
        let near = later.take_while(|&&b| same_place(&here, &place(findings[b])));
        for &b in near {
            links[a].insert(b);
            links[b].insert(a);
        }
    }
    links
}

fn same_issues(findings: &[&mut Finding]) -> Vec<BTreeSet<usize>> {
    let mut groups: BTreeMap<(u8, &str), Vec<usize>> = BTreeMap::new();
    let mut categories: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        match (&finding.rule, &finding.cwe) {
            (Some(rule), _) => groups.entry((0, rule)).or_default().push(index),
            (None, Some(cwe)) => groups.entry((1, cwe)).or_default().push(index),
            (None, None) => categories.entry(&finding.category).or_default().push(index),
        }
    }
    let mut links = vec![BTreeSet::new(); findings.len()];
    for group in groups.values() {
        for &a in group {
            // One more than is shown: a finding does not refer to itself.
            links[a].extend(group.iter().filter(|&&b| b != a).take(REFERENCES));
        }
    }
    for group in categories.values().filter(|group| (2..=COMPARED).contains(&group.len())) {
        let texts = Texts::new(group.iter().map(|&index| findings[index].issue.as_str()));
        for (i, &a) in group.iter().enumerate() {
            for (j, &b) in group.iter().enumerate().skip(i + 1) {
                if texts.alike(i, j) >= SAME {
                    links[a].insert(b);
                    links[b].insert(a);
                }
            }
        }
    }
    links
}
