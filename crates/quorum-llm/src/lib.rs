//! Speaks to language models: one request, one answer, whatever the provider.
//!
//! A [`Request`] is written in our own words. A [`Provider`] turns it into what its server speaks
//! and the answer back into an [`Answer`]. [`Client`] stands in front of one or more providers and
//! does what all of them need: patience, limits, and a way out when one of them fails.

mod anthropic;
mod backoff;
mod breaker;
mod client;
mod command;
mod connect;
mod error;
pub mod extract;
mod gemini;
mod http;
mod key;
mod limiter;
mod message;
mod openai_chat;
mod openai_responses;
mod provider;
mod replay;
mod sse;
mod usage;
mod wire;

pub use backoff::Backoff;
pub use client::{Admission, Client, ClientSettings, Exchange, Refused, Unlimited};
pub use command::{CommandProvider, CommandTemplate};
pub use connect::{Endpoint, connect};
pub use error::LlmError;
pub use http::{HttpProvider, Timeouts};
pub use key::Key;
pub use message::{
    Answer, Finish, Message, Request, Schema, Text, Tool, ToolCall, ToolChoice, ToolResult,
};
pub use provider::{Answering, Progress, Provider, Silent};
pub use replay::ReplayProvider;
pub use usage::{Believed, Counted, Prices, Usage};
