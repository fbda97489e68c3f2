//! What can go wrong, and the way out.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why something could not be stored or read back.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Something under `.quorum` points elsewhere, so writing there would write elsewhere.
    #[error("{} is a symbolic link", .0.display())]
    Link(PathBuf),
    /// No run has been made here.
    #[error("there is no run in {}", .0.display())]
    NoRuns(PathBuf),
    /// No run has this id.
    #[error("there is no run `{0}`")]
    NoSuchRun(String),
    /// Several runs begin with this.
    #[error("`{prefix}` could be {}", runs.join(" or "))]
    AmbiguousRun {
        /// What was asked for.
        prefix: String,
        /// What it could be.
        runs: Vec<String>,
    },
    /// Several findings begin with this.
    #[error("`{prefix}` could be {}", findings.join(" or "))]
    AmbiguousFinding {
        /// What was asked for.
        prefix: String,
        /// What it could be.
        findings: Vec<String>,
    },
    /// Another process works on the run.
    #[error("run {0} is in use by another process")]
    Locked(String),
    /// A run that somebody else started, or that was started elsewhere.
    #[error("run {0} was not started by you in this folder")]
    Foreign(String),
    /// The user's key is none, or others can read it.
    #[error("{} is no key of yours alone", .0.display())]
    Key(PathBuf),
    /// There is no place for the user's key.
    #[error("there is no home folder with a key that marks what you set aside")]
    NoKey,
    /// A file is not what its name says.
    #[error("{}: {cause}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The database refused.
    #[error("{}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// A write to the journal failed earlier, so what it holds is not certain any more.
    #[error("the journal {} failed before and takes no more records", .0.display())]
    JournalFailed(PathBuf),
}

impl StoreError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "make room on the disk (`quorum runs clean` removes old runs), then `quorum resume`"
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "check who owns the `.quorum` folder"
            }
            Self::Link(_) => "remove the link; Quorum writes to a real folder of the repository",
            Self::NoRuns(_) => "`quorum review` makes one",
            Self::NoSuchRun(_) | Self::AmbiguousRun { .. } => {
                "`quorum runs list` names them; the first characters of an id are enough"
            }
            Self::AmbiguousFinding { .. } => "give more of the fingerprint, or the id",
            Self::Locked(_) => "wait for it to end, or end it; `quorum runs list` shows all runs",
            Self::Foreign(_) => {
                "its files say what is sent, paid for and run, so only your own runs go on: \
                 `quorum review` starts one"
            }
            Self::Key(_) => {
                "it marks the runs that you start and what you set aside: remove it, and the next \
                 review makes a new one"
            }
            Self::NoKey => {
                "set HOME, or set it aside for the whole team with `quorum dismiss --shared`"
            }
            Self::JournalFailed(_) => "`quorum resume` goes on from what was saved",
            Self::Database { source, .. } => return database_hint(source),
            Self::Io { .. } | Self::Malformed { .. } => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn database(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Database { path, source }
    }

    pub(crate) fn malformed(path: &Path, cause: &impl ToString) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            cause: quorum_model::wording::plain(&cause.to_string()),
        }
    }
}

fn database_hint(error: &rusqlite::Error) -> Option<String> {
    use rusqlite::ErrorCode;
    let hint = match error.sqlite_error_code()? {
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
            "move the file away; the ledger starts anew, and what it remembered is lost"
        }
        ErrorCode::DiskFull => "make room on the disk",
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => "another process writes; try again",
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            "check who owns the `.quorum` folder"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
