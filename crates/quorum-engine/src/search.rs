//! Finding code by words, by name, by exact text or by a regular expression.

use quorum_index::{ContentMode, GrepQuery, Index, Pattern, Presentation, Query, grep};
use quorum_model::search::{SearchKind, SearchMethod, SearchResults};

use crate::error::EngineError;
use crate::indexing::Place;

/// Results where the user names no limit.
const USUAL_LIMIT: usize = 10;
/// Matches of a text or an expression where the user names no limit.
const USUAL_MATCHES: usize = 50;

/// How a search looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    /// By words and names, and by meaning where a model is set up.
    #[default]
    Ranked,
    /// By exact text.
    Exact,
    /// By a regular expression.
    Regex,
}

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// Words, a name, a text or an expression.
    pub query: String,
    /// How.
    pub mode: SearchMode,
    /// Only in these files, folders or globs.
    pub paths: Vec<String>,
    /// Only in these languages.
    pub languages: Vec<String>,
    /// Only declarations, or pieces of files.
    pub kind: Option<SearchKind>,
    /// Whether an exact text or an expression ignores case.
    pub ignore_case: bool,
    /// Answer from the index as it is.
    pub no_update: bool,
    /// The most results.
    pub limit: Option<usize>,
    /// How much of each is shown.
    pub content: ContentMode,
    /// The most tokens of content.
    pub budget: Option<u64>,
}

/// Finds code.
pub fn search(place: &Place, asked: &SearchRequest) -> Result<SearchResults, EngineError> {
    if asked.query.trim().is_empty() {
        return Err(
            EngineError::invalid("the query is empty").with_hint("name words, or an identifier")
        );
    }
    let how = Presentation {
        content: asked.content,
        budget: asked.budget,
        counter: place.counter(),
        mask: crate::tree::mask,
    };
    match asked.mode {
        SearchMode::Ranked => ranked(place, asked, &how),
        SearchMode::Exact | SearchMode::Regex => matching(place, asked, &how),
    }
}

fn matching(
    place: &Place,
    asked: &SearchRequest,
    how: &Presentation,
) -> Result<SearchResults, EngineError> {
    let pattern = if asked.mode == SearchMode::Exact {
        Pattern::exact(&asked.query, asked.ignore_case)?
    } else {
        Pattern::regex(&asked.query, asked.ignore_case)?
    };
    let wanted = GrepQuery {
        paths: asked.paths.clone(),
        languages: asked.languages.clone(),
        limit: asked.limit.unwrap_or(USUAL_MATCHES),
    };
    Ok(grep(place.tree()?, &pattern, &wanted, how)?)
}

fn ranked(
    place: &Place,
    asked: &SearchRequest,
    how: &Presentation,
) -> Result<SearchResults, EngineError> {
    let wanted = Query {
        text: asked.query.clone(),
        paths: asked.paths.clone(),
        languages: asked.languages.clone(),
        kind: asked.kind,
        limit: asked.limit.unwrap_or(USUAL_LIMIT),
    };
    let index = place.index(!asked.no_update)?;
    let (results, stale) = answer(place, &index, &wanted, how)?;
    if stale == 0 || asked.no_update {
        return Ok(results);
    }
    // A file changed after the look at its times: once more, with the index as it is then.
    drop(index);
    place.update(crate::indexing::Which::All)?;
    Ok(answer(place, &place.index(false)?, &wanted, how)?.0)
}

/// The results, by words and, where a model is configured, by meaning.
fn answer(
    place: &Place,
    index: &Index,
    wanted: &Query,
    how: &Presentation,
) -> Result<(SearchResults, usize), EngineError> {
    let by_meaning = place.embedder().and_then(|embedder| match embedder {
        Some(embedder) => index.find_by_meaning(wanted, &embedder).map(Some),
        None => Ok(None),
    });
    let (found, method) = match by_meaning {
        Ok(Some(found)) => (found, SearchMethod::Fused),
        Ok(None) => (index.find(wanted)?, SearchMethod::Words),
        Err(error) => {
            place.warn(&format!("by words alone: {error}"));
            (index.find(wanted)?, SearchMethod::Words)
        }
    };
    Ok(index.present(&wanted.text, found, how, method))
}
