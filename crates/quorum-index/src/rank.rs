//! Finding docs by words, ranked with BM25; names come first.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use bstr::ByteSlice as _;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use quorum_model::search::SearchKind;
use quorum_model::symbol::Symbol;

use crate::catalog::{CatalogFile, SYMBOL};
use crate::error::IndexError;
use crate::grep::is_language;
use crate::index::Index;
use crate::record::Record;
use crate::terms;

/// How soon more of the same word stops to count.
const SATURATION: f32 = 4.0;
/// How much long docs are held against themselves.
const LENGTH: f32 = 0.9;
/// How much of a rare word's lead over a common one counts.
const LEAD: f32 = 0.7;
/// After as many words of a query, a word is worth half: what matters is said first.
const HALVING: f32 = 16.0;
/// What a word that comes again in the query adds, beside the first time.
const REPEATED: f32 = 0.5;
/// What is left of the score of text that declares nothing.
const UNNAMED: f32 = 0.8;
/// What a word of the query in the path is worth, beside one in the text.
const PATH: f32 = 0.4;
/// What is left of the score of tests, examples and benchmarks.
const ASIDE: f32 = 0.75;
/// What is left of the score of somebody else's code.
const VENDORED: f32 = 0.5;
/// More terms of a query are not looked up.
const MOST_TERMS: usize = 64;
/// What the best likeness in meaning is worth, beside the best match by words.
const MEANING: f32 = 0.2;
/// Names above all words.
const NAMED: f64 = 1000.0;

/// What is searched for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words, or a name.
    pub text: String,
    /// Globs, folders or files from the root; anywhere where there are none.
    pub paths: Vec<String>,
    /// Languages, by any of their names.
    pub languages: Vec<String>,
    /// Symbols or chunks only.
    pub kind: Option<SearchKind>,
    /// The most results.
    pub limit: usize,
}

/// A place that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The file.
    pub path: String,
    /// Other files with the same content.
    pub also_in: Vec<String>,
    /// First line.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Which bytes of the file, where lines alone do not say it.
    pub bytes: Option<(u32, u32)>,
    /// The symbol, where it is one.
    pub symbol: Option<Symbol>,
    /// What it is.
    pub kind: SearchKind,
    /// Higher is better.
    pub score: f64,
    /// The language.
    pub language: Option<String>,
    /// The key of the content.
    pub hash: [u8; 32],
}

/// What was found, best first.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// At most as many as were asked for.
    pub hits: Vec<Hit>,
    /// How many more there are.
    pub more: u64,
}

/// Which docs may be answers.
pub(crate) struct Filter {
    paths: PathGlobs,
    languages: Option<HashSet<u16>>,
    kind: Option<SearchKind>,
}

impl Filter {
    pub(crate) fn admits(&self, file: &CatalogFile) -> bool {
        let by_language = self
            .languages
            .as_ref()
            .is_none_or(|wanted| file.language.is_some_and(|language| wanted.contains(&language)));
        self.paths.admits(&file.path) && by_language
    }

    fn is_open(&self) -> bool {
        self.paths.is_open() && self.languages.is_none()
    }
}

impl Index {
    /// Finds what `query` asks for, by name and by words.
    pub fn find(&self, query: &Query) -> Result<Found, IndexError> {
        self.find_with(query, &[])
    }

