//! The embedded reviewers: deterministic, offline.
//!
//! Every file of a change is read and parsed once, all rules of all agents look at it, and what
//! they find is reported for the lines that the change adds or breaks.

mod checks;
pub mod secrets {
    //! Finding and masking secrets in any text.

    pub use crate::checks::secrets::{Known, redact, redact_file};
}
pub mod finding;
mod flow;
pub mod injection;
mod looks;
mod parts;
mod pattern;
mod quoted;
pub mod notebook {
    //! The cells of notebooks.

    pub use crate::parts::notebook::{CellLine, cell_lines};
}
pub mod review;
pub mod rule;
pub mod source;
mod suppress;

pub use finding::RuleFinding;
pub use looks::has_rules_for;
pub use review::{Limit, Limited, Note, Review, review, review_with};
pub use rule::{Rule, RuleError, RuleSet};
pub use source::{LineSet, ParsedFile, Side, SourceFile, Sources};
pub use suppress::Suppressed;

/// The agents that have rules.
pub const AGENTS: &[&str] = &[
    "security-reviewer",
    "vulnerability-reviewer",
    "go-reviewer",
    "rust-reviewer",
    "python-reviewer",
    "typescript-reviewer",
    "java-reviewer",
    "code-quality-reviewer",
    "documentation-reviewer",
    "user-persona-reviewer",
];
