//! What can go wrong with the database.

use std::path::PathBuf;

use thiserror::Error;

/// Why the database cannot be used.
#[derive(Debug, Error)]
pub enum AdvisoryError {
    /// The file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The archive cannot be read.
    #[error("{}: not a readable archive: {source}", path.display())]
    Archive {
        /// Which.
        path: PathBuf,
        /// Why.
        source: zip::result::ZipError,
    },
    /// The database cannot be used.
    #[error("{}: {source}", path.display())]
    Database {
        /// Which.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// There is no advisory in what was given.
    #[error("{}: no advisory in OSV form in it ({files} files were looked at)", path.display())]
    NothingFound {
        /// Where.
        path: PathBuf,
        /// How many files were looked at.
        files: u64,
    },
}

impl AdvisoryError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(
            match self {
                Self::Io { .. } => "check that it exists and may be read",
                Self::Archive { .. } | Self::NothingFound { .. } => {
                    "give a folder or a zip of OSV records, one JSON file each, such as an ecosystem's \
                     all.zip of osv.dev"
                }
                Self::Database { .. } => {
                    "the database can be made again: delete the file and import the advisories"
                }
            }
            .to_owned(),
        )
    }
}
