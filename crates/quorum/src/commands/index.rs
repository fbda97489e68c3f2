//! `quorum index`.

use crate::cli::{Cli, Format, IndexArgs};
use crate::failure::Failure;
use crate::indexing::{Place, Which};
use crate::{output, render};

pub(super) fn run(cli: &Cli, arguments: &IndexArgs) -> Result<u8, Failure> {
    let place = Place::open(cli)?;
    let which = if arguments.changed {
        Which::Changed
    } else if arguments.paths.is_empty() {
        Which::All
    } else {
        Which::Named(&arguments.paths)
    };
    let report = place.update(which)?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::index::page(&report), file)?,
    }
    Ok(0)
}
