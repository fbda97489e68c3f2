//! Token counts and the cutting of text into units.
//!
//! [`Counter`] says what a text costs, [`cut`](cut::cut) turns a text into pieces that fit, and
//! [`TokenCache`] remembers counts by blob id. None of them knows where the text comes from.

mod cache;
mod counter;
pub mod cut;

pub use cache::TokenCache;
pub use counter::Counter;
