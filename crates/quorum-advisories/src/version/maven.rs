//! Maven's versions, after the version order specification of its POM reference.

use std::cmp::Ordering;

use super::number;

pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (tokens(left), tokens(right));
    for at in 0..left.len().max(right.len()) {
        let order = match (left.get(at), right.get(at)) {
            (Some(left), Some(right)) => left.compare(right),
            (Some(left), None) => left.compare(&left.absent()),
            (None, Some(right)) => right.absent().compare(right),
            (None, None) => Ordering::Equal,
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// One part of a version with the mark before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    hyphen: bool,
    value: String,
}

impl Token {
    fn is_number(&self) -> bool {
        number::is_number(&self.value)
    }

    /// Whether it says nothing: `1.0` and `1-ga` are `1`.
    fn is_null(&self) -> bool {
        matches!(self.value.as_str(), "" | "final" | "ga" | "release")
            || self.is_number() && self.value.bytes().all(|byte| byte == b'0')
    }

    /// What a shorter version has in this token's place.
    fn absent(&self) -> Self {
        let value = if self.is_number() { "0" } else { "" };
        Self { hyphen: self.hyphen, value: value.to_owned() }
    }

    /// `.word` and `-word` before `-1` before `.1`.
    fn compare(&self, other: &Self) -> Ordering {
        match (self.is_number(), other.is_number()) {
            (true, true) => other
                .hyphen
                .cmp(&self.hyphen)
                .then_with(|| number::compare(&self.value, &other.value)),
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => rank(&self.value).cmp(&rank(&other.value)),
        }
    }
}

/// The words that Maven knows, in their order; all others after them, by their letters.
fn rank(word: &str) -> (u8, &str) {
    let known = match word {
        "alpha" => 1,
        "beta" => 2,
        "milestone" => 3,
        "rc" | "cr" => 4,
        "snapshot" => 5,
        "" | "final" | "ga" | "release" => 6,
        "sp" => 7,
        other => return (8, other),
    };
    (known, "")
}

fn tokens(version: &str) -> Vec<Token> {
    let version = version.to_ascii_lowercase();
    let mut tokens = Vec::new();
    for (part_number, part) in version.split('-').enumerate() {
        for (piece_number, piece) in part.split('.').enumerate() {
            let mut hyphen = part_number > 0 && piece_number == 0;
            let runs = number::runs(piece);
            if runs.is_empty() {
                tokens.push(Token { hyphen, value: "0".to_owned() });
            }
            for (run_number, run) in runs.iter().enumerate() {
                // Where digits and letters meet, a hyphen is understood.
                hyphen |= run_number > 0;
                let before_digit = runs.get(run_number + 1).is_some();
                let value = match (*run, before_digit) {
                    ("a", true) => "alpha",
                    ("b", true) => "beta",
                    ("m", true) => "milestone",
                    (run, _) => run,
                };
                tokens.push(Token { hyphen, value: value.to_owned() });
            }
        }
    }
    trim(tokens)
}

/// Drops what says nothing at the end, and before every hyphen and word.
fn trim(mut tokens: Vec<Token>) -> Vec<Token> {
    let mut end = tokens.len();
    while end > 0 {
        while end > 0 && tokens[end - 1].is_null() {
            tokens.remove(end - 1);
            end -= 1;
        }
        match tokens[..end].iter().rposition(|token| token.hyphen || !token.is_number()) {
            Some(hyphen) => end = hyphen,
            None => break,
        }
    }
    tokens
}
