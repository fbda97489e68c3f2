//! Searching text itself: exactly, or by a regular expression. It needs no index.

use std::sync::atomic::{AtomicUsize, Ordering};

use bstr::{BStr, BString, ByteSlice as _};
use quorum_model::SCHEMA_VERSION;
use quorum_model::search::{SearchKind, SearchMethod, SearchResult, SearchResults};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use regex::bytes::{Regex, RegexBuilder};

use crate::catalog::shown;
use crate::chunk::Text;
use crate::error::IndexError;
use crate::present::{ContentMode, Presentation};
use crate::rank::PathGlobs;
use crate::source::{self, Read, Tree};
use crate::update::to_path;

/// Larger files are not searched.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A text with a NUL byte in its first bytes is not one.
const BINARY_PROBE: usize = 8000;

/// Lines on either side of a match in a preview.
const CONTEXT: u32 = 2;

/// As many matches of one file are counted; more are not worth their time.
const MOST_IN_FILE: usize = 1000;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    method: SearchMethod,
}

impl Pattern {
    /// The text as it stands.
    pub fn exact(text: &str, ignore_case: bool) -> Result<Self, IndexError> {
        Self::build(text, &regex::escape(text), ignore_case, SearchMethod::Exact)
    }

    /// A regular expression; `^` and `$` are the ends of a line.
    pub fn regex(pattern: &str, ignore_case: bool) -> Result<Self, IndexError> {
        Self::build(pattern, pattern, ignore_case, SearchMethod::Regex)
    }

    fn build(
        written: &str,
        pattern: &str,
        ignore_case: bool,
        method: SearchMethod,
    ) -> Result<Self, IndexError> {
        let bad = |message: String| IndexError::BadPattern { pattern: written.to_owned(), message };
        if written.is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        let built = RegexBuilder::new(pattern)
            .multi_line(true)
            .crlf(true)
            .case_insensitive(ignore_case)
            .size_limit(16 << 20)
            .build();
        let regex = built.map_err(|error| {
            let message = error.to_string();
            bad(message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
        })?;
        Ok(Self { regex, method })
    }
}

/// Which files are searched, and how many results there may be.
#[derive(Clone, Debug, Default)]
pub struct GrepQuery {
    /// Globs, folders or files from the root; anywhere where there are none.
    pub paths: Vec<String>,
    /// Whether a file may be searched, by its path.
    pub languages: Vec<String>,
    /// The most results.
    pub limit: usize,
}

struct Match {
    path: BString,
    start_line: u32,
    end_line: u32,
    content: String,
    language: Option<String>,
}

/// Searches the files of `tree`, over all cores. Results come by path and line.
pub fn grep(
    tree: &dyn Tree,
    pattern: &Pattern,
    query: &GrepQuery,
    how: &Presentation,
) -> Result<SearchResults, IndexError> {
    let globs = PathGlobs::new(&query.paths)?;
    let mut files = tree.files()?;
    files.retain(|path| globs.admits(path));
    files.sort();
    let total = AtomicUsize::new(0);
    let found: Vec<Vec<Match>> = files
        .par_iter()
        .map(|path| {
            let matches = matches(tree, path.as_bstr(), pattern, query, how.content);
            total.fetch_add(matches.1, Ordering::Relaxed);
            matches.0
        })
        .collect();
    let mut results = SearchResults {
        schema_version: SCHEMA_VERSION,
        results: Vec::new(),
        method: pattern.method,
        branch: tree.branch(),
        revision: tree.revision(),
        tokens: 0,
        left_out: 0,
    };
    for found in found.into_iter().flatten().take(query.limit) {
        let tokens = how.counter.count(found.content.as_bytes());
        if how.budget.is_some_and(|budget| results.tokens + tokens > budget) {
            break;
        }
        results.tokens += tokens;
        results.results.push(SearchResult {
            path: shown(&found.path),
            start_line: u64::from(found.start_line),
            end_line: u64::from(found.end_line),
            symbol: None,
            kind: SearchKind::Chunk,
            score: 1.0,
            tokens,
            content: found.content,
            symbol_kind: None,
            language: found.language,
            hash: None,
            also_in: Vec::new(),
        });
    }
    results.left_out = total.into_inner().saturating_sub(results.results.len()) as u64;
    Ok(results)
}

/// The matches of one file, at most as many as are asked for, and how many there are.
fn matches(
    tree: &dyn Tree,
    path: &BStr,
    pattern: &Pattern,
    query: &GrepQuery,
    mode: ContentMode,
) -> (Vec<Match>, usize) {
    let Read::Whole(content, _) = source::read(&tree.root().join(to_path(path)), LARGEST) else {
        return (Vec::new(), 0);
    };
    let probe = &content[..content.len().min(BINARY_PROBE)];
    if probe.contains(&0) || !pattern.regex.is_match(&content) {
        return (Vec::new(), 0);
    }
    let (class, content) = tree.classify(path, content);
    let wanted = query.languages.is_empty()
        || query.languages.iter().any(|name| is_language(class.language.as_deref(), name));
    if !wanted {
        return (Vec::new(), 0);
    }
    let text = Text::new(&content);
    let masked = tree.mask(path, &content);
    let masked = Text::new(&masked);
    let mut found: Vec<Match> = Vec::new();
    let mut count = 0;
    let mut last = 0;
    for matched in pattern.regex.find_iter(&content).take(MOST_IN_FILE) {
        let start = text.line_of(matched.start());
        let end = text.line_of(matched.end().saturating_sub(1).max(matched.start()));
        if start <= last {
            continue;
        }
        last = end;
        count += 1;
        if found.len() < query.limit {
            let span = match mode {
                ContentMode::Minimal => start..end + 1,
                _ => start.saturating_sub(CONTEXT).max(1)..(end + CONTEXT).min(text.lines()) + 1,
            };
            let shown = masked.slice(&span);
            let shown = shown[..shown.len().min(4000)].to_str_lossy().trim_end().to_owned();
            found.push(Match {
                path: path.to_owned(),
                start_line: start,
                end_line: end,
                content: shown,
                language: class.language.clone(),
            });
        }
    }
    (found, count)
}

/// Whether a language goes by `name`.
pub(crate) fn is_language(language: Option<&str>, name: &str) -> bool {
    let short = quorum_syntax::Lang::from_name(name);
    language.is_some_and(|language| {
        language.eq_ignore_ascii_case(name)
            || (short.is_some() && quorum_syntax::Lang::from_name(language) == short)
    })
}
