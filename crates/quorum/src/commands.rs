//! One module for each command.

mod agents;
mod config;
mod dismiss;
pub(crate) mod eval;
mod index;
mod ingest;
mod memory;
pub(crate) mod plan;
mod resume;
mod review;
mod runs;
mod search;
mod show;
mod size;
mod symbols;
mod verdicts;

use std::io::Write as _;

use clap::CommandFactory as _;

pub(crate) use agents::Claim;
pub(crate) use ingest::Taken;
pub(crate) use runs::{Listed, Status};

use crate::cli::{Cli, Command};
use crate::failure::Failure;

/// Runs the command and returns its exit code.
pub(crate) fn run(cli: &Cli) -> Result<u8, Failure> {
    match &cli.command {
        Command::Plan(arguments) => plan::run(cli, arguments),
        Command::Review(arguments) => review::run(cli, arguments),
        Command::Size(arguments) => size::run(cli, arguments),
        Command::Index(arguments) => index::run(cli, arguments),
        Command::Search(arguments) => search::run(cli, arguments),
        Command::Symbols(arguments) => symbols::run(cli, arguments),
        Command::Agents(arguments) => agents::run(cli, arguments),
        Command::Config(arguments) => config::run(cli, arguments),
        Command::Eval(arguments) => eval::run(cli, arguments),
        Command::Verdicts(arguments) => verdicts::run(cli, arguments),
        Command::Show(arguments) => show::run(cli, arguments),
        Command::Runs(arguments) => runs::run(cli, arguments),
        Command::Resume { run, output } => resume::run(cli, run, output),
        Command::Ingest(arguments) => ingest::run(cli, arguments),
        Command::Memory(arguments) => memory::run(cli, arguments),
        Command::Dismiss(arguments) => dismiss::run(cli, arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "quorum", &mut script);
            std::io::stdout().write_all(&script).map_err(|_| Failure::broken_pipe())?;
            Ok(0)
        }
    }
}
