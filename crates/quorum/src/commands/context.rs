//! `quorum context`.

use quorum_engine::told::tell_about;

use crate::cli::{Cli, ContextArgs, Format};
use crate::failure::Failure;
use crate::{output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &ContextArgs) -> Result<u8, Failure> {
    let (folder, environment) = (process::folder(cli)?, process::environment());
    let observer = watching::terminal(cli.quiet);
    let agent = arguments.agent.as_deref();
    let told = tell_about(&folder, &arguments.paths, agent, &environment, &*observer)?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&told, file)?,
        Format::Terminal => output::text(&render::context::page(&told), file)?,
    }
    Ok(0)
}
