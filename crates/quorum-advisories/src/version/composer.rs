//! Composer's versions, compared as PHP compares them.

use std::cmp::Ordering;

use super::number;

pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (parts(left), parts(right));
    for at in 0..left.len().max(right.len()) {
        let order = match (left.get(at), right.get(at)) {
            (Some(left), Some(right)) => part(left, right),
            (Some(left), None) => alone(left),
            (None, Some(right)) => alone(right).reverse(),
            (None, None) => Ordering::Equal,
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn parts(version: &str) -> Vec<String> {
    let version = version.to_ascii_lowercase();
    let version = version.strip_prefix('v').unwrap_or(&version).split('+').next().unwrap_or("");
    let mut parts: Vec<String> =
        version.split(['.', '-', '_']).flat_map(number::runs).map(str::to_owned).collect();
    // Composer writes every version with four numbers.
    let numbers = parts.iter().take_while(|part| number::is_number(part)).count();
    for _ in numbers..4 {
        parts.insert(numbers, "0".to_owned());
    }
    parts
}

/// Whether more of a version makes it later (a number, a patch) or earlier (a word).
fn alone(part: &str) -> Ordering {
    rank(part).cmp(&NUMBER).then(Ordering::Greater)
}

const NUMBER: u8 = 5;

fn rank(part: &str) -> u8 {
    match part {
        "dev" => 1,
        "alpha" | "a" => 2,
        "beta" | "b" => 3,
        "rc" | "c" => 4,
        "pl" | "p" | "patch" => 6,
        part if number::is_number(part) => NUMBER,
        _ => 0,
    }
}

fn part(left: &str, right: &str) -> Ordering {
    let by_rank = rank(left).cmp(&rank(right));
    match rank(left) {
        _ if by_rank.is_ne() => by_rank,
        NUMBER => number::compare(left, right),
        0 => left.cmp(right),
        _ => Ordering::Equal,
    }
}