    /// The same, with how much every doc is like the query in meaning, where that is known.
    pub(crate) fn find_with(
        &self,
        query: &Query,
        by_meaning: &[Option<f32>],
    ) -> Result<Found, IndexError> {
        let filter = self.filter(query)?;
        let scores = self.scores(&query.text, by_meaning)?;
        let ranked = self.best(&scores, &filter, query.limit * 4 + 64);
        let mut matches = scores.iter().filter(|score| **score > 0.0).count() as u64;
        let named = match query.kind {
            Some(SearchKind::Chunk) => Vec::new(),
            _ => self.by_name(&query.text, &filter, query.limit)?,
        };
        let mut hits: Vec<Hit> = Vec::new();
        let mut seen: HashSet<(String, u32, u32, Option<u32>)> = HashSet::new();
        let mut records: HashMap<i64, Record> = HashMap::new();
        let best = ranked.first().map_or(0.0, |(score, _)| f64::from(*score));
        for (place, (doc, symbol)) in named.into_iter().enumerate() {
            let Some(hit) = self.hit(doc, Some(symbol), &filter, &mut records)? else { continue };
            if seen.insert((hit.path.clone(), hit.start_line, hit.end_line, None)) {
                #[expect(clippy::cast_precision_loss, reason = "a place in a short list")]
                let score = NAMED + best + 1.0 / (1.0 + place as f64);
                hits.push(Hit { score, ..hit });
            }
        }
        let equals = ranked.chunk_by(|a, b| a.0.total_cmp(&b.0) == Ordering::Equal);
        for (score, doc) in equals.flat_map(|equals| self.settled(equals, &filter)) {
            if hits.len() >= query.limit {
                break;
            }
            let Some(hit) = self.hit(doc, None, &filter, &mut records)? else { continue };
            let part = hit.bytes.map(|bytes| bytes.0);
            if seen.insert((hit.path.clone(), hit.start_line, hit.end_line, part)) {
                hits.push(Hit { score: f64::from(score), ..hit });
            }
        }
        matches = matches.max(hits.len() as u64);
        hits.truncate(query.limit);
        let more = matches - (hits.len() as u64).min(matches);
        Ok(Found { hits, more })
    }

    fn filter(&self, query: &Query) -> Result<Filter, IndexError> {
        let paths = PathGlobs::new(&query.paths)?;
        let mut languages = HashSet::new();
        for name in &query.languages {
            languages.extend(self.languages_named(name)?);
        }
        let languages = (!query.languages.is_empty()).then_some(languages);
        Ok(Filter { paths, languages, kind: query.kind })
    }

    fn languages_named(&self, name: &str) -> Result<Vec<u16>, IndexError> {
        let found: Vec<u16> = (0..)
            .zip(&self.catalog.languages)
            .filter(|(_, known)| is_language(Some(known), name))
            .map(|(index, _)| index)
            .collect();
        if found.is_empty() {
            let mut known = self.catalog.languages.clone();
            known.sort();
            return Err(IndexError::NoSuchLanguage { name: name.to_owned(), known });
        }
        Ok(found)
    }

    /// The score of every doc.
    fn scores(&self, text: &str, by_meaning: &[Option<f32>]) -> Result<Vec<f32>, IndexError> {
        let mut scores = vec![0.0_f32; self.catalog.lengths.len()];
        let mut path_bonus: HashMap<u32, f32> = HashMap::new();
        for (term, weight) in query_terms(text) {
            let mut docs = self.store.postings(&term)?;
            docs.retain(|(doc, _)| self.length(*doc) > 0);
            if !docs.is_empty() {
                let rarity = rarity(self.docs, docs.len()) * weight;
                for (doc, count) in docs {
                    let count = f32::from(count);
                    let length = f32::from(self.length(doc)) / self.average_length;
                    let norm = SATURATION * (1.0 - LENGTH + LENGTH * length);
                    if let Some(score) = scores.get_mut(doc as usize) {
                        *score += rarity * count * (SATURATION + 1.0) / (count + norm);
                    }
                }
            }
            let files = self.store.paths(&term)?;
            let rarity = rarity(self.catalog.files.len(), files.len()) * weight * PATH;
            for file in files {
                *path_bonus.entry(file).or_default() += rarity;
            }
        }
        fuse(&mut scores, by_meaning);
        for (doc, score) in (0..).zip(&mut scores) {
            if !self.is_symbol(doc) {
                *score *= UNNAMED;
            }
        }
        self.weigh_files(&mut scores, &path_bonus);
        Ok(scores)
    }

