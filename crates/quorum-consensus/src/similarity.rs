//! How alike texts are, without a model.
//!
//! Half of the likeness comes from words, where an identifier counts whole and by its parts
//! (`recordLegacyDuration` is also record, legacy and duration) and words lose their endings; half
//! from the three-letter pieces of words, which forgive what the endings do not. Both are cosines
//! of weights that fall with the number of texts that share a term, so what all findings of a run
//! talk about tells nothing. `cargo xtask clusters` measures it against labelled reviews.

use std::collections::{BTreeMap, HashMap};

/// Texts that can be compared.
#[derive(Debug)]
pub struct Texts {
    words: Vec<Vector>,
    pieces: Vec<Vector>,
}

impl Texts {
    /// Reads the texts. The weights come from all of them together.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut words, mut pieces) = (Terms::default(), Terms::default());
        for text in texts {
            let mut of_text = Read::default();
            for token in text.split(|c: char| !c.is_alphanumeric() && c != '_').take(MAX_TOKENS) {
                of_text.token(token);
            }
            words.add(of_text.words);
            pieces.add(of_text.pieces);
        }
        Self { words: words.weigh(), pieces: pieces.weigh() }
    }

    /// How alike two of them are, 0 to 1, by their indices.
    pub fn alike(&self, a: usize, b: usize) -> f64 {
        f64::midpoint(dot(&self.words[a], &self.words[b]), dot(&self.pieces[a], &self.pieces[b]))
    }
}

/// No honest text needs more words to say what is wrong.
const MAX_TOKENS: usize = 400;

/// Letters in a piece of a word.
const PIECE: usize = 3;

/// Weights by term, sorted by term; of length 1, or empty.
type Vector = Vec<(u32, f64)>;

fn dot(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some(&(term, x)), Some(&(other, y))) = (a.get(i), b.get(j)) {
        if term == other {
            sum += x * y;
        }
        i += usize::from(term <= other);
        j += usize::from(other <= term);
    }
    sum
}

/// The terms of one text with their counts; sorted, so that sums are made in one order.
type Counts = BTreeMap<String, f64>;

#[derive(Default)]
struct Read {
    words: Counts,
    pieces: Counts,
}

impl Read {
    fn token(&mut self, token: &str) {
        let parts = parts(token);
        if parts.len() > 1 {
            *self.words.entry(format!("#{}", token.to_lowercase())).or_default() += 1.0;
        }
        for part in parts {
            if part.chars().nth(1).is_none() || COMMON.contains(&part.as_str()) {
                continue;
            }
            let padded: Vec<char> = format!(" {part} ").chars().collect();
            for piece in padded.windows(PIECE) {
                *self.pieces.entry(piece.iter().collect()).or_default() += 1.0;
            }
            *self.words.entry(stem(&part).to_owned()).or_default() += 1.0;
        }
    }
}

/// The words in an identifier: `readHTTPBody` and `read_http_body` have the same three.
fn parts(token: &str) -> Vec<String> {
    let chars: Vec<char> = token.chars().collect();
    let mut parts = vec![String::new()];
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| chars[before]);
        let next_is_lower = chars.get(index + 1).is_some_and(|next| next.is_lowercase());
        let starts = match before {
            Some(before) if c.is_uppercase() => !before.is_uppercase() || next_is_lower,
            _ => false,
        };
        if c == '_' || starts {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// A word without its ending, as long as three letters stay.
fn stem(word: &str) -> &str {
    ENDINGS
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|stem| stem.chars().count() >= 3)
        .unwrap_or(word)
}

/// Longer endings come before those that they end in.
const ENDINGS: [&str; 24] = [
    "ization", "isation", "ations", "ation", "ments", "ment", "ingly", "edly", "ings", "ing",
    "ies", "ied", "ness", "ers", "er", "ors", "or", "ions", "ion", "ely", "ly", "ed", "es", "s",
];

