//! `quorum`: the command line.
//!
//! Everything that decides is in `quorum-engine` and the libraries below it; here arguments become
//! requests, results become text, and failures become one line with a way out and an exit code.

mod asked;
mod assistants;
mod browser;
mod cli;
mod commands;
mod failure;
mod interrupt;
mod locate;
mod output;
mod process;
mod render;
mod stdin;
mod watching;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    output::choose_color(cli.color);
    match commands::run(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.report(),
    }
}
