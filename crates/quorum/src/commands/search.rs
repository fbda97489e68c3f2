//! `quorum search`.

use quorum_index::{ContentMode, GrepQuery, Index, Pattern, Presentation, Query, grep};
use quorum_model::search::{SearchKind, SearchMethod, SearchResults};

use crate::cli::{Cli, ContentName, Format, KindName, SearchArgs};
use crate::failure::Failure;
use crate::indexing::Place;
use crate::{output, render};

/// Results where the user names no limit.
const USUAL_LIMIT: usize = 10;
/// Matches of a text or an expression where the user names no limit.
const USUAL_MATCHES: usize = 50;

pub(super) fn run(cli: &Cli, arguments: &SearchArgs) -> Result<u8, Failure> {
    let results = results(cli, arguments)?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&results, file)?,
        Format::Terminal => {
            output::text(&render::search::page(&arguments.query.join(" "), &results), file)?;
        }
    }
    Ok(0)
}

/// What is found.
pub(crate) fn results(cli: &Cli, arguments: &SearchArgs) -> Result<SearchResults, Failure> {
    let query = arguments.query.join(" ");
    if query.trim().is_empty() {
        return Err(Failure::new("the query is empty").with_hint("name words, or an identifier"));
    }
    let place = Place::open(cli)?;
    let how = Presentation {
        content: match arguments.content {
            ContentName::Minimal => ContentMode::Minimal,
            ContentName::Preview => ContentMode::Preview,
            ContentName::Full => ContentMode::Full,
        },
        budget: arguments.budget,
        counter: place.counter(),
        mask: crate::tree::mask,
    };
    if arguments.exact || arguments.regex {
        matching(&place, &query, arguments, &how)
    } else {
        ranked(&place, &query, arguments, &how)
    }
}

fn matching(
    place: &Place,
    query: &str,
    arguments: &SearchArgs,
    how: &Presentation,
) -> Result<SearchResults, Failure> {
    let pattern = if arguments.exact {
        Pattern::exact(query, arguments.ignore_case)?
    } else {
        Pattern::regex(query, arguments.ignore_case)?
    };
    let wanted = GrepQuery {
        paths: arguments.path.clone(),
        languages: arguments.lang.clone(),
        limit: arguments.limit.unwrap_or(USUAL_MATCHES),
    };
    Ok(grep(place.tree()?, &pattern, &wanted, how)?)
}

fn ranked(
    place: &Place,
    query: &str,
    arguments: &SearchArgs,
    how: &Presentation,
) -> Result<SearchResults, Failure> {
    let wanted = Query {
        text: query.to_owned(),
        paths: arguments.path.clone(),
        languages: arguments.lang.clone(),
        kind: arguments.kind.map(|kind| match kind {
            KindName::Symbol => SearchKind::Symbol,
            KindName::Chunk => SearchKind::Chunk,
        }),
        limit: arguments.limit.unwrap_or(USUAL_LIMIT),
    };
    let index = place.index(!arguments.no_update)?;
    let (results, stale) = answer(place, &index, &wanted, how)?;
    if stale == 0 || arguments.no_update {
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
) -> Result<(SearchResults, usize), Failure> {
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
