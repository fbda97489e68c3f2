//! Results as they are shown: as much text as was asked for, within a token budget.

use std::collections::HashMap;

use bstr::ByteSlice as _;
use quorum_model::SCHEMA_VERSION;
use quorum_model::search::{SearchMethod, SearchResult, SearchResults};
use quorum_syntax::outline::Reader;

use crate::chunk::Text;
use crate::counter::Counter;
use crate::index::Index;
use crate::rank::{Found, Hit, query_terms};
use crate::source::{self, LARGEST_FILE, Read};
use crate::terms;
use crate::update::{content_key, to_path};

/// Lines of a preview.
const PREVIEW: u32 = 8;

/// How much of a result is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentMode {
    /// The signature, or the line that matches best.
    Minimal,
    /// A few lines around what matches.
    #[default]
    Preview,
    /// All of it.
    Full,
}

impl ContentMode {
    fn less(self) -> Option<Self> {
        match self {
            Self::Full => Some(Self::Preview),
            Self::Preview => Some(Self::Minimal),
            Self::Minimal => None,
        }
    }
}

/// How results are shown.
#[derive(Clone, Copy, Debug)]
pub struct Presentation {
    /// How much of each.
    pub content: ContentMode,
    /// The most tokens of all contents together.
    pub budget: Option<u64>,
    /// How tokens are counted.
    pub counter: Counter,
    /// Takes secrets out of a file, by its path and text.
    pub mask: fn(&str, &[u8]) -> Vec<u8>,
}

impl Index {
    /// What was found, with its text. A result that does not fit the budget is shown in less detail;
    /// one that does not fit at all ends the list. A file that changed since it was indexed is left
    /// out; the second value says how many such there were.
    pub fn present(
        &self,
        query: &str,
        found: Found,
        how: &Presentation,
        method: SearchMethod,
    ) -> (SearchResults, usize) {
        let mut texts = Contents { index: self, mask: how.mask, texts: HashMap::new() };
        let mut results = SearchResults {
            schema_version: SCHEMA_VERSION,
            results: Vec::new(),
            method,
            branch: self.catalog.branch.clone(),
            revision: self.catalog.revision.clone(),
            tokens: 0,
            left_out: found.more,
        };
        let mut stale = 0;
        let all = found.hits.len();
        for (place, hit) in found.hits.into_iter().enumerate() {
            let Some(text) = texts.of(&hit) else {
                stale += 1;
                continue;
            };
            let Some((content, tokens)) = fitted(&hit, text, query, how, results.tokens) else {
                results.left_out += (all - place) as u64;
                break;
            };
            results.tokens += tokens;
            results.results.push(result(hit, content, tokens));
        }
        (results, stale)
    }
}

/// Texts of files, read once.
struct Contents<'a> {
    index: &'a Index,
    mask: fn(&str, &[u8]) -> Vec<u8>,
    texts: HashMap<String, Option<Vec<u8>>>,
}

impl Contents<'_> {
    /// The text of the hit's file; absent where it is not the one that was indexed.
    fn of(&mut self, hit: &Hit) -> Option<&[u8]> {
        let (index, mask) = (self.index, self.mask);
        let text = self.texts.entry(hit.path.clone()).or_insert_with(|| {
            let file = index.catalog.find(&hit.path)?;
            let path = index.root.join(to_path(file.path.as_bstr()));
            let Read::Whole(content, _) = source::read(&path, LARGEST_FILE) else { return None };
            let reader = Reader::of(hit.language.as_deref(), &hit.path);
            (content_key(&content, reader) == hit.hash).then(|| mask(&hit.path, &content))
        });
        text.as_deref()
    }
}

fn fitted(
    hit: &Hit,
    text: &[u8],
    query: &str,
    how: &Presentation,
    spent: u64,
) -> Option<(String, u64)> {
    let mut mode = how.content;
    loop {
        let content = content(hit, text, query, mode);
        let tokens = how.counter.count(content.as_bytes());
        if how.budget.is_none_or(|budget| spent + tokens <= budget) {
            return Some((content, tokens));
        }
        mode = mode.less()?;
    }
}

fn result(hit: Hit, content: String, tokens: u64) -> SearchResult {
    let hash = blake3::Hash::from_bytes(hit.hash).to_hex();
    SearchResult {
        path: hit.path,
        start_line: u64::from(hit.start_line),
        end_line: u64::from(hit.end_line),
        symbol_kind: hit.symbol.as_ref().map(|symbol| symbol.kind),
        symbol: hit.symbol.map(|symbol| symbol.qualified()),
        kind: hit.kind,
        score: hit.score,
        tokens,
        content,
        language: hit.language,
        hash: Some(hash.as_str()[..16].to_owned()),
        also_in: hit.also_in,
    }
}

fn content(hit: &Hit, text: &[u8], query: &str, mode: ContentMode) -> String {
    let lines = Text::new(text);
    let (start, end) = (hit.start_line, hit.end_line + 1);
    let whole = match hit.bytes {
        Some((start, end)) => text.get(start as usize..end as usize).unwrap_or_default(),
        None => lines.slice(&(start..end)),
    };
    if mode == ContentMode::Full {
        return whole.to_str_lossy().trim_end().to_owned();
    }
    if let (ContentMode::Minimal, Some(symbol)) = (mode, &hit.symbol) {
        return symbol.signature.clone();
    }
    if hit.bytes.is_some() {
        let limit = if mode == ContentMode::Minimal { 80 } else { 400 };
        let text = whole.to_str_lossy();
        return text[..text.floor_char_boundary(limit)].trim().to_owned();
    }
    let best = best_line(&lines, start..end, query);
    let shown = if mode == ContentMode::Minimal {
        best..best + 1
    } else {
        // From the name on, when what matches is near it.
        let named = hit.symbol.as_ref().and_then(|symbol| u32::try_from(symbol.line).ok());
        let head = named.unwrap_or(start).max(start);
        let near = (head..head + PREVIEW).contains(&best);
        let from = if near { head } else { best.saturating_sub(PREVIEW / 2).max(start) };
        from..end.min(from + PREVIEW)
    };
    let text = lines.slice(&shown).to_str_lossy();
    text[..text.floor_char_boundary(2000)].trim_end().to_owned()
}

/// The line that has most of the query's words.
fn best_line(lines: &Text<'_>, range: std::ops::Range<u32>, query: &str) -> u32 {
    let wanted: Vec<String> = query_terms(query).into_iter().map(|(term, _)| term).collect();
    let score = |line: u32| {
        let mut found: Vec<usize> = Vec::new();
        terms::each_term(lines.slice(&(line..line + 1)), |term| {
            if let Some(index) = wanted.iter().position(|wanted| wanted == term)
                && !found.contains(&index)
            {
                found.push(index);
            }
        });
        found.len()
    };
    let first = range.start;
    range.max_by_key(|&line| (score(line), std::cmp::Reverse(line))).unwrap_or(first)
}
