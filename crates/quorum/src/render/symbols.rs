//! The symbols of a file as a page.

use std::fmt::Write as _;

use quorum_model::symbol::{FileSymbols, Symbol};

use super::style::{count, dim, heading};

/// The whole page.
pub(crate) fn page(file: &FileSymbols) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    _ = write(&mut page, file);
    page
}

fn write(page: &mut String, file: &FileSymbols) -> std::fmt::Result {
    let language = file.language.as_deref().unwrap_or("text");
    let symbols = count(file.symbols.len(), "symbol", "symbols");
    writeln!(page, "{}  {}", heading(&file.path), dim(&format!("{language}, {symbols}")))?;
    let width = file.symbols.iter().map(|symbol| lines(symbol).len()).max().unwrap_or(0);
    for symbol in &file.symbols {
        let depth = symbol.container.as_ref().map_or(0, |above| above.matches('.').count() + 1);
        let indent = "  ".repeat(depth.min(8));
        let facts = format!("{} {}", symbol.visibility.as_str(), symbol.kind.as_str());
        writeln!(
            page,
            "  {:width$}  {indent}{}  {}",
            lines(symbol),
            symbol.signature,
            dim(&facts)
        )?;
    }
    Ok(())
}

fn lines(symbol: &Symbol) -> String {
    format!("{}-{}", symbol.start_line, symbol.end_line)
}
