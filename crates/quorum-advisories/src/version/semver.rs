//! Semantic versions, with as many numbers as there are, for Cargo, Go, npm and `NuGet`.

use std::cmp::Ordering;

use super::number;

pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Parts::of(left), Parts::of(right));
    let length = left.core.len().max(right.core.len());
    for at in 0..length {
        let part = |parts: &Parts<'_>| parts.core.get(at).copied().unwrap_or("0").to_owned();
        let order = identifier(&part(&left), &part(&right));
        if order.is_ne() {
            return order;
        }
    }
    match (left.pre, right.pre) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(left), Some(right)) => pre_release(left, right),
    }
}

struct Parts<'a> {
    core: Vec<&'a str>,
    pre: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// What follows `+` is a build's name and has no rank.
    fn of(version: &'a str) -> Self {
        let version = version.strip_prefix(['v', 'V', '=']).unwrap_or(version);
        let version = version.split('+').next().unwrap_or(version);
        match version.split_once('-') {
            Some((core, pre)) => Self { core: core.split('.').collect(), pre: Some(pre) },
            None => Self { core: version.split('.').collect(), pre: None },
        }
    }
}

fn pre_release(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) => {
                let order = identifier(left, right);
                if order.is_ne() {
                    return order;
                }
            }
        }
    }
}

/// Numbers by value and below words; words by their bytes.
fn identifier(left: &str, right: &str) -> Ordering {
    match (number::is_number(left), number::is_number(right)) {
        (true, true) => number::compare(left, right),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.cmp(right),
    }
}
