//! Results of a search as a page.

use std::fmt::Write as _;

use quorum_model::search::{SearchResult, SearchResults};

use super::style::{dim, heading, number};
use super::symbols::harmless;

/// The whole page.
pub(crate) fn page(query: &str, results: &SearchResults) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    _ = write(&mut page, query, results);
    page
}

fn write(page: &mut String, query: &str, results: &SearchResults) -> std::fmt::Result {
    if results.results.is_empty() {
        writeln!(page, "Nothing matches `{}`.", quorum_rules::secrets::redact(query))?;
        if results.left_out > 0 {
            writeln!(page, "{}", dim("The token budget has no room for the best result."))?;
        }
        return Ok(());
    }
    for result in &results.results {
        head(page, result)?;
        body(page, result)?;
    }
    if results.left_out > 0 {
        let text = format!("{} more match; `--limit` shows them", number(results.left_out));
        writeln!(page, "{}", dim(&text))?;
    }
    Ok(())
}

fn head(page: &mut String, result: &SearchResult) -> std::fmt::Result {
    let lines = if result.start_line == result.end_line {
        result.start_line.to_string()
    } else {
        format!("{}-{}", result.start_line, result.end_line)
    };
    write!(page, "{}", heading(&format!("{}:{lines}", result.path)))?;
    if let Some(symbol) = &result.symbol {
        let kind = result.symbol_kind.map_or("", |kind| kind.as_str());
        write!(page, "  {} {symbol}", dim(kind))?;
    }
    if !result.also_in.is_empty() {
        let also = format!("also in {}", result.also_in.join(", "));
        write!(page, "  {}", dim(&also))?;
    }
    writeln!(page)
}

fn body(page: &mut String, result: &SearchResult) -> std::fmt::Result {
    for line in result.content.lines() {
        writeln!(page, "    {}", harmless(line.trim_end()))?;
    }
    writeln!(page)
}
