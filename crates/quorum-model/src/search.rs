//! What a search over the index answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::symbol::SymbolKind;

/// What a search over the index answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResults {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// How the results were found.
    #[serde(default)]
    pub method: SearchMethod,
    /// The branch that the index was made from.
    #[serde(default)]
    pub branch: Option<String>,
    /// The commit that was checked out when the index was made.
    #[serde(default)]
    pub revision: Option<String>,
    /// Tokens of all contents.
    #[serde(default)]
    pub tokens: u64,
    /// Results that matched and are not listed: the limit or the token budget left them out.
    #[serde(default)]
    pub left_out: u64,
}

/// How results were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// By words, ranked with BM25.
    #[default]
    Words,
    /// By words and by embeddings, the two rankings fused.
    Fused,
    /// By the exact text.
    Exact,
    /// By a regular expression.
    Regex,
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
    /// What the symbol is, where the place is one.
    #[serde(default)]
    pub symbol_kind: Option<SymbolKind>,
    /// The language, by GitHub Linguist's names.
    #[serde(default)]
    pub language: Option<String>,
    /// The hash of the file's content.
    #[serde(default)]
    pub hash: Option<String>,
    /// Other files with the same content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<String>,
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
