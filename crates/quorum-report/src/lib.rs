//! Every output format, from one result.
//!
//! A format is a pure function from a [`Report`] to text. Nothing here knows a clock, a disk or a
//! terminal: what a page needs beyond the result (titles, lines of code, times) is in the report.
//!
//! Findings quote code and prose from strangers, so each format keeps two promises, which the tests
//! in `tests/` hold it to: whatever a finding says appears as text, and no finding is lost without
//! a word about it.

pub mod events;
pub mod format;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod orders;
pub mod rdjsonl;
pub mod report;
pub mod sarif;
pub mod terminal;
mod text;

pub use format::{Format, render};
pub use report::{Excerpt, Report};
pub use text::{count, number, visible};
