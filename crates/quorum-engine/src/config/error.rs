//! What can be wrong with a configuration.

use thiserror::Error;

/// Why a configuration is refused. Every message names the file and the line, or the variable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// File and line.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// A key that does not exist.
    #[error("{place}: there is no key `{key}`{}", only(known))]
    UnknownKey {
        /// File and line.
        place: String,
        /// The key, with dots.
        key: String,
        /// The keys that there are in its place.
        known: Vec<String>,
        /// The key that is most like it.
        nearest: Option<String>,
    },
    /// A variable that sets nothing.
    #[error("the variable {name} sets no key")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The variable that is most like it.
        nearest: Option<String>,
    },
    /// A value of the wrong kind, or one that makes no sense.
    #[error("{place}: {key}: {message}")]
    Value {
        /// File and line, or the variable or flag.
        place: String,
        /// The key, with dots.
        key: String,
        /// What is wrong.
        message: String,
    },
}

impl ConfigError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. }
            | Self::UnknownVariable { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::UnknownKey { .. } | Self::UnknownVariable { .. } => {
                Some("`quorum config show` lists every key".to_owned())
            }
            Self::Value { .. } => {
                Some("`quorum config show --origin` shows every key with its value".to_owned())
            }
            Self::Syntax { .. } => {
                Some("`quorum config init` writes a file to start from".to_owned())
            }
        }
    }
}

fn only(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(", only {}", known.join(", ")) }
}
