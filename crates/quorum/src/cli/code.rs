//! The arguments of the commands that look at code: its size, its symbols, its words.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quorum_model::config::Tokenizer;

use super::{Format, OutputArgs};

#[derive(Args, Debug)]
pub(crate) struct SizeArgs {
    /// Files, directories and globs
    #[arg(required_unless_present = "task")]
    pub(crate) paths: Vec<String>,
    /// A task to size: a JSON file, or `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "description"])]
    pub(crate) task: Option<PathBuf>,
    /// The model to size for [default: a window of 200,000 tokens]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// A window to size for, in place of a model's
    #[arg(long, value_name = "TOKENS", conflicts_with = "model")]
    pub(crate) window: Option<u64>,
    /// What is to be done with the files, in words; they are counted, too
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) description: String,
    /// How tokens are counted
    #[arg(long, value_name = "NAME", value_parser = super::words::<Tokenizer>(super::TOKENIZERS))]
    pub(crate) tokenizer: Option<Tokenizer>,
    /// For people, or for programs [default: terminal; json with --task]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Write the output to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct IndexArgs {
    /// Files, directories and globs to look at; everything where none is named
    pub(crate) paths: Vec<String>,
    /// Look only at what git calls changed since the last time
    #[arg(long, conflicts_with = "paths")]
    pub(crate) changed: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SearchArgs {
    /// Words, a name, or with `--exact` and `--regex` a text or an expression
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Only in these files, directories or globs, from the root
    #[arg(long, value_name = "GLOB", help_heading = "Where")]
    pub(crate) path: Vec<String>,
    /// Only in this language
    #[arg(long, value_name = "L", help_heading = "Where")]
    pub(crate) lang: Vec<String>,
    /// Only declarations, or pieces of files
    #[arg(long, value_name = "KIND", help_heading = "Where", conflicts_with_all = ["exact", "regex"])]
    pub(crate) kind: Option<KindName>,
    /// Find this text, exactly
    #[arg(long, conflicts_with = "regex", help_heading = "How")]
    pub(crate) exact: bool,
    /// Find what this regular expression matches
    #[arg(long, help_heading = "How")]
    pub(crate) regex: bool,
    /// Ignore case in `--exact` and `--regex`
    #[arg(short, long, help_heading = "How")]
    pub(crate) ignore_case: bool,
    /// Answer from the index as it is, without a look at what changed
    #[arg(long, help_heading = "How")]
    pub(crate) no_update: bool,
    /// The most results [default: 10; 50 for `--exact` and `--regex`]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) limit: Option<usize>,
    /// How much of each result to show
    #[arg(long, value_name = "HOW", default_value = "preview", help_heading = "Output")]
    pub(crate) content: ContentName,
    /// The most tokens of all contents together; results are shortened to fit, then left out
    #[arg(long, value_name = "TOKENS", help_heading = "Output")]
    pub(crate) budget: Option<u64>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// Declarations
    Symbol,
    /// Pieces of files
    Chunk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentName {
    /// The signature, or the line that matches best
    Minimal,
    /// A few lines
    Preview,
    /// All of it
    Full,
}

#[derive(Args, Debug)]
pub(crate) struct SummaryArgs {
    /// The file
    pub(crate) file: String,
    /// The most tokens; what is private and what is nested goes first
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// Answer from the index as it is, without a look at what changed
    #[arg(long)]
    pub(crate) no_update: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CallersArgs {
    /// The name; `Type.name` or `Type::name` where it is not unique
    pub(crate) symbol: String,
    /// Answer from the index as it is, without a look at what changed
    #[arg(long)]
    pub(crate) no_update: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MapArgs {
    /// The most tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 2000)]
    pub(crate) budget: u64,
    /// Answer from the index as it is, without a look at what changed
    #[arg(long)]
    pub(crate) no_update: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SymbolsArgs {
    /// The file
    pub(crate) file: String,
    /// List what the file imports and which symbols of the repository it uses
    #[arg(long)]
    pub(crate) references: bool,
    /// Answer from the index as it is, without a look at what changed
    #[arg(long)]
    pub(crate) no_update: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
