//! `quorum index`.

use quorum_engine::indexing::{Place, Which};

use crate::cli::{Cli, Format, IndexArgs};
use crate::failure::Failure;
use crate::{output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &IndexArgs) -> Result<u8, Failure> {
    let place = Place::open(
        &process::folder(cli)?,
        &process::environment(),
        &watching::terminal(cli.quiet),
    )?;
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
