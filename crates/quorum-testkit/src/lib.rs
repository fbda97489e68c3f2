//! A model server on loopback that records what it is sent and misbehaves on command.
//!
//! It speaks `OpenAI`'s Chat Completions and Anthropic's Messages. What it answers is decided by a
//! policy, a function from what it is asked to a [`Reply`]. It stands in for servers that cannot be
//! made to fail on purpose, in tests alone.

mod answer;
mod faults;
mod http;
mod server;

pub use answer::{Turn, Usage};
pub use faults::Faults;
pub use server::{Asked, Protocol, Recorded, Reply, Server};
