//! Token counts, and an index of a repository: chunks, symbols, references and search.
//!
//! [`Counter`] says what a text costs, [`cut`](cut::cut) turns a text into pieces that fit, and
//! [`TokenCache`] remembers counts by blob id.
//!
//! [`update`] brings an index on disk up to date with a [`Tree`]; [`Index`] answers from it. The way
//! of a content: `analyze` reads it once into a record (symbols, references, chunks) and its terms,
//! `store` keeps both by the hash of the content, and the catalog says which contents are in the
//! present tree.

mod analyze;
mod cache;
mod catalog;
mod chunk;
mod counter;
pub mod cut;
mod embed;
mod error;
mod grep;
mod imports;
mod index;
mod map;
mod names;
mod postings;
mod present;
mod rank;
mod record;
mod relations;
mod source;
mod store;
mod terms;
mod update;

pub use cache::TokenCache;
pub use counter::Counter;
pub use embed::{Embedder, Mask, Sending, embed};
pub use error::IndexError;
pub use grep::{GrepQuery, Pattern, grep};
pub use imports::Paths as ImportPaths;
pub use index::Index;
pub use present::{ContentMode, Presentation};
pub use rank::{Found, Hit, Query};
pub use source::{Class, LARGEST_FILE, Tree};
pub use update::{Step, Update, is_current, update};