    /// Adds what a path says, and takes from what stands aside.
    fn weigh_files(&self, scores: &mut [f32], path_bonus: &HashMap<u32, f32>) {
        for (number, file) in (0..).zip(&self.catalog.files) {
            let bonus = path_bonus.get(&number).copied().unwrap_or_default();
            let factor = if file.vendored { VENDORED } else { 1.0 };
            let factor = if file.aside { factor * ASIDE } else { factor };
            if bonus == 0.0 && factor >= 1.0 {
                continue;
            }
            let first = file.first_doc as usize;
            let Some(docs) = scores.get_mut(first..first + file.docs as usize) else { continue };
            for score in docs.iter_mut().filter(|score| **score > 0.0) {
                *score = (*score + bonus) * factor;
            }
            if let Some(first) = docs.first_mut().filter(|score| **score == 0.0) {
                *first = bonus * factor * 0.5;
            }
        }
    }

    pub(crate) fn length(&self, doc: u32) -> u16 {
        self.catalog.lengths.get(doc as usize).copied().unwrap_or_default() & !SYMBOL
    }

    fn is_symbol(&self, doc: u32) -> bool {
        self.catalog.lengths.get(doc as usize).is_some_and(|length| length & SYMBOL != 0)
    }

    fn admitted(&self, filter: &Filter, doc: u32) -> bool {
        let of_kind = filter.kind != Some(SearchKind::Symbol) || self.is_symbol(doc);
        self.length(doc) > 0
            && of_kind
            && (filter.is_open() || self.catalog.files_of(doc).any(|file| filter.admits(file)))
    }

    /// The best docs, and every one that is as good as the last of them.
    fn best(&self, scores: &[f32], filter: &Filter, count: usize) -> Vec<(f32, u32)> {
        let found = (0..).zip(scores).filter(|(_, score)| **score > 0.0);
        let mut found: Vec<(f32, u32)> = found.map(|(doc, score)| (*score, doc)).collect();
        if !filter.is_open() || filter.kind == Some(SearchKind::Symbol) {
            found.retain(|(_, doc)| self.admitted(filter, *doc));
        }
        let by_score = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if found.len() > count {
            found.select_nth_unstable_by(count, by_score);
            let least = found[count].0;
            found.retain(|(score, _)| *score >= least);
        }
        found.sort_unstable_by(by_score);
        found
    }

    /// Docs of one score in an order that does not depend on how the index was made: by path, and
    /// within a file from the top.
    fn settled(&self, equals: &[(f32, u32)], filter: &Filter) -> Vec<(f32, u32)> {
        let mut settled = equals.to_vec();
        if settled.len() > 1 {
            settled.sort_by_cached_key(|(_, doc)| {
                let file = self.catalog.files_of(*doc).find(|file| filter.admits(file));
                file.map(|file| (file.path.clone(), doc - file.first_doc))
            });
        }
        settled
    }

    pub(crate) fn record<'r>(
        &self,
        blob: i64,
        records: &'r mut HashMap<i64, Record>,
    ) -> Result<&'r Record, IndexError> {
        if let std::collections::hash_map::Entry::Vacant(entry) = records.entry(blob) {
            entry.insert(self.store.record(blob)?.unwrap_or_default());
        }
        Ok(&records[&blob])
    }

    /// A doc as a place that people can open.
    fn hit(
        &self,
        doc: u32,
        symbol: Option<u32>,
        filter: &Filter,
        records: &mut HashMap<i64, Record>,
    ) -> Result<Option<Hit>, IndexError> {
        let mut files = self.catalog.files_of(doc).filter(|file| filter.admits(file));
        let Some(file) = files.next() else { return Ok(None) };
        let Some(blob) = file.blob else { return Ok(None) };
        let also_in = files.map(CatalogFile::shown).collect();
        let hash = self.store.key(blob)?.unwrap_or_default();
        let record = self.record(blob, records)?;
        let Some(place) = record.docs.get((doc - file.first_doc) as usize) else { return Ok(None) };
        let as_chunk = filter.kind == Some(SearchKind::Chunk);
        let symbol = symbol.or(place.symbol).filter(|_| !as_chunk);
        let symbol = symbol.and_then(|index| record.symbol_at(index));
        let chunk = record.chunks.get(place.chunk as usize);
        let (start_line, end_line, bytes) = match (symbol, chunk) {
            (Some(symbol), _) => (symbol.start_line, symbol.end_line, None),
            (None, Some(chunk)) => (chunk.start_line, chunk.end_line, chunk.bytes),
            (None, None) => (place.start_line, place.end_line, None),
        };
        let kind = if symbol.is_some() { SearchKind::Symbol } else { SearchKind::Chunk };
        let named = symbol.or_else(|| {
            let of_chunk = chunk.and_then(|chunk| chunk.symbol).filter(|_| as_chunk)?;
            record.symbol_at(of_chunk)
        });
        Ok(Some(Hit {
            path: file.shown(),
            also_in,
            start_line,
            end_line,
            bytes,
            symbol: named.map(|symbol| record.symbol(symbol)),
            kind,
            score: 0.0,
            language: self.catalog.language(file).map(str::to_owned),
            hash,
        }))
    }
}

