//! The arguments of the commands for the embedded reviewers: rules, advisories, measurement.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::OutputArgs;

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    /// A folder of labelled code
    pub(crate) folder: Option<PathBuf>,
    /// A table of labels for whole files: file, category, expected[, cwe]
    #[arg(long, value_name = "CSV", requires = "folder")]
    pub(crate) labels: Option<PathBuf>,
    /// Another tool's findings on the same folder, as SARIF or its own JSON
    #[arg(long, value_name = "NAME=FILE", requires = "folder")]
    pub(crate) against: Vec<String>,
    /// Only what these reviewers find
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) agents: Vec<String>,
    /// How many lines a finding may be away from its label
    #[arg(long, value_name = "LINES", default_value_t = 1)]
    pub(crate) tolerance: u64,
    /// Count findings on lines without a label as false
    #[arg(long)]
    pub(crate) unlabelled: bool,
    /// Also list places, one per line
    #[arg(long, value_name = "WHICH")]
    pub(crate) list: Option<EvalList>,
    /// Review the last N commits of a repository one by one
    #[arg(long, value_names = ["REPO", "N"], num_args = 2, conflicts_with = "folder")]
    pub(crate) commits: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalList {
    /// Defects that were not found
    Missed,
    /// Sound places with a finding
    False,
    /// Findings on lines that the corpus says nothing about
    Unlabelled,
}

#[derive(Args, Debug)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    pub(crate) action: RulesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesAction {
    /// Print every rule: the embedded ones, and the team's own from .quorum/rules/
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print one rule with its cases
    Show {
        /// Its id
        id: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Run the cases inside the rules: what they must find, and what they must leave alone
    Test {
        /// Rule files; without any, all embedded rules and the team's own
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Args, Debug)]
pub(crate) struct AdvisoriesArgs {
    #[command(subcommand)]
    pub(crate) action: AdvisoriesAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdvisoriesAction {
    /// Take in advisories in OSV form from folders, zip archives or files
    Import {
        /// Where they are
        #[arg(required = true, value_name = "DIR|ZIP")]
        from: Vec<PathBuf>,
    },
    /// Fetch the advisories of all ecosystems, or of those that are named
    Update {
        /// The address below which each ecosystem has its all.zip; default: advisories.url
        #[arg(long)]
        url: Option<String>,
        /// Such as npm, go or maven; `status` lists those that there are
        #[arg(value_name = "ECOSYSTEM")]
        ecosystems: Vec<String>,
    },
    /// Say what there is, and of which day
    Status {
        #[command(flatten)]
        output: OutputArgs,
    },
}
