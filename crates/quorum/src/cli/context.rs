//! The arguments of the commands about what reviewers are told.

use clap::{Args, Subcommand};

use super::OutputArgs;

#[derive(Args, Debug)]
pub(crate) struct SopsArgs {
    #[command(subcommand)]
    pub(crate) action: SopsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SopsAction {
    /// List the team's standing orders
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Look for mistakes in them: front matter, globs, checks, tokens
    Check {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Say which of them apply to a file, and why
    Explain {
        /// The file; it need not exist yet
        file: String,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ConventionsArgs {
    #[command(subcommand)]
    pub(crate) action: ConventionsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConventionsAction {
    /// List the documents that say how the team writes code, and what reviewers offer to add
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make conventions of offers: files in .quorum/conventions/, to be committed
    Accept {
        /// Their names, such as `c-1a2b3c4d`
        #[arg(required = true, value_name = "OFFER")]
        offers: Vec<String>,
    },
    /// Set offers aside for good
    Reject {
        /// Their names, such as `c-1a2b3c4d`
        #[arg(required = true, value_name = "OFFER")]
        offers: Vec<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ContextArgs {
    /// Files, directories and globs
    #[arg(required = true, value_name = "FILE")]
    pub(crate) paths: Vec<String>,
    /// What this reviewer would be told: only of the files that are in its domain
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