/// The terms of a query, each with its weight.
pub(crate) fn query_terms(text: &str) -> Vec<(String, f32)> {
    let words = || terms::words(text.as_bytes());
    let telling = words().filter(|word| !terms::is_stop_word(word)).count();
    let mut found: Vec<(String, f32)> = Vec::new();
    let mut buffer = String::new();
    let asked = words().filter(|word| telling == 0 || !terms::is_stop_word(word));
    for (place, word) in (0_u16..).zip(asked) {
        let worth = 0.5_f32.powf(f32::from(place) / HALVING);
        terms::each_term_of_word(word, &mut buffer, &mut |term: &str| {
            if let Some((_, weight)) = found.iter_mut().find(|(known, _)| known == term) {
                *weight = (*weight + REPEATED * worth).min(2.0);
            } else if found.len() < MOST_TERMS {
                found.push((term.to_owned(), worth));
            }
        });
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "the logarithm of a ratio needs no more")]
fn rarity(all: usize, with: usize) -> f32 {
    let (all, with) = (all as f32, with as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln().powf(LEAD)
}

/// Paths, folders and globs from the root.
pub(crate) struct PathGlobs(Option<GlobSet>);

impl PathGlobs {
    pub(crate) fn new(patterns: &[String]) -> Result<Self, IndexError> {
        if patterns.is_empty() {
            return Ok(Self(None));
        }
        let bad = |pattern: &str, error: &globset::Error| IndexError::BadPattern {
            pattern: pattern.to_owned(),
            message: error.kind().to_string(),
        };
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let plain = pattern.trim_start_matches("./").trim_end_matches('/');
            let plain = if plain == "." { "" } else { plain };
            // A folder stands for what is in it.
            let below = if plain.is_empty() { "**".to_owned() } else { format!("{plain}/**") };
            for glob in [plain, &below] {
                let glob = GlobBuilder::new(glob).literal_separator(true).build();
                set.add(glob.map_err(|error| bad(pattern, &error))?);
            }
        }
        let set = set.build().map_err(|error| bad(&patterns.join(" "), &error))?;
        Ok(Self(Some(set)))
    }

    pub(crate) fn admits(&self, path: &[u8]) -> bool {
        let Some(set) = &self.0 else { return true };
        path.to_path().is_ok_and(|path| set.is_match(path))
    }

    fn is_open(&self) -> bool {
        self.0.is_none()
    }
}

/// Adds to every doc's score what it is like the query in meaning. Both are put on one scale first:
/// words from nothing to the best, meaning from the average to the best, since any two texts about
/// code are somewhat alike.
#[expect(clippy::cast_precision_loss, reason = "an average needs no more")]
fn fuse(scores: &mut [f32], by_meaning: &[Option<f32>]) {
    let alike = || by_meaning.iter().copied().flatten();
    let most = alike().fold(f32::MIN, f32::max);
    let average = alike().sum::<f32>() / alike().count().max(1) as f32;
    if most <= average {
        return;
    }
    let best = scores.iter().copied().fold(0.0, f32::max);
    let best = if best > 0.0 { best } else { 1.0 };
    for (score, alike) in scores.iter_mut().zip(by_meaning) {
        let lead = alike.map_or(0.0, |alike| ((alike - average) / (most - average)).max(0.0));
        *score += best * MEANING * lead;
    }
}
