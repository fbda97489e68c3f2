//! Symbols, and what refers to them, as pages.

use std::fmt::Write as _;

use quorum_model::symbol::{
    Callers, Certainty, FileReferences, FileSummary, FileSymbols, RepositoryMap, Symbol,
};

use super::style::{count, dim, heading, number};

/// The symbols of a file.
pub(crate) fn page(file: &FileSymbols) -> String {
    made(|page| {
        let language = file.language.as_deref().unwrap_or("text");
        let symbols = count(file.symbols.len(), "symbol", "symbols");
        let facts = format!("{language}, {} tokens, {symbols}", number(file.tokens));
        writeln!(page, "{}  {}", heading(&file.path), dim(&facts))?;
        let width = file.symbols.iter().map(|symbol| lines(symbol).len()).max().unwrap_or(0);
        for symbol in &file.symbols {
            let depth = symbol.container.as_ref().map_or(0, |above| above.matches('.').count() + 1);
            let indent = "  ".repeat(depth.min(8));
            let facts = format!("{} {}", symbol.visibility.as_str(), symbol.kind.as_str());
            let signature = harmless(&symbol.signature);
            writeln!(page, "  {:width$}  {indent}{signature}  {}", lines(symbol), dim(&facts))?;
        }
        Ok(())
    })
}

/// The signatures of a file.
pub(crate) fn summary(summary: &FileSummary) -> String {
    made(|page| {
        let facts = format!("{} of {} tokens", number(summary.tokens), number(summary.file_tokens));
        writeln!(page, "{}  {}", heading(&summary.path), dim(&facts))?;
        for line in summary.text.lines() {
            writeln!(page, "{}", harmless(line))?;
        }
        left_out(page, summary.left_out)
    })
}

/// Who calls a symbol.
pub(crate) fn callers(found: &Callers) -> String {
    made(|page| {
        if found.definitions.is_empty() {
            writeln!(page, "{}  {}", heading(&found.symbol), dim("declared elsewhere"))?;
        }
        for place in &found.definitions {
            let at = format!("{}:{}", place.path, place.symbol.line);
            writeln!(page, "{}  {}", heading(&at), harmless(&place.symbol.signature))?;
        }
        if found.callers.is_empty() {
            writeln!(page, "  {}", dim("nobody calls it by this name"))?;
        }
        let possible = |certainty| certainty == Certainty::Possible;
        for call in found.callers.iter().filter(|call| !possible(call.certainty)) {
            let caller = call.caller.as_deref().unwrap_or("top level");
            writeln!(page, "  {}:{}  {}", call.path, call.line, dim(caller))?;
        }
        let unsure: Vec<_> = found.callers.iter().filter(|c| possible(c.certainty)).collect();
        if !unsure.is_empty() {
            let text = "by the name alone, which is declared more than once:";
            writeln!(page, "  {}", dim(text))?;
        }
        for call in unsure {
            let caller = call.caller.as_deref().unwrap_or("top level");
            writeln!(page, "  {}:{}  {}", call.path, call.line, dim(caller))?;
        }
        Ok(())
    })
}

/// What a file refers to.
pub(crate) fn references(found: &FileReferences) -> String {
    made(|page| {
        writeln!(page, "{}", heading(&found.path))?;
        for import in &found.imports {
            let files = import.files.join(", ");
            let files = if files.is_empty() { dim("from elsewhere") } else { files };
            writeln!(page, "  {:>5}  imports {}  {files}", import.line, import.module)?;
        }
        for used in &found.uses {
            let sure = if used.certainty == Certainty::Likely { "" } else { " or " };
            let files = if sure.is_empty() {
                used.declared_in.join(", ")
            } else {
                used.declared_in.join(sure)
            };
            writeln!(page, "  {:>5}  uses {}  {}", used.line, used.name, dim(&files))?;
        }
        Ok(())
    })
}

/// The map of a repository.
pub(crate) fn map(map: &RepositoryMap) -> String {
    made(|page| {
        for line in map.text.lines() {
            let file = !line.starts_with(' ');
            let line = harmless(line);
            writeln!(page, "{}", if file { heading(&line) } else { line })?;
        }
        let facts = format!("{} of {} tokens", number(map.tokens), number(map.budget));
        writeln!(page, "{}", dim(&facts))?;
        left_out(page, map.left_out)
    })
}

fn left_out(page: &mut String, symbols: u64) -> std::fmt::Result {
    if symbols == 0 {
        return Ok(());
    }
    let symbols = usize::try_from(symbols).unwrap_or(usize::MAX);
    writeln!(page, "{}", dim(&format!("{} left out", count(symbols, "symbol", "symbols"))))
}

fn made(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    _ = write(&mut page);
    page
}

/// What a file holds must not steer the terminal.
pub(super) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

fn lines(symbol: &Symbol) -> String {
    format!("{}-{}", symbol.start_line, symbol.end_line)
}
