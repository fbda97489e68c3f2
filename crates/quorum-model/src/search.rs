//! What a search over the index answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a search over the index answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResults {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// Best first.
    pub results: Vec<SearchResult>,
}

/// One place that matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// The file.
    pub path: String,
    /// First line.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// The symbol, where the place is one.
    pub symbol: Option<String>,
    /// What the place is.
    pub kind: SearchKind,
    /// How well it matches; higher is better.
    pub score: f64,
    /// Tokens of the content.
    pub tokens: u64,
    /// The text, as much of it as was asked for.
    pub content: String,
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// A declaration.
    Symbol,
    /// A piece of a file.
    Chunk,
}
