//! The smallest piece that is handed to a reviewer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest piece that is handed to a reviewer, with its token count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// The file.
    pub path: Arc<str>,
    /// What the reviewer is shown.
    pub kind: UnitKind,
    /// First line, in the new file, or in the old one of a deleted file; 0 for a name alone.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// Where lines alone do not tell which piece it is, the bytes of the text: a part of one long
    /// line, or removed lines, which have no number in the new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<ByteRange>,
    /// Tokens that the unit costs to show.
    pub tokens: u64,
}

/// What a unit shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// A changed hunk, or a part of one.
    Hunk,
    /// Consecutive lines of a file.
    Span,
    /// The name and the kind of change alone: generated, binary, or nothing to show.
    Name,
}

/// A half-open range of bytes within the text that is cut up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByteRange {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}
