//! The arguments of what serves coding agents.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
pub(crate) struct McpArgs {
    /// Confine calls to this folder; a client may narrow it down [default: the repository here]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Serve streamable HTTP at /mcp on this address of this machine, such as 127.0.0.1:8931
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// The file with the token that requests must bring [default: `MCP_SERVER_TOKEN`, else a new one,
    /// which is printed]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Close a session that nobody used for so long [default: 900]
    #[arg(long, value_name = "SECONDS", requires = "http", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle: Option<u64>,
    /// Let pages of this origin send requests, such as `http://localhost:5173`
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Let clients run the repository's build, test and lint commands for what is in the work tree
    #[arg(long)]
    pub(crate) allow_gates: bool,
    /// Let them do so also for a change that may be somebody else's: its code runs on this machine
    #[arg(long)]
    pub(crate) trust_gates: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SetupArgs {
    /// The assistant
    pub(crate) assistant: Assistant,
    /// Write the files; without it they are only shown
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Assistant {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Cursor
    Cursor,
}
