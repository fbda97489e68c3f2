//! Against servers on this machine, and against no server at all.

mod failures;
mod github;
mod gitlab;
mod post;
mod resolve;
mod secrets;
pub(crate) mod support;
mod transport;
