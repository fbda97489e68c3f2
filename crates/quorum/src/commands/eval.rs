//! `quorum eval`.

use quorum_engine::eval::commits::review_commits;
use quorum_engine::eval::{EvalRequest, evaluate};

use crate::cli::{Cli, EvalArgs, Format};
use crate::failure::Failure;
use crate::{output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &EvalArgs) -> Result<u8, Failure> {
    if let [repository, number] = arguments.commits.as_slice() {
        return commits(cli, arguments, repository, number);
    }
    let Some(folder) = &arguments.folder else {
        return Err(Failure::new("nothing to measure on")
            .with_hint("name a folder of labelled code, or `--commits REPO N`"));
    };
    let request = EvalRequest {
        folder: process::folder(cli)?.join(folder),
        labels: arguments.labels.clone(),
        against: arguments.against.clone(),
        agents: arguments.agents.clone(),
        tolerance: arguments.tolerance,
        unlabelled: arguments.unlabelled,
    };
    let evaluation = evaluate(&request, &*watching::terminal(cli.quiet))?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&evaluation, file)?,
        Format::Terminal => {
            output::text(&render::eval::page(&evaluation, arguments.list), file)?;
        }
    }
    Ok(0)
}

fn commits(cli: &Cli, arguments: &EvalArgs, repository: &str, number: &str) -> Result<u8, Failure> {
    let number: u32 = number.parse().map_err(|_| {
        Failure::new(format!("`{number}` is not a number of commits"))
            .with_hint("for example `--commits . 200`")
    })?;
    let folder = process::folder(cli)?.join(repository);
    let (environment, observer) = (process::environment(), watching::terminal(cli.quiet));
    let agents = &arguments.agents;
    let noise = review_commits(&folder, repository, number, agents, &environment, &*observer)?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&noise, file)?,
        Format::Terminal => output::text(&render::eval::noise(&noise), file)?,
    }
    Ok(0)
}
