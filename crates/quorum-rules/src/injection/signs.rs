//! The signs as data, compiled once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes;
use serde::Deserialize;

use super::disguise::{plain, visible};

const ENGLISH: &str = include_str!("signs.toml");
const FOREIGN: &str = include_str!("foreign.toml");

/// A sentence of a kind that nobody, or hardly anybody, says to people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    pub(super) what: &'static str,
    pub(super) strong: bool,
    /// Counts in comments and strings alone.
    pub(super) said: bool,
}

/// All signs. Letters of ASCII alone where that is enough: those of every script would make the
/// expressions many times as large.
pub(super) struct Signs {
    latin: bytes::RegexSet,
    latin_each: Vec<(Sign, bytes::Regex)>,
    scripts: LazyLock<Vec<(Sign, regex::Regex)>>,
}

#[derive(Deserialize)]
struct EnglishFile {
    words: BTreeMap<String, String>,
    sign: Vec<EnglishSign>,
}

#[derive(Deserialize)]
struct EnglishSign {
    what: String,
    #[serde(default)]
    strong: bool,
    #[serde(default, rename = "where")]
    place: String,
    patterns: Vec<String>,
}

#[derive(Deserialize)]
struct ForeignFile {
    language: Vec<Language>,
}

#[derive(Deserialize)]
struct Language {
    #[serde(default = "yes")]
    latin: bool,
    #[serde(default)]
    order: String,
    ignore: String,
    told: String,
    silence: String,
    approve: String,
    who: String,
}

fn yes() -> bool {
    true
}

impl Language {
    fn patterns(&self) -> [(&'static str, String); 4] {
        let (ignore, told) = (&self.ignore, &self.told);
        let dismissed = match self.order.as_str() {
            "told-ignore" => format!("{told}.{{0,20}}?{ignore}"),
            _ => format!("{ignore}.{{0,12}}?{told}|{told}\\W+(?:zu )?{ignore}"),
        };
        [
            ("asks to ignore instructions", dismissed),
            ("asks for silence", self.silence.clone()),
            ("asks for approval", self.approve.clone()),
            ("speaks to reviewers", format!("{}\\s{{0,2}}(?:[:,!]|：|！|，)", self.who)),
        ]
    }
}

/// The files are part of the program; a test makes sure that they can be read and compiled.
fn foreign() -> Vec<Language> {
    toml::from_str::<ForeignFile>(FOREIGN).map(|file| file.language).unwrap_or_default()
}

fn english() -> Vec<(Sign, String)> {
    let Ok(file) = toml::from_str::<EnglishFile>(ENGLISH) else { return Vec::new() };
    let mut signs = Vec::new();
    for sign in file.sign {
        // Findings speak of it for as long as the program runs.
        let what: &'static str = Box::leak(sign.what.into_boxed_str());
        let said = sign.place == "said";
        for mut pattern in sign.patterns {
            for (name, words) in &file.words {
                pattern = pattern.replace(&format!("{{{name}}}"), words);
            }
            signs.push((Sign { what, strong: sign.strong, said }, pattern));
        }
    }
    signs
}

fn latin() -> Vec<(Sign, String)> {
    let mut signs = english();
    for language in foreign().iter().filter(|language| language.latin) {
        let patterns = language.patterns().into_iter();
        signs.extend(patterns.map(|(what, pattern)| {
            (Sign { what, strong: true, said: false }, format!(r"\b(?:{pattern})"))
        }));
    }
    signs
}

fn scripts() -> Vec<(Sign, regex::Regex)> {
    let mut signs = Vec::new();
    for language in foreign().iter().filter(|language| !language.latin) {
        for (what, pattern) in language.patterns() {
            if let Ok(pattern) = regex::Regex::new(&format!("(?i){pattern}")) {
                signs.push((Sign { what, strong: true, said: false }, pattern));
            }
        }
    }
    signs
}

pub(super) static SIGNS: LazyLock<Signs> = LazyLock::new(|| {
    let compile = |(sign, pattern): (Sign, String)| {
        let pattern = format!("(?im-u){pattern}");
        bytes::Regex::new(&pattern).ok().map(|compiled| (sign, pattern, compiled))
    };
    let each: Vec<_> = latin().into_iter().filter_map(compile).collect();
    let set = bytes::RegexSetBuilder::new(each.iter().map(|(_, pattern, _)| pattern))
        .size_limit(64 << 20)
        .dfa_size_limit(16 << 20)
        .build();
    Signs {
        latin: set.unwrap_or_else(|_| bytes::RegexSet::empty()),
        latin_each: each.into_iter().map(|(sign, _, compiled)| (sign, compiled)).collect(),
        scripts: LazyLock::new(scripts),
    }
});

impl Signs {
    /// Every sign in a text that [`plain`] gave, with the byte at which it begins.
    pub(super) fn in_latin(&self, text: &str) -> Vec<(Sign, usize)> {
        let matched = self.latin.matches(text.as_bytes());
        let each = matched.iter().filter_map(|index| self.latin_each.get(index));
        let found = each.flat_map(|(sign, regex)| {
            regex.find_iter(text.as_bytes()).map(|found| (*sign, found.start()))
        });
        found.collect()
    }

    /// Every sign in a text with letters that are not Latin.
    pub(super) fn in_scripts(&self, text: &str) -> Vec<(Sign, usize)> {
        if text.is_ascii() {
            return Vec::new();
        }
        let each = self.scripts.iter();
        let found = each.filter_map(|(sign, regex)| Some((*sign, regex.find(text)?.start())));
        found.collect()
    }

    /// The first sign in any text that is wanted.
    pub(super) fn first(&self, text: &str, wanted: impl Fn(&Sign) -> bool) -> Option<Sign> {
        let latin = self.in_latin(&plain(text));
        let all = latin.into_iter().chain(self.in_scripts(&visible(text)));
        all.map(|(sign, _)| sign).find(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_compiles() {
        let signs = &*SIGNS;
        assert_eq!(signs.latin_each.len(), latin().len());
        assert_eq!(signs.latin.len(), latin().len());
        let scripts = foreign().iter().filter(|language| !language.latin).count();
        assert_eq!(signs.scripts.len(), 4 * scripts);
        assert!(english().len() > 50 && foreign().len() > 12);
    }
}
