//! The arguments of commands that print a review's result.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where a review's result goes, and in which form.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// For people, for programs, or for a place where people read reviews
    #[arg(long, value_name = "FORMAT", default_value = "terminal")]
    pub(crate) format: ResultFormat,
    /// Write the output to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What is told while a review goes on.
#[derive(Args, Debug)]
pub(crate) struct LiveArgs {
    /// Tell what happens as it happens, one JSON object a line; schemas/event.json. Without a file on
    /// standard output, in place of the report
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) events: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// A page for this terminal
    Terminal,
    /// The result document; schemas/result.json
    Json,
    /// A comment of less than 60,000 characters
    Markdown,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// One page for a browser that needs nothing else
    Html,
    /// GitLab's Code Quality report
    Gitlab,
    /// Test results for a CI server
    Junit,
    /// reviewdog's diagnostics
    Rdjsonl,
    /// Annotations of a GitHub workflow, and its step summary
    Github,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The run: an id, the beginning of one, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) output: ResultArgs,
    /// Show the HTML page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}