/// Words that say nothing about a defect, and words that every review is full of.
const COMMON: [&str; 124] = [
    "a",
    "about",
    "after",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "bug",
    "but",
    "by",
    "can",
    "change",
    "changed",
    "changes",
    "code",
    "could",
    "did",
    "do",
    "does",
    "each",
    "for",
    "from",
    "function",
    "had",
    "has",
    "have",
    "here",
    "how",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "issue",
    "it",
    "its",
    "just",
    "like",
    "line",
    "lines",
    "may",
    "method",
    "might",
    "more",
    "must",
    "need",
    "no",
    "not",
    "of",
    "on",
    "only",
    "or",
    "other",
    "our",
    "potential",
    "potentially",
    "problem",
    "rather",
    "same",
    "should",
    "since",
    "so",
    "some",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "up",
    "use",
    "used",
    "uses",
    "using",
    "very",
    "via",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
    "ve",
    "ll",
    "re",
    "don",
    "doesn",
    "isn",
    "won",
];

/// All texts' terms of one kind.
#[derive(Default)]
struct Terms {
    ids: HashMap<String, u32>,
    /// In how many texts each term is.
    texts_with: Vec<f64>,
    counts: Vec<Vec<(u32, f64)>>,
}

impl Terms {
    fn add(&mut self, counts: Counts) {
        let mut of_text = Vec::with_capacity(counts.len());
        for (term, count) in counts {
            // More than 2^32 different terms do not fit into memory.
            let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
            let id = *self.ids.entry(term).or_insert(next);
            if id as usize == self.texts_with.len() {
                self.texts_with.push(0.0);
            }
            self.texts_with[id as usize] += 1.0;
            of_text.push((id, count));
        }
        of_text.sort_unstable_by_key(|&(id, _)| id);
        self.counts.push(of_text);
    }

    /// Gives every text its vector: a term counts for less the more texts share it, and the more
    /// often the same text repeats it.
    fn weigh(self) -> Vec<Vector> {
        #[expect(clippy::cast_precision_loss, reason = "texts are counted in thousands")]
        let all = self.counts.len() as f64;
        let weigh = |(id, count): (u32, f64)| {
            let rarity = ((1.0 + all) / (1.0 + self.texts_with[id as usize])).ln() + 1.0;
            (id, (1.0 + count.ln()) * rarity)
        };
        let mut vectors: Vec<Vector> =
            self.counts.iter().map(|counts| counts.iter().copied().map(weigh).collect()).collect();
        for vector in &mut vectors {
            let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
            for (_, weight) in vector {
                *weight /= length;
            }
        }
        vectors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alike(a: &str, b: &str) -> f64 {
        Texts::new([a, b]).alike(0, 1)
    }

    #[test]
    fn identifiers_are_read_by_their_parts() {
        assert_eq!(parts("readHTTPBody"), ["read", "http", "body"]);
        assert_eq!(parts("read_http_body"), ["read", "http", "body"]);
        assert_eq!(parts("__init__"), ["init"]);
        assert_eq!(parts("sha256Sum"), ["sha256", "sum"]);
        assert_eq!(parts("Größe"), ["größe"]);
    }

    #[test]
    fn endings_go_and_short_words_stay() {
        assert_eq!(stem("interpolation"), "interpol");
        assert_eq!(stem("ignored"), "ignor");
        assert_eq!(stem("ring"), "ring");
        assert_eq!(stem("is"), "is");
    }

    #[test]
    fn another_wording_is_closer_than_another_defect() {
        let one = "SQL injection: the user id is interpolated into the query string";
        let same = "User input concatenated into an SQL query allows injection";
        let other = "The error returned by db.Query is ignored";
        let texts = Texts::new([one, same, other]);
        assert!(texts.alike(0, 1) > 2.0 * texts.alike(0, 2), "{texts:?}");
    }

    #[test]
    fn the_same_text_is_alike_and_an_empty_one_is_like_nothing() {
        assert!((alike("a leaked handle", "A leaked handle!") - 1.0).abs() < 1e-9);
        assert!(alike("", "a leaked handle").abs() < 1e-9);
        assert!(alike("", "").abs() < 1e-9);
    }

    #[test]
    fn the_common_words_are_sorted_for_readers() {
        assert!(COMMON[..117].is_sorted());
    }

    proptest! {
        #[test]
        fn likeness_is_symmetric_and_within_bounds(a in ".{0,80}", b in ".{0,80}", c in ".{0,80}") {
            let texts = Texts::new([a.as_str(), &b, &c]);
            let there = texts.alike(0, 1);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&there), "{there}");
            prop_assert_eq!(there.to_bits(), texts.alike(1, 0).to_bits());
        }
    }
}
