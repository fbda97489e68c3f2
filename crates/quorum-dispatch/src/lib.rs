//! Runs reviewers and returns what they found and what they were shown.
//!
//! The embedded reviewers look at every file once for all agents together; what they found is then
//! credited to the agent whose rule found it.

pub mod branch;
mod builtin;
pub mod llm;
pub mod sops;

pub use builtin::{BUILTIN, Readings, Reviewed, UNLOADED, add_rules, hold_vetoes, outcomes, react};
