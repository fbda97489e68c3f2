//! `quorum loop`.

use quorum_engine::looping::{self, LoopOptions};

use crate::cli::{Cli, Format, LoopArgs};
use crate::failure::Failure;
use crate::{asked, interrupt, output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &LoopArgs) -> Result<u8, Failure> {
    let options = LoopOptions {
        root: process::folder(cli)?,
        develop: arguments.develop.clone(),
        develop_seconds: arguments.develop_seconds,
        task: arguments.task.clone(),
        rounds: arguments.rounds,
        review: asked::options(&arguments.run),
    };
    let (environment, observer) = (process::environment(), watching::terminal(cli.quiet));
    let Some(report) = looping::run(&options, &environment, &observer, &interrupt::token())? else {
        return Ok(interrupt::INTERRUPTED);
    };
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::gates::looped(&report), file)?,
    }
    Ok(report.exit_code)
}
