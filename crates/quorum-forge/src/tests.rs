//! Against servers on this machine, and against no server at all.

mod failures;
mod github;
mod gitlab;
mod resolve;
mod secrets;
mod support;
mod transport;
