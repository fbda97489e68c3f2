//! `quorum search`.

use quorum_engine::indexing::Place;
use quorum_engine::search::{SearchMode, SearchRequest, search};
use quorum_index::ContentMode;
use quorum_model::search::SearchKind;

use crate::cli::{Cli, ContentName, Format, KindName, SearchArgs};
use crate::failure::Failure;
use crate::{output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &SearchArgs) -> Result<u8, Failure> {
    let query = arguments.query.join(" ");
    let request = SearchRequest {
        query: query.clone(),
        mode: match (arguments.exact, arguments.regex) {
            (true, _) => SearchMode::Exact,
            (false, true) => SearchMode::Regex,
            (false, false) => SearchMode::Ranked,
        },
        paths: arguments.path.clone(),
        languages: arguments.lang.clone(),
        kind: arguments.kind.map(|kind| match kind {
            KindName::Symbol => SearchKind::Symbol,
            KindName::Chunk => SearchKind::Chunk,
        }),
        ignore_case: arguments.ignore_case,
        no_update: arguments.no_update,
        limit: arguments.limit,
        content: match arguments.content {
            ContentName::Minimal => ContentMode::Minimal,
            ContentName::Preview => ContentMode::Preview,
            ContentName::Full => ContentMode::Full,
        },
        budget: arguments.budget,
    };
    let observer = watching::terminal(cli.quiet);
    let place = Place::open(&process::folder(cli)?, &process::environment(), &observer)?;
    let results = search(&place, &request)?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&results, file)?,
        Format::Terminal => output::text(&render::search::page(&query, &results), file)?,
    }
    Ok(0)
}
