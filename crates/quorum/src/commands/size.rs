//! `quorum size`.

use std::io::Read as _;
use std::path::Path;

use quorum_engine::size::{SizeRequest, measure, read_task};
use quorum_model::size::Task;

use crate::cli::{Cli, Format, SizeArgs};
use crate::failure::Failure;
use crate::{output, process, render, watching};

/// The exit code of a task that is too large.
const TOO_LARGE: u8 = 1;

pub(super) fn run(cli: &Cli, arguments: &SizeArgs) -> Result<u8, Failure> {
    let root = process::folder(cli)?;
    let task = match &arguments.task {
        Some(file) => read(&root, file)?,
        None => Task {
            description: arguments.description.clone(),
            acceptance_criteria: Vec::new(),
            files: arguments.paths.clone(),
        },
    };
    let request = SizeRequest {
        root,
        task,
        allows_new_files: arguments.task.is_some(),
        model: arguments.model.clone(),
        window: arguments.window,
        tokenizer: arguments.tokenizer,
    };
    let observer = watching::terminal(cli.quiet);
    let report = measure(&request, &process::environment(), &*observer)?;
    let file = arguments.output.as_deref();
    let usual = if arguments.task.is_some() { Format::Json } else { Format::Terminal };
    match arguments.format.unwrap_or(usual) {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::size::page(&report), file)?,
    }
    Ok(if arguments.task.is_some() && !report.fits { TOO_LARGE } else { 0 })
}

/// Reads a task; `-` is standard input.
fn read(folder: &Path, file: &Path) -> Result<Task, Failure> {
    let name = file.display().to_string();
    let failed = |cause: std::io::Error| {
        Failure::new(format!("{name}: {cause}"))
            .with_hint("a task is JSON: description, acceptance_criteria, files")
    };
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
    } else {
        text = std::fs::read_to_string(folder.join(file)).map_err(failed)?;
    }
    Ok(read_task(&name, &text)?)
}
