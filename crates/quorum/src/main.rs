//! `quorum`: the command line.
//!
//! Everything that decides is in the libraries; here arguments become values, values become text,
//! and failures become one line with a way out and an exit code.

mod assistants;
mod briefing;
mod browser;
mod cli;
mod commands;
mod consent;
mod decided_by;
mod embedded;
mod failure;
mod gates;
mod gather;
mod history;
mod indexing;
mod kept;
mod live;
mod models;
mod narrate;
mod output;
mod policy;
mod progress;
mod pull_request;
mod record;
mod render;
mod reports;
mod request;
mod rounds;
mod serving;
mod settings;
mod stdin;
mod tree;
mod workspace;

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
