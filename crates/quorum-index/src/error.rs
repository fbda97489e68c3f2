//! What can go wrong with an index, with the way out.

use std::path::PathBuf;

use thiserror::Error;

/// Why an index cannot be used.
#[derive(Debug, Error)]
pub enum IndexError {
    /// The folder cannot be made or locked.
    #[error("{}: {cause}", .path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The store says no.
    #[error("the index at {}: {cause}", .path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What it says.
        cause: rusqlite::Error,
    },
    /// There is no index yet.
    #[error("there is no index at {}", .0.display())]
    Missing(PathBuf),
    /// The files cannot be listed.
    #[error("{0}")]
    Files(String),
    /// A file that the index does not know.
    #[error("`{0}` is not in the index")]
    NoSuchFile(String),
    /// A symbol that the index does not know.
    #[error("no symbol is named `{name}`")]
    NoSuchSymbol {
        /// What was asked for.
        name: String,
        /// Names that are close.
        nearest: Vec<String>,
    },
    /// A pattern that cannot be read.
    #[error("`{pattern}` is not a pattern: {message}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        message: String,
    },
    /// A language that no file has.
    #[error("no file is in the language `{name}`")]
    NoSuchLanguage {
        /// What was asked for.
        name: String,
        /// The languages that there are.
        known: Vec<String>,
    },
    /// The model that was configured does not work.
    #[error("embeddings: {0}")]
    Embeddings(String),
}

impl IndexError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Folder { .. } => "make the folder writable, or remove `.quorum/index`",
            Self::Store { path, .. } => {
                let folder = path.parent().unwrap_or(path).display();
                return Some(format!("the index is safe to delete: rm -r '{folder}'"));
            }
            Self::Missing(_) => "make one with `quorum index`; `--exact` and `--regex` need none",
            Self::Files(_) => return None,
            Self::NoSuchFile(_) => {
                "name it from the root of the repository; what git ignores is not indexed"
            }
            Self::NoSuchSymbol { nearest, .. } if nearest.is_empty() => {
                "`quorum symbols FILE` lists the symbols of a file"
            }
            Self::NoSuchSymbol { nearest, .. } => {
                return Some(format!("did you mean {}?", nearest.join(", ")));
            }
            Self::BadPattern { .. } => "`--exact` takes the text as it stands",
            Self::NoSuchLanguage { known, .. } => {
                return Some(format!("there are {}", known.join(", ")));
            }
            Self::Embeddings(_) => "check [embeddings] in your configuration, or remove it",
        };
        Some(hint.to_owned())
    }
}
