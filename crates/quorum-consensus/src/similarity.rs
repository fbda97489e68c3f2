//! Whether two texts speak of the same thing, without a model.

use std::collections::{BTreeMap, BTreeSet};

/// How alike two texts are, 0 to 1, from the words that they share.
pub(crate) fn text(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let shared: usize = a.iter().filter_map(|(word, n)| b.get(word).map(|m| n.min(m))).sum();
    let all: usize = a.values().sum::<usize>().min(b.values().sum());
    if all == 0 { 0.0 } else { ratio(shared, all) }
}

#[expect(clippy::cast_precision_loss, reason = "texts have fewer than 2^52 words")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

fn words(text: &str) -> BTreeMap<String, usize> {
    let common: BTreeSet<&str> =
        ["a", "an", "and", "in", "is", "of", "on", "or", "the", "to", "with"].into();
    let mut words = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let word = word.to_lowercase();
        if !word.is_empty() && !common.contains(word.as_str()) {
            *words.entry(word).or_default() += 1;
        }
    }
    words
}
