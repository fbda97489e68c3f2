//! Counting tokens.

use bstr::ByteSlice;
use quorum_model::config::Tokenizer;
use tiktoken::CoreBpe;

/// A stretch without a place where counting can pause is cut when it is longer than this.
///
/// Byte-pair merging falls from 80 MB/s to 3 MB/s on very long words, so that one minified line
/// could take longer than the rest of a repository.
const LONGEST_STRETCH: usize = 64 * 1024;

/// The pieces that a longer stretch is counted in. Each cut can add one token.
const PIECE: usize = 8 * 1024;

/// Counts tokens in one way.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    tokenizer: Tokenizer,
}

impl Counter {
    /// A counter. Its first count loads the embedded vocabulary, which takes about 0.1 s.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer }
    }

    fn vocabulary(self) -> Option<&'static CoreBpe> {
        match self.tokenizer {
            Tokenizer::O200k => tiktoken::get_encoding("o200k_base"),
            Tokenizer::Cl100k => tiktoken::get_encoding("cl100k_base"),
            Tokenizer::Chars4 => None,
        }
    }

    /// How it counts.
    pub fn tokenizer(&self) -> Tokenizer {
        self.tokenizer
    }

    /// The tokens of `text`. Bytes that are not UTF-8 count as the replacement characters that a
    /// model would be shown in their place.
    ///
    /// Exact for any text whose lines are shorter than 64 KiB; a longer stretch is counted in
    /// pieces, which can add a token for every 8 KiB of it.
    pub fn count(&self, text: &[u8]) -> u64 {
        let vocabulary = self.vocabulary();
        let mut total = 0;
        let mut last: (&[u8], u64) = (&[], 0);
        for stretch in stretches(text) {
            // Megabytes of one character are the slowest text there is, and all pieces are the same.
            if stretch != last.0 {
                last = (stretch, count_stretch(vocabulary, stretch));
            }
            total += last.1;
        }
        total
    }
}

fn count_stretch(vocabulary: Option<&CoreBpe>, text: &[u8]) -> u64 {
    let text = text.to_str_lossy();
    let tokens = match vocabulary {
        Some(vocabulary) => vocabulary.count(&text),
        None => text.chars().count().div_ceil(4),
    };
    tokens as u64
}

/// Cuts `text` where that cannot change the count, and inside a stretch only when it is too long.
///
/// Both vocabularies split text into words before they merge bytes, and no word goes on from a
/// line feed to a character that is not white space.
fn stretches(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (stretch, tail) = rest.split_at(stretch_len(rest));
        rest = tail;
        Some(stretch)
    })
}

fn stretch_len(text: &[u8]) -> usize {
    if text.len() <= LONGEST_STRETCH {
        return text.len();
    }
    let window = &text[..LONGEST_STRETCH];
    let safe = last_boundary(window, text);
    safe.unwrap_or_else(|| char_boundary_before(text, PIECE))
}

/// The last place in `window` after a line feed and before something that is not white space.
fn last_boundary(window: &[u8], text: &[u8]) -> Option<usize> {
    let mut end = window.len();
    while let Some(feed) = window[..end].rfind_byte(b'\n') {
        if text.get(feed + 1).is_some_and(u8::is_ascii_graphic) {
            return Some(feed + 1);
        }
        end = feed;
    }
    None
}

/// The largest index up to `limit` that does not split a UTF-8 character.
pub(crate) fn char_boundary_before(text: &[u8], limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let is_continuation = |index: usize| (0x80..0xC0).contains(&text[index]);
    // A character has at most three continuation bytes; more of them are not UTF-8 anyway.
    let start = limit.saturating_sub(3).max(1);
    (start..=limit).rev().find(|&index| !is_continuation(index)).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(tokenizer: Tokenizer, text: &str) -> u64 {
        Counter::new(tokenizer).count(text.as_bytes())
    }

    /// Counts that an independent implementation (gpt-tokenizer for Node) gives.
    #[test]
    fn counts_match_an_independent_implementation() {
        let go = "if err != nil {\n\t\treturn fmt.Errorf(\"open: %w\", err)\n\t}\n\n\n";
        let cases = [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("fn main() { println!(\"hi\"); }\n", 9, 9),
            ("お誕生日おめでとう", 8, 9),
            (go, 19, 19),
            ("a\r\nb  \r\n\r\n   c", 6, 6),
        ];
        for (text, o200k, cl100k) in cases {
            assert_eq!(count(Tokenizer::O200k, text), o200k, "o200k of {text:?}");
            assert_eq!(count(Tokenizer::Cl100k, text), cl100k, "cl100k of {text:?}");
        }
    }

    #[test]
    fn text_that_looks_like_a_control_token_is_ordinary_text() {
        assert!(count(Tokenizer::O200k, "<|endoftext|>") > 1);
    }

    #[test]
    fn the_heuristic_rounds_up_and_counts_characters() {
        assert_eq!(count(Tokenizer::Chars4, "abcde"), 2);
        assert_eq!(count(Tokenizer::Chars4, "ééééé"), 2);
        assert_eq!(count(Tokenizer::Chars4, ""), 0);
    }

    #[test]
    fn a_long_file_with_ordinary_lines_is_counted_exactly() {
        let text = "let value = compute(1, 2);\n\n    indented();\n".repeat(10_000);
        let vocabulary = tiktoken::get_encoding("o200k_base").expect("it is compiled in");
        assert_eq!(count(Tokenizer::O200k, &text), vocabulary.count(&text) as u64);
    }

    #[test]
    fn one_endless_line_is_counted_nearly_exactly() {
        let text = "abc,123;".repeat(40_000);
        let vocabulary = tiktoken::get_encoding("o200k_base").expect("it is compiled in");
        let exact = vocabulary.count(&text) as u64;
        let counted = count(Tokenizer::O200k, &text);
        assert!(counted >= exact && counted <= exact + 1 + text.len() as u64 / PIECE as u64);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_counted() {
        assert!(Counter::new(Tokenizer::O200k).count(b"caf\xe9 \xff\xfe") > 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn stretches_cover_the_text(text in proptest::collection::vec(any::<u8>(), 0..300_000)) {
            let joined: Vec<u8> = stretches(&text).flatten().copied().collect();
            prop_assert_eq!(joined, text);
        }
    }
}
