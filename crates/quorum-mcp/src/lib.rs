//! Quorum for coding agents: what the command line can do, as an MCP server.
//!
//! The assistant may do the thinking; scope, budgets, coverage and the verdict stay with Quorum, and
//! only a few lines enter the assistant's context. What needs a repository's policy is behind
//! [`Operations`], which the program implements; this crate holds what is particular to being called
//! by an agent: schemas that cost few tokens, confinement to the client's roots, budgets of branches
//! that are charged with what their tools answer, and reviews that a host's own agents carry out.

mod arguments;
mod branches;
mod call;
mod catalog;
mod confine;
mod delegation;
mod digest;
mod error;
mod http;
mod jobs;
mod meter;
mod operations;
mod prompts;
mod resources;
mod scope;
mod server;
mod tools;

pub use catalog::{INSTRUCTIONS, Listed, listing};
pub use confine::Roots;
pub use error::{Code, ToolError};
pub use http::{HttpSettings, serve_http};
pub use operations::{Consent, Operations};
pub use prompts::consensus_review;
pub use server::{Server, serve_stdio};
