//! Languages and their syntax trees.
//!
//! One list of the languages that are compiled in, and one way to parse: with a limit on size,
//! depth and work, so that hostile source costs a bounded amount and is then searched as text. On top of it,
//! [`outline`](outline::outline()) says what a file declares and what it refers to.

mod bear;
mod language;
pub mod outline;
mod parse;
mod php;
mod shallow;

pub use ast_grep_core as grep;
pub use language::Lang;
pub use parse::{Limits, ParseError, Parsed, parse, parse_within, read_within};
pub use shallow::Rows;
pub use tree_sitter::{Node, Point, Query, QueryCursor, StreamingIterator, Tree, TreeCursor};
