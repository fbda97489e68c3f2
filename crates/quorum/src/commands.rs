//! One module for each command.

pub(crate) mod advisories;
mod agents;
mod config;
pub(crate) mod context;
pub(crate) mod conventions;
pub(crate) mod dismiss;
mod doctor;
pub(crate) mod eval;
mod gates;
mod index;
mod ingest;
mod looping;
mod man;
mod mcp;
mod memory;
pub(crate) mod plan;
mod post;
pub(crate) mod replay;
mod report;
mod resume;
pub(crate) mod review;
mod rules;
mod runs;
pub(crate) mod search;
mod setup;
mod show;
pub(crate) mod size;
pub(crate) mod sops;
mod symbols;
mod verdicts;

use std::io::Write as _;

use clap::CommandFactory as _;

pub(crate) use agents::Claim;
pub(crate) use runs::{Listed, Status};

use crate::cli::{Cli, Command};
use crate::failure::Failure;

/// Runs the command and returns its exit code.
pub(crate) fn run(cli: &Cli) -> Result<u8, Failure> {
    match &cli.command {
        Command::Plan(arguments) => plan::run(cli, arguments),
        Command::Review(arguments) => review::run(cli, arguments),
        Command::Gates(arguments) => gates::run(cli, arguments),
        Command::Loop(arguments) => looping::run(cli, arguments),
        Command::Gate { arguments } => Ok(quorum_gates::helper(arguments)),
        Command::Size(arguments) => size::run(cli, arguments),
        Command::Index(arguments) => index::run(cli, arguments),
        Command::Search(arguments) => search::run(cli, arguments),
        Command::Symbols(arguments) => symbols::run(cli, arguments),
        Command::Summary(arguments) => symbols::summary(cli, arguments),
        Command::Callers(arguments) => symbols::callers(cli, arguments),
        Command::Map(arguments) => symbols::map(cli, arguments),
        Command::Agents(arguments) => agents::run(cli, arguments),
        Command::Rules(arguments) => rules::run(cli, arguments),
        Command::Sops(arguments) => sops::run(cli, arguments),
        Command::Conventions(arguments) => conventions::run(cli, arguments),
        Command::Context(arguments) => context::run(cli, arguments),
        Command::Config(arguments) => config::run(cli, arguments),
        Command::Advisories(arguments) => advisories::run(cli, arguments),
        Command::Eval(arguments) => eval::run(cli, arguments),
        Command::Verdicts(arguments) => verdicts::run(cli, arguments),
        Command::Show(arguments) => show::run(cli, arguments),
        Command::Runs(arguments) => runs::run(cli, arguments),
        Command::Report(arguments) => report::run(cli, arguments),
        Command::Resume { run, output, live } => resume::run(cli, run, output, live),
        Command::Ingest(arguments) => ingest::run(cli, arguments),
        Command::Replay(arguments) => replay::run(cli, arguments),
        Command::Post(arguments) => post::run(cli, arguments),
        Command::Memory(arguments) => memory::run(cli, arguments),
        Command::Dismiss(arguments) => dismiss::run(cli, arguments),
        Command::Doctor => doctor::run(cli),
        Command::Mcp(arguments) => mcp::run(cli, arguments),
        Command::Setup(arguments) => setup::run(cli, arguments),
        Command::Plugin { folder } => setup::plugin(folder),
        Command::Man { folder } => man::run(folder),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "quorum", &mut script);
            std::io::stdout().write_all(&script).map_err(|_| Failure::broken_pipe())?;
            Ok(0)
        }
    }
}
