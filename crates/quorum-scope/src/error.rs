//! What can go wrong, with the way out.

use std::path::PathBuf;

use thiserror::Error;

use crate::diff::DiffError;
use crate::git::{OLDEST, Version};

/// Why a scope cannot be made.
#[derive(Debug, Error)]
pub enum ScopeError {
    /// The folder is in no repository.
    #[error("{} is not inside a git repository", .0.display())]
    NoRepository(PathBuf),
    /// There is no git.
    #[error("git could not be started: {0}")]
    NoGit(std::io::Error),
    /// Git is older than the oldest that can be kept from starting a repository's programs.
    #[error("git {0} is too old: Quorum needs git {OLDEST} or newer")]
    OldGit(Version),
    /// What calls itself git does not say which version it is.
    #[error("the version of git cannot be read from `{0}`")]
    UnknownGit(String),
    /// Git does not take the settings that keep it from starting programs.
    #[error("this git cannot be kept from starting programs that the repository names")]
    UnguardedGit,
    /// The repository belongs to somebody else.
    #[error("git refuses to read {}: it belongs to another user", .0.display())]
    UnsafeRepository(PathBuf),
    /// The repository's own configuration places its work tree somewhere else.
    #[error(
        "the repository in {} says that its files are in {}, which says nothing of it",
        from.display(),
        found.display()
    )]
    WorkTreeElsewhere {
        /// What it names.
        found: PathBuf,
        /// Where the user stands.
        from: PathBuf,
    },
    /// A file whose contents a partial clone did not fetch.
    #[error("the contents of {0} are not in this clone")]
    Lacking(String),
    /// A revision that git does not know.
    #[error("`{0}` names no commit in this repository")]
    UnknownRevision(String),
    /// A range that is not one.
    #[error("`{0}` is not a range")]
    BadRange(String),
    /// Two revisions without a common ancestor here.
    #[error("`{0}` and `{1}` have no common ancestor in this clone")]
    NoMergeBase(String, String),
    /// A repository without a commit where one is needed.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// A path that leads out of the repository.
    #[error("`{0}` is outside the repository")]
    OutsideRepository(String),
    /// A path that is not there.
    #[error("`{0}` matches no file")]
    NoSuchPath(String),
    /// A pattern that cannot be read.
    #[error("`{pattern}` is not a pattern: {message}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        message: String,
    },
    /// The work tree was asked for where there is none.
    #[error("a bare repository has no work tree")]
    Bare,
    /// The diff cannot be read.
    #[error(transparent)]
    Diff(#[from] DiffError),
    /// Git said no.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// The subcommand.
        command: String,
        /// The first line of what it said.
        message: String,
        /// What it exited with.
        code: Option<i32>,
    },
    /// A file that cannot be copied.
    #[error("{path} cannot be copied: {message}", path = path.display())]
    Copy {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl ScopeError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoRepository(_) => {
                "run quorum inside a repository, or review a patch with `--diff FILE`"
            }
            Self::NoGit(_) => "install git and make sure that it is on the PATH",
            Self::OldGit(_) => {
                "install a newer git: an older one ignores the settings that keep it from running the \
                 repository's own programs"
            }
            Self::UnknownGit(_) | Self::UnguardedGit => {
                "put a git of the git project first on the PATH, version 2.31 or newer; a wrapper must \
                 pass on its arguments, its variables and its output"
            }
            Self::UnsafeRepository(path) => {
                let path = path.display();
                return Some(format!(
                    "if you trust it: git config --global --add safe.directory '{path}'"
                ));
            }
            Self::WorkTreeElsewhere { .. } => {
                "core.worktree in its configuration could have any folder of yours read: run quorum in a \
                 work tree with a `.git` of its own"
            }
            Self::Lacking(_) => LACKING,
            Self::Git { message, .. } if is_lazy(message) => LACKING,
            Self::UnknownRevision(_) => {
                "`git log --oneline --all` lists commits; in a shallow clone, fetch more history"
            }
            Self::BadRange(_) => "write A..B for two ends, or A...B for what B added since A",
            Self::NoMergeBase(..) => {
                "fetch more history (`git fetch --unshallow`), or use `--range A..B`"
            }
            Self::NoCommit => "commit something first, or review files by path",
            Self::OutsideRepository(_) => "name files of the repository that you stand in",
            Self::NoSuchPath(_) => "check the spelling; globs such as 'src/**/*.go' need quotes",
            Self::BadPattern { .. } => "`*` stays in one folder, `**` crosses folders",
            Self::Bare => "use `--commit`, `--range` or `--base` here",
            Self::Diff(_) => "make the diff with `git diff` or `diff -u`, and do not edit it",
            Self::Copy { .. } => "make room and see that it can be read",
            Self::Git { .. } => "run the same git command by hand to see all that it says",
        };
        Some(hint.to_owned())
    }
}

const LACKING: &str = "this is a partial clone, and Quorum has git fetch nothing unasked: with GIT_NO_LAZY_FETCH=0 in \
                       the environment it does";

/// Whether git says that it would have to fetch something.
fn is_lazy(message: &str) -> bool {
    ["lazy fetching disabled", "from promisor remote", "' not allowed"]
        .iter()
        .any(|words| message.contains(words))
}
