//! From what the user named to files, hunks and their revision.
//!
//! The way through this crate: a [`Request`](request::Request) is
//! [resolved](request::resolve) to a [`Target`](request::Target) with full commit ids; its
//! [files](files::open) come one by one with the text of their hunks; their
//! [contents](content::Contents) are read from git, from disk or from the diff; and
//! [`Classifier`](classify::Classifier) says what each of them is. Git itself answers every
//! question about what changed, so that the answers are the user's own.

pub mod attributes;
pub mod checkout;
pub mod classify;
pub mod content;
pub mod diff;
pub mod error;
pub mod files;
pub mod git;
pub mod hunks;
mod identity;
pub mod ignored;
pub mod paths;
pub mod repository;
pub mod request;
pub mod signals;
pub mod snapshot;
pub mod text;
pub mod versions;

pub use error::ScopeError;
