//! Which sightings are one defect.

use crate::sighting::Sighting;
use crate::similarity;

/// Lines between two quotes that may still mean the same place.
const NEAR: u64 = 2;
/// From here on two texts at one place speak of the same defect.
const ALIKE: f64 = 0.5;

/// Groups the sightings, which are in canonical order; the groups hold their indices.
pub(crate) fn group(sightings: &[Sighting<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, sighting) in sightings.iter().enumerate() {
        let home = groups.iter_mut().find(|group| {
            group.iter().all(|&other| {
                same_place(&sightings[other], sighting) && same_issue(&sightings[other], sighting)
            })
        });
        match home {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// Whether two sightings are about the same lines of the same file.
pub(crate) fn same_place(a: &Sighting<'_>, b: &Sighting<'_>) -> bool {
    if a.file != b.file {
        return false;
    }
    match (a.lines(), b.lines()) {
        (Some(a), Some(b)) => a.0 <= b.1 + NEAR && b.0 <= a.1 + NEAR,
        (None, None) => a.snippet == b.snippet,
        _ => !a.snippet.is_empty() && a.snippet == b.snippet,
    }
}

/// Whether two sightings are the same sort of defect.
pub(crate) fn same_issue(a: &Sighting<'_>, b: &Sighting<'_>) -> bool {
    match (&a.source.rule, &b.source.rule) {
        (Some(one), Some(other)) => one == other && (a.line, a.end_line) == (b.line, b.end_line),
        _ => {
            (a.source.cwe.is_some() && a.source.cwe == b.source.cwe)
                || similarity::text(&a.source.issue, &b.source.issue) >= ALIKE
        }
    }
}
