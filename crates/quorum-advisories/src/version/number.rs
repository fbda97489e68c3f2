//! Numbers of any length.

use std::cmp::Ordering;

/// Compares two runs of digits by their value.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// Whether it is a run of digits.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Cuts a text where digits and other characters meet.
pub(super) fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut previous: Option<bool> = None;
    for (at, character) in text.char_indices() {
        let digit = character.is_ascii_digit();
        if previous.is_some_and(|previous| previous != digit) {
            runs.push(&text[start..at]);
            start = at;
        }
        previous = Some(digit);
    }
    if start < text.len() {
        runs.push(&text[start..]);
    }
    runs
}
