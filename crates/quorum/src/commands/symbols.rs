//! `quorum symbols`, `quorum summary`, `quorum callers` and `quorum map`.

use quorum_engine::indexing::Place;

use crate::cli::{CallersArgs, Cli, Format, MapArgs, OutputArgs, SummaryArgs, SymbolsArgs};
use crate::failure::Failure;
use crate::{output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &SymbolsArgs) -> Result<u8, Failure> {
    let place = Place::open(
        &process::folder(cli)?,
        &process::environment(),
        &watching::terminal(cli.quiet),
    )?;
    let index = place.index(!arguments.no_update)?;
    let path = place.path_from_root(&arguments.file);
    if arguments.references {
        let references = index.references(&path)?;
        return show(&references, &arguments.output, render::symbols::references);
    }
    let symbols = index.symbols(&path)?;
    show(&symbols, &arguments.output, render::symbols::page)
}

pub(super) fn summary(cli: &Cli, arguments: &SummaryArgs) -> Result<u8, Failure> {
    let place = Place::open(
        &process::folder(cli)?,
        &process::environment(),
        &watching::terminal(cli.quiet),
    )?;
    let index = place.index(!arguments.no_update)?;
    let path = place.path_from_root(&arguments.file);
    let summary = index.summary(&path, arguments.budget, place.counter())?;
    show(&summary, &arguments.output, render::symbols::summary)
}

pub(super) fn callers(cli: &Cli, arguments: &CallersArgs) -> Result<u8, Failure> {
    let place = Place::open(
        &process::folder(cli)?,
        &process::environment(),
        &watching::terminal(cli.quiet),
    )?;
    let index = place.index(!arguments.no_update)?;
    let callers = index.callers(&arguments.symbol)?;
    show(&callers, &arguments.output, render::symbols::callers)
}

pub(super) fn map(cli: &Cli, arguments: &MapArgs) -> Result<u8, Failure> {
    let place = Place::open(
        &process::folder(cli)?,
        &process::environment(),
        &watching::terminal(cli.quiet),
    )?;
    let index = place.index(!arguments.no_update)?;
    let map = index.map(arguments.budget, place.counter())?;
    show(&map, &arguments.output, render::symbols::map)
}

fn show<T: serde::Serialize>(
    value: &T,
    arguments: &OutputArgs,
    page: impl Fn(&T) -> String,
) -> Result<u8, Failure> {
    let file = arguments.output.as_deref();
    match arguments.format {
        Format::Json => output::json(value, file)?,
        Format::Terminal => output::text(&page(value), file)?,
    }
    Ok(0)
}
