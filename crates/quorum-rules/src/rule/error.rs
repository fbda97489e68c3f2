//! What is wrong with a rule file.

use thiserror::Error;

/// What is wrong with a rule file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// Not TOML, or not a rule.
    #[error("{file}: {message}")]
    Format {
        /// The file.
        file: String,
        /// What the reader says, with the line.
        message: String,
    },
    /// One key has a value that cannot be used.
    #[error("{file}: `{key}`: {message}")]
    Key {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What is wrong with its value.
        message: String,
    },
    /// Two rules have one id.
    #[error("{file}: the rule `{id}` exists already")]
    Duplicate {
        /// The file.
        file: String,
        /// The id.
        id: String,
    },
}

impl RuleError {
    /// The way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Format { .. } | Self::Key { .. } => {
                "docs/rules.md describes the format; `quorum rules show ID` prints an example"
            }
            Self::Duplicate { .. } => "give it an id of its own; `quorum rules list` has all ids",
        }
    }
}
