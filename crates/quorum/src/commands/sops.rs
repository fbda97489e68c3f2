//! `quorum sops`.

use quorum_engine::sops;

use crate::cli::{Cli, Format, SopsAction, SopsArgs};
use crate::failure::Failure;
use crate::{output, process, render};

/// The exit code when something is wrong with the SOPs.
const WRONG: u8 = 1;

pub(super) fn run(cli: &Cli, arguments: &SopsArgs) -> Result<u8, Failure> {
    let (folder, environment) = (process::folder(cli)?, process::environment());
    match &arguments.action {
        SopsAction::List { output: out } => {
            let listed = sops::list(&folder, &environment)?;
            let file = out.output.as_deref();
            match out.format {
                Format::Json => output::json(&listed, file)?,
                Format::Terminal => {
                    output::text(&render::sops::list(&listed, output::width()), file)?;
                }
            }
            Ok(0)
        }
        SopsAction::Check { output: out } => {
            let checked = sops::check(&folder, &environment)?;
            let file = out.output.as_deref();
            match out.format {
                Format::Json => output::json(&checked.problems, file)?,
                Format::Terminal => {
                    let page = render::sops::problems(&checked.problems, checked.files);
                    output::text(&page, file)?;
                }
            }
            let wrong = checked.problems.iter().any(|problem| problem.error);
            Ok(if wrong { WRONG } else { 0 })
        }
        SopsAction::Explain { file, output: out } => {
            let explained = sops::explain(&folder, &environment, file)?;
            let file = out.output.as_deref();
            match out.format {
                Format::Json => output::json(&explained, file)?,
                Format::Terminal => output::text(&render::sops::explain(&explained), file)?,
            }
            Ok(0)
        }
    }
}
