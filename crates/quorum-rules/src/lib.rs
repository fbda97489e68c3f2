//! The embedded reviewers: deterministic, offline.
//!
//! Every file of a change is read and parsed once, all rules of all agents look at it, and what
//! they find is reported for the lines that the change adds or breaks.

mod checks;
pub mod secrets {
    //! Finding and masking secrets in any text.

    pub use crate::checks::secrets::{Span, redact, scan};
}
pub mod finding;
pub mod review;
pub mod source;

pub use finding::RuleFinding;
pub use review::{Note, Review, review};
pub use source::{LineSet, ParsedFile, Side, SourceFile, Sources};
