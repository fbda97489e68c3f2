//! The arguments of the commands that read and keep what reviews left.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::OutputArgs;

#[derive(Args, Debug)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) action: RunsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// List the runs, the newest last
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show where a run stands and where its files are
    Show {
        /// An id, the beginning of one, or `latest`
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove old runs; what a process works on stays
    Clean {
        /// Keep this many of the newest
        #[arg(long, value_name = "N", required_unless_present = "older_than")]
        keep: Option<usize>,
        /// Keep all that are younger, such as `7d`, `12h` or `2w`
        #[arg(long, value_name = "AGE")]
        older_than: Option<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct RunArg {
    /// The run: an id, the beginning of one, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
}

#[derive(Args, Debug)]
pub(crate) struct VerdictsArgs {
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Only how many agents have each status
    #[arg(long, group = "view")]
    pub(crate) count: bool,
    /// Only agents that need a look, with the path of their page
    #[arg(long, group = "view")]
    pub(crate) attention: bool,
    /// What each agent spent, and all together
    #[arg(long, group = "view")]
    pub(crate) tokens: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// An agent, a finding's id such as `SEC-001`, or the beginning of a fingerprint
    #[arg(value_name = "AGENT|FINDING")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Only the head of an agent's page: index, verdict, summary
    #[arg(long)]
    pub(crate) index: bool,
    /// A finding's code as it is in the repository: secrets in it are masked everywhere else
    #[arg(long)]
    pub(crate) reveal: bool,
    /// Print at most this many tokens; what is left out is named
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct IngestArgs {
    /// Pages with a findings index, or agents' JSON
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Only say what the files are; take nothing in
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    pub(crate) action: MemoryAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryAction {
    /// Record a lesson
    Record {
        /// What it is about
        title: String,
        /// The lesson; `-` reads it from standard input
        content: String,
        /// Words to find it by
        #[arg(long, value_name = "A,B", value_delimiter = ',')]
        tags: Vec<String>,
        /// It tells of something that did not work
        #[arg(long)]
        failure: bool,
    },
    /// Find lessons by their words
    Search {
        /// The words
        query: String,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 5)]
        limit: usize,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// List all lessons, the newest first
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Say that a lesson helped
    Helpful {
        /// Its name
        memory: String,
    },
    /// Say that a lesson did not help
    Unhelpful {
        /// Its name
        memory: String,
    },
    /// Forget a lesson
    Forget {
        /// Its name
        memory: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct DismissArgs {
    /// A finding's id such as `SEC-001`, or the beginning of its fingerprint
    #[arg(value_name = "FINDING", required_unless_present = "list")]
    pub(crate) finding: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Why it is set aside
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["undo", "list"], value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) reason: Option<String>,
    /// Who sets it aside [default: git's user.name]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// The last day on which it holds, as `2027-01-31` or `30d`
    #[arg(long, value_name = "DAY|AGE")]
    pub(crate) expires: Option<String>,
    /// Write it to `.quorum/dismissed.toml`, to be committed, instead of this clone's ledger
    #[arg(long)]
    pub(crate) shared: bool,
    /// Take it up again
    #[arg(long, conflicts_with_all = ["reason", "expires", "author"])]
    pub(crate) undo: bool,
    /// List what is set aside
    #[arg(long, conflicts_with_all = ["finding", "reason", "expires", "author", "shared", "undo"])]
    pub(crate) list: bool,
}
