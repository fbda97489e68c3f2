//! Words of code and of prose, as they are searched.
//!
//! An identifier is found whole and by its parts: `parseHTTPHeader` is `parsehttpheader`, `pars`,
//! `http` and `header`. Parts are reduced to a stem, so that a question in English ("parses
//! headers") meets code that was written in the imperative.

/// Longer words are data, not names.
const LONGEST_WORD: usize = 64;

/// Calls `found` with every term of `text`; `buffer` is scratch space.
pub(crate) fn each_term(text: &[u8], mut found: impl FnMut(&str)) {
    let mut buffer = String::new();
    for word in words(text) {
        each_term_of_word(word, &mut buffer, &mut found);
    }
}

/// The terms of one word: its parts, and the whole where there are several.
pub(crate) fn each_term_of_word(word: &str, buffer: &mut String, found: &mut impl FnMut(&str)) {
    if word.len() > LONGEST_WORD {
        return;
    }
    let mut parts = 0;
    for part in parts_of(word) {
        parts += 1;
        buffer.clear();
        lower_into(part, buffer);
        let stem = stem(buffer);
        let length = stem.len();
        if length > 1 || !stem.is_ascii() {
            buffer.truncate(length);
            found(buffer);
        }
    }
    if parts > 1 {
        buffer.clear();
        lower_into(word, buffer);
        found(buffer);
    }
}

/// The words of `text`: letters, digits and `_`; what is not UTF-8 ends a word.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    text.split(move |byte| !is_part(byte)).filter(|word| !word.is_empty()).flat_map(|word| {
        // Only a word with bytes beyond ASCII can be anything but UTF-8.
        std::str::from_utf8(word).into_iter().flat_map(|word| {
            word.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
        })
    })
}

fn lower_into(word: &str, buffer: &mut String) {
    if word.is_ascii() {
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
    } else {
        buffer.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// A name as it is looked up: without case and separators.
pub(crate) fn folded(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The parts of an identifier: at `_`, where case changes, and between letters and digits.
pub(crate) fn parts_of(word: &str) -> impl Iterator<Item = &str> {
    word.split('_').filter(|part| !part.is_empty()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (head, tail) = rest.split_at(part_length(rest));
            rest = tail;
            Some(head)
        })
    })
}

fn part_length(text: &str) -> usize {
    let class = |c: char| {
        if c.is_uppercase() {
            0
        } else if c.is_numeric() {
            2
        } else if c.is_ascii() || c.is_lowercase() {
            1
        } else {
            // Scripts without case and without spaces are searched character by character.
            3
        }
    };
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else { return 0 };
    let mut last = class(first);
    if last == 3 {
        return first.len_utf8();
    }
    let mut capitals = usize::from(last == 0);
    for (at, c) in chars {
        let now = class(c);
        let boundary = match (last, now) {
            (0, 1) => {
                // `HTTPServer`: the last capital belongs to the word that follows.
                if capitals > 1 {
                    let before = text[..at].char_indices().next_back().map_or(at, |(i, _)| i);
                    return before;
                }
                false
            }
            (a, b) => a != b,
        };
        if boundary {
            return at;
        }
        capitals += usize::from(now == 0);
        last = now;
    }
    text.len()
}

/// The stem of a lower-case English word: plurals and the usual endings off.
fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let word = singular(word);
    let base = ["ations", "ation", "ators", "ator"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .filter(|base| base.len() > 3)
        .map(|base| &word[..base.len() + 2]);
    let base = base
        .or_else(|| word.strip_suffix("ing").filter(|base| base.len() > 2 && has_vowel(base)))
        .or_else(|| word.strip_suffix("ion").filter(|base| base.len() > 3))
        .or_else(|| word.strip_suffix("ed").filter(|base| base.len() > 2 && has_vowel(base)))
        .or_else(|| word.strip_suffix("er").filter(|base| base.len() > 3))
        .or_else(|| word.strip_suffix("ly").filter(|base| base.len() > 3))
        .unwrap_or(word);
    let base = if base.len() < word.len() { without_double(base) } else { base };
    let base = if base.len() > 3 { base.strip_suffix('e').unwrap_or(base) } else { base };
    if base.len() > 3 && base.ends_with('y') { &base[..base.len() - 1] } else { base }
}

fn singular(word: &str) -> &str {
    let ending = ["ies", "ied"].iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(base) = ending.filter(|base| base.len() > 2) {
        return base;
    }
    for ending in ["sses", "xes", "ches", "shes", "zes"] {
        if word.ends_with(ending) {
            return &word[..word.len() - 2];
        }
    }
    match word.strip_suffix('s') {
        Some(base) if !base.ends_with(['s', 'u', 'i']) => base,
        _ => word,
    }
}

fn has_vowel(text: &str) -> bool {
    text.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// `runn` is `run`, `pass` stays.
fn without_double(base: &str) -> &str {
    let bytes = base.as_bytes();
    match bytes {
        [.., a, b] if a == b && base.len() > 3 && !b"lsz".contains(b) => &base[..base.len() - 1],
        _ => base,
    }
}

/// Words of English that say nothing about code.
pub(crate) fn is_stop_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "a", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does",
        "each", "for", "from", "given", "has", "have", "how", "if", "in", "into", "is", "it",
        "its", "may", "must", "no", "not", "of", "on", "or", "should", "so", "such", "than",
        "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
        "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who", "why",
        "will", "with", "would", "you", "your",
    ];
    WORDS.iter().any(|stop| word.eq_ignore_ascii_case(stop))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_term(text.as_bytes(), |term| found.push(term.to_owned()));
        found
    }

    #[test]
    fn identifiers_are_found_whole_and_by_their_parts() {
        assert_eq!(terms("parseHTTPHeader"), ["pars", "http", "head", "parsehttpheader"]);
        assert_eq!(terms("max_file_size"), ["max", "fil", "siz", "max_file_size"]);
        assert_eq!(terms("src/utf8/lib.rs"), ["src", "utf", "utf8", "lib", "rs"]);
        assert_eq!(terms("x = 42"), ["42"]);
    }

    #[test]
    fn words_of_one_family_have_one_stem() {
        for family in [
            &["parse", "parses", "parsed", "parsing", "parser"][..],
            &["run", "runs", "running"],
            &["create", "creates", "creating", "creation", "created"],
            &["validate", "validation", "validator", "validating"],
            &["entry", "entries"],
            &["class", "classes"],
            &["copy", "copies", "copied", "copying"],
        ] {
            let stems: Vec<_> = family.iter().map(|word| terms(word)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{family:?}: {stems:?}");
        }
    }

    #[test]
    fn short_words_keep_their_form() {
        for word in ["bus", "this", "is", "class", "ring", "need", "red"] {
            assert!(terms(word)[0].len() >= word.len() - 1, "{word}: {:?}", terms(word));
        }
    }

    #[test]
    fn scripts_without_spaces_are_found_by_character() {
        assert_eq!(terms("検索"), ["検", "索", "検索"]);
        assert_eq!(terms("größe"), ["größe"]);
    }

    #[test]
    fn a_name_is_looked_up_without_case_and_separators() {
        assert_eq!(folded("parse_HTTP-Header"), "parsehttpheader");
    }

    #[test]
    fn bytes_that_are_not_utf8_end_a_word() {
        let mut found = Vec::new();
        each_term(b"caf\xe9 plain \xff", |term| found.push(term.to_owned()));
        assert_eq!(found, ["plain"]);
    }
}
