//! Words without which an expression cannot match.
//!
//! To compile every sign takes longer than the rest of a small review, and hardly any line has the
//! words of one: which signs are worth compiling, one pass over the text says.

use std::borrow::Cow;
use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Words of which at least one stands in whatever matches.
type Clause = Vec<String>;

/// Shorter words stand in every line.
const SHORTEST: usize = 2;

/// More words than that tell nothing apart.
const MOST: usize = 60;

/// Which of several expressions may match a text.
pub(super) struct Filter {
    words: Option<AhoCorasick>,
    /// By expression: the numbers of the words of each clause.
    clauses: Vec<Vec<Vec<usize>>>,
}

impl Filter {
    /// A filter for expressions that are matched without regard to case.
    pub(super) fn new<'p>(patterns: impl Iterator<Item = &'p str>) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut words: Vec<String> = Vec::new();
        let mut number = |word: String| {
            *numbers.entry(word).or_insert_with_key(|word| {
                words.push(word.clone());
                words.len() - 1
            })
        };
        let clauses = patterns.map(|pattern| {
            let needed = needed(pattern).into_iter();
            needed.map(|clause| clause.into_iter().map(&mut number).collect()).collect()
        });
        let clauses = clauses.collect();
        let words = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).ok();
        Self { words, clauses }
    }

    /// The numbers of the expressions that may match, in their order.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        let Some(words) = &self.words else { return (0..self.clauses.len()).collect() };
        let mut stands = vec![false; words.patterns_len()];
        for found in words.find_overlapping_iter(lowered(text).as_ref()) {
            stands[found.pattern().as_usize()] = true;
        }
        let holds = |clause: &Vec<usize>| clause.iter().any(|&word| stands[word]);
        let all = self.clauses.iter().enumerate();
        all.filter(|(_, clauses)| clauses.iter().all(holds)).map(|(at, _)| at).collect()
    }
}

/// Letters of ASCII are compared without regard to case anyway.
fn lowered(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().flat_map(char::to_lowercase).collect())
}

/// What has to stand in every match; nothing where that cannot be said.
fn needed(pattern: &str) -> Vec<Clause> {
    let parse = |unicode: bool| {
        let mut parser = ParserBuilder::new();
        parser.multi_line(true).utf8(false).unicode(unicode).build().parse(pattern).ok()
    };
    // The words are the same; letters of every script in `\w` take most of the time.
    parse(false).or_else(|| parse(true)).map(|hir| clauses(&hir)).unwrap_or_default()
}

fn clauses(hir: &Hir) -> Vec<Clause> {
    match hir.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) if text.len() >= SHORTEST => {
                vec![vec![text.chars().flat_map(char::to_lowercase).collect()]]
            }
            _ => Vec::new(),
        },
        HirKind::Capture(capture) => clauses(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => clauses(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().flat_map(clauses).collect(),
        HirKind::Alternation(ways) => {
            let mut either = Clause::new();
            for way in ways {
                // The longer its words, the rarer they are.
                let length = |clause: &Clause| clause.iter().map(String::len).min();
                let Some(best) = clauses(way).into_iter().max_by_key(length) else {
                    return Vec::new();
                };
                either.extend(best);
            }
            if either.len() > MOST { Vec::new() } else { vec![either] }
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clause_has_to_hold() {
        let patterns = [
            r"\b(?:ignore|forget)\W+(?:all\W+)?(?:rules|the prompts?)\b",
            r"\w+[0-9]?",
            "(?:одобр|прими)\\w*",
            "x?",
        ];
        let filter = Filter::new(patterns.into_iter());
        assert_eq!(filter.candidates("please IGNORE the Prompt"), [0, 1, 3]);
        assert_eq!(filter.candidates("ignore this"), [1, 3], "half of it is not enough");
        assert_eq!(filter.candidates("ОДОБРИТЬ"), [1, 2, 3], "letters of other scripts have cases");
    }

    #[test]
    fn what_may_be_absent_is_not_needed() {
        assert!(needed("(?:abc)*").is_empty());
        assert!(needed("abc|[0-9]+").is_empty());
        assert_eq!(needed("(?:abc)+d{0,2}"), [["abc"]]);
        assert_eq!(needed("(?:abc|de fg)hi"), [vec!["abc", "de fg"], vec!["hi"]]);
    }
}
