//! The signs as data, compiled once.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, bytes};
use serde::Deserialize;

use super::disguise::{plain, visible};
use super::needed::Filter;

const ENGLISH: &str = include_str!("signs.toml");
const FOREIGN: &str = include_str!("foreign.toml");

/// A sentence of a kind that nobody, or hardly anybody, says to people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    pub(super) what: &'static str,
    pub(super) strong: bool,
    /// Counts in comments and strings alone.
    pub(super) said: bool,
    /// Speaks of reviewing, and not to any model there is.
    pub(super) aimed: bool,
}

/// All signs. Letters of ASCII alone where that is enough: those of every script would make the
/// expressions many times as large.
pub(super) struct Signs {
    latin: Set<bytes::Regex>,
    scripts: LazyLock<Set<Regex>>,
}

/// Signs that are compiled when the words of one are there.
struct Set<R> {
    filter: Filter,
    each: Vec<(Sign, String, OnceLock<Option<R>>)>,
}

impl<R> Set<R> {
    fn new(signs: Vec<(Sign, String)>) -> Self {
        let filter = Filter::new(signs.iter().map(|(_, pattern)| pattern.as_str()));
        let each = signs.into_iter().map(|(sign, pattern)| (sign, pattern, OnceLock::new()));
        Self { filter, each: each.collect() }
    }

    /// The signs that `text` may have. A test makes sure that all of them compile.
    fn likely<'s>(
        &'s self,
        text: &str,
        compile: fn(&str) -> Option<R>,
    ) -> impl Iterator<Item = (Sign, &'s R)> {
        self.filter.candidates(text).into_iter().filter_map(move |at| {
            let (sign, pattern, compiled) = self.each.get(at)?;
            Some((*sign, compiled.get_or_init(|| compile(pattern)).as_ref()?))
        })
    }
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
    #[serde(default)]
    any_model: bool,
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
    fn patterns(&self) -> [(Sign, String); 4] {
        let (ignore, told) = (&self.ignore, &self.told);
        let dismissed = match self.order.as_str() {
            "told-ignore" => format!("{told}.{{0,20}}?{ignore}"),
            _ => format!("{ignore}.{{0,12}}?{told}|{told}\\W+(?:zu )?{ignore}"),
        };
        let sign = |what, aimed| Sign { what, strong: true, said: false, aimed };
        [
            (sign("asks to ignore instructions", false), dismissed),
            (sign("asks for silence", true), self.silence.clone()),
            (sign("asks for approval", true), self.approve.clone()),
            (
                sign("speaks to reviewers", true),
                format!("{}\\s{{0,2}}(?:[:,!]|：|！|，)", self.who),
            ),
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
            let aimed = !sign.any_model;
            signs.push((Sign { what, strong: sign.strong, said, aimed }, pattern));
        }
    }
    signs
}

fn latin() -> Vec<(Sign, String)> {
    let mut signs = english();
    for language in foreign().iter().filter(|language| language.latin) {
        let patterns = language.patterns().into_iter();
        signs.extend(patterns.map(|(sign, pattern)| (sign, format!(r"\b(?:{pattern})"))));
    }
    signs
}

fn scripts() -> Vec<(Sign, String)> {
    let mut signs = Vec::new();
    for language in foreign().iter().filter(|language| !language.latin) {
        signs.extend(language.patterns());
    }
    signs
}

fn in_ascii(pattern: &str) -> Option<bytes::Regex> {
    bytes::Regex::new(&format!("(?im-u){pattern}")).ok()
}

fn in_any_script(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("(?i){pattern}")).ok()
}

pub(super) static SIGNS: LazyLock<Signs> = LazyLock::new(|| Signs {
    latin: Set::new(latin()),
    scripts: LazyLock::new(|| Set::new(scripts())),
});

impl Signs {
    /// Every sign in a text that [`plain`] gave, with the byte at which it begins.
    pub(super) fn in_latin(&self, text: &str) -> Vec<(Sign, usize)> {
        let found = self.latin.likely(text, in_ascii).flat_map(|(sign, regex)| {
            regex.find_iter(text.as_bytes()).map(move |found| (sign, found.start()))
        });
        found.collect()
    }

    /// Every sign in a text with letters that are not Latin.
    pub(super) fn in_scripts(&self, text: &str) -> Vec<(Sign, usize)> {
        if text.is_ascii() {
            return Vec::new();
        }
        let each = self.scripts.likely(text, in_any_script);
        let found = each.filter_map(|(sign, regex)| Some((sign, regex.find(text)?.start())));
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
        for (_, pattern) in latin() {
            assert!(in_ascii(&pattern).is_some(), "{pattern}");
        }
        for (_, pattern) in scripts() {
            assert!(in_any_script(&pattern).is_some(), "{pattern}");
        }
        let languages = foreign().iter().filter(|language| !language.latin).count();
        assert_eq!(scripts().len(), 4 * languages);
        assert!(english().len() > 50 && foreign().len() > 12);
    }

    /// A line of code that says nothing costs no expression.
    #[test]
    fn few_signs_need_no_words() {
        let likely = SIGNS.latin.filter.candidates("let review = findings.len();");
        assert!(likely.len() < 8, "{likely:?} of {}", SIGNS.latin.each.len());
        let nothing = SIGNS.latin.filter.candidates("");
        assert!(nothing.is_empty(), "{nothing:?}");
    }
}
