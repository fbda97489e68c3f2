//! Versions of gems: numbers and words in sequence, words before numbers.

use std::cmp::Ordering;

use super::number;

pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.replace('-', ".pre."), right.replace('-', ".pre."));
    let (left, right) = (segments(&left), segments(&right));
    for at in 0..left.len().max(right.len()) {
        let part = |parts: &[&str]| parts.get(at).copied().unwrap_or("0").to_owned();
        let (left, right) = (part(&left), part(&right));
        let order = match (number::is_number(&left), number::is_number(&right)) {
            (true, true) => number::compare(&left, &right),
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => left.cmp(&right),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Zeros at the end say nothing, and neither do those before the first word.
fn segments(version: &str) -> Vec<&str> {
    let all: Vec<&str> =
        version.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(number::runs).collect();
    let word = all.iter().position(|run| !number::is_number(run)).unwrap_or(all.len());
    let (release, rest) = all.split_at(word);
    [release, rest].into_iter().flat_map(without_zeros).copied().collect()
}

fn without_zeros<'a, 'b>(run: &'b [&'a str]) -> &'b [&'a str] {
    let zero = |part: &&str| number::is_number(part) && part.bytes().all(|byte| byte == b'0');
    let kept = run.iter().rposition(|part| !zero(part)).map_or(0, |at| at + 1);
    &run[..kept]
}
