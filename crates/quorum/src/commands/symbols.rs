//! `quorum symbols`.

use crate::cli::{Cli, Format, SymbolsArgs};
use crate::failure::Failure;
use crate::indexing::Place;
use crate::{output, render};

pub(super) fn run(cli: &Cli, arguments: &SymbolsArgs) -> Result<u8, Failure> {
    let place = Place::open(cli)?;
    let index = place.index(!arguments.no_update)?;
    let symbols = index.symbols(&place.path_from_root(&arguments.file))?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&symbols, file)?,
        Format::Terminal => output::text(&render::symbols::page(&symbols), file)?,
    }
    Ok(0)
}
