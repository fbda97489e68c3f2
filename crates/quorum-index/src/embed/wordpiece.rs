//! Cutting text into the pieces of a `WordPiece` vocabulary.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::Value;

/// Longer words are data.
const LONGEST_WORD: usize = 100;

#[derive(Debug)]
pub(super) struct WordPiece {
    vocabulary: HashMap<String, u32, RandomState>,
    /// What stands before a piece that is not the beginning of a word.
    continuing: String,
    lowercase: bool,
}

impl WordPiece {
    /// Reads the vocabulary of a `tokenizer.json`.
    pub(super) fn new(tokenizer: &Value) -> Result<Self, String> {
        let model = &tokenizer["model"];
        let kind = model["type"].as_str().unwrap_or("WordPiece");
        let vocabulary = model["vocab"].as_object().filter(|_| kind == "WordPiece");
        let Some(vocabulary) = vocabulary else {
            return Err(format!("a tokenizer of type {kind} is not read; take a WordPiece model"));
        };
        let entry = |(piece, number): (&String, &Value)| {
            Some((piece.clone(), u32::try_from(number.as_u64()?).ok()?))
        };
        let vocabulary: HashMap<_, _, RandomState> = vocabulary.iter().filter_map(entry).collect();
        if vocabulary.is_empty() {
            return Err("the vocabulary is empty".to_owned());
        }
        let normalizer = &tokenizer["normalizer"];
        let lowercase = normalizer["lowercase"].as_bool().unwrap_or_else(|| {
            normalizer.to_string().contains("Lowercase") || normalizer.is_null()
        });
        let continuing = model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned();
        Ok(Self { vocabulary, continuing, lowercase })
    }

    pub(super) fn len(&self) -> usize {
        let largest = self.vocabulary.values().max().copied().unwrap_or_default();
        largest as usize + 1
    }

    /// Calls `found` with the number of every piece; words that have none are left out.
    pub(super) fn each(&self, text: &str, mut found: impl FnMut(u32)) {
        let mut word = String::new();
        let mut buffer = String::new();
        let mut pieces = Vec::new();
        let mut end = |word: &mut String| {
            self.word(word, &mut buffer, &mut pieces);
            pieces.drain(..).for_each(&mut found);
            word.clear();
        };
        let mut last_lower = false;
        for c in text.chars() {
            // Identifiers are words in disguise.
            let hump = c.is_uppercase() && last_lower;
            if hump || !c.is_alphanumeric() {
                end(&mut word);
            }
            if c.is_alphanumeric() {
                if self.lowercase { word.extend(c.to_lowercase()) } else { word.push(c) }
            } else if !c.is_whitespace() && c != '_' {
                word.push(c);
                end(&mut word);
            }
            last_lower = c.is_lowercase() || c.is_numeric();
        }
        end(&mut word);
    }

    /// The longest pieces from the left; none where a part of the word has no piece.
    fn word(&self, word: &str, buffer: &mut String, pieces: &mut Vec<u32>) {
        if word.is_empty() || word.len() > LONGEST_WORD {
            return;
        }
        let mut start = 0;
        while start < word.len() {
            let ends = (start + 1..=word.len()).rev().filter(|&end| word.is_char_boundary(end));
            let piece = ends.into_iter().find_map(|end| {
                buffer.clear();
                if start > 0 {
                    buffer.push_str(&self.continuing);
                }
                buffer.push_str(&word[start..end]);
                self.vocabulary.get(buffer.as_str()).map(|number| (*number, end))
            });
            let Some((number, end)) = piece else {
                pieces.clear();
                return;
            };
            pieces.push(number);
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pieces(text: &str) -> Vec<u32> {
        let vocabulary = json!({"parse": 0, "##r": 1, "http": 2, "##s": 3, "(": 4});
        let tokenizer = json!({"model": {"type": "WordPiece", "vocab": vocabulary}, "normalizer": {"lowercase": true}});
        let mut found = Vec::new();
        WordPiece::new(&tokenizer).expect("a vocabulary").each(text, |piece| found.push(piece));
        found
    }

    #[test]
    fn words_and_identifiers_are_cut_into_the_longest_pieces() {
        assert_eq!(pieces("Parser https"), [0, 1, 2, 3]);
        assert_eq!(pieces("parseHttp(unknown) parse_http"), [0, 2, 4, 0, 2]);
        assert_eq!(pieces(""), [0; 0]);
    }

    #[test]
    fn another_kind_of_tokenizer_is_refused_by_name() {
        let error = WordPiece::new(&json!({"model": {"type": "Unigram", "vocab": []}}));
        assert!(error.expect_err("refused").contains("Unigram"));
    }
}
