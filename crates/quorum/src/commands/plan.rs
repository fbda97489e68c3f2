//! `quorum plan`.

use crate::cli::{Cli, Format, PlanArgs};
use crate::failure::Failure;
use crate::{asked, output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &PlanArgs) -> Result<u8, Failure> {
    let change = &arguments.change;
    let request = asked::request(cli, &change.scope, &change.run)?;
    let (environment, observer) = (process::environment(), watching::terminal(cli.quiet));
    let prepared = match &arguments.prompts {
        None => quorum_engine::plan(&request, &environment, &*observer)?,
        Some(folder) => {
            let prepared = quorum_engine::plan_with_prompts(&request, &environment, &*observer)?;
            quorum_engine::write_prompts(&prepared, folder)?;
            prepared
        }
    };
    let file = change.output.output.as_deref();
    match change.output.format {
        Format::Json => output::json(&prepared.plan, file)?,
        Format::Terminal => {
            let roster = &prepared.workspace.roster;
            output::text(&render::plan::page(&prepared.plan, roster, output::width()), file)?;
        }
    }
    Ok(0)
}
