//! Reading unified diffs, one file at a time.
//!
//! The reader takes what git prints and what other tools print: `git diff`, `git show`,
//! `git format-patch`, `diff -u`, Subversion's and Mercurial's output, with any text around the
//! diff. It streams: only the section of one file is in memory, so that a diff of any number of
//! files can be read. That, and the formats beside git's own, is why it is written here.

mod header;
mod quote;
mod reader;

pub use quote::unquote;
pub use reader::{DiffError, PatchFile, PatchHunk, PatchReader};
