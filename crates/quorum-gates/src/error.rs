//! What can go wrong before a check runs.

use std::path::PathBuf;

use thiserror::Error;

/// Why gates cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GateError {
    /// A preset that nobody knows.
    #[error("gates.preset: there is no preset `{0}`")]
    UnknownPreset(String),
    /// An override of a check that no preset has.
    #[error("gates.overrides: no preset has a check `{0}`")]
    UnknownCheck(String),
    /// Two checks of the same name.
    #[error("gates.additional: there is already a check `{0}`")]
    Twice(String),
    /// A trigger that is no glob.
    #[error("the check `{check}` has a trigger that is no glob, `{pattern}`: {reason}")]
    Trigger {
        /// The check.
        check: String,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or folder that gates need.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing here keeps a check from the user's files.
    #[error(
        "gates are not run: neither namespaces nor Landlock can be had here, so that a check could read \
         and write every file of this user"
    )]
    Unsandboxed,
    /// The helper that runs commands apart from the machine could not be started.
    #[error("the gates' helper cannot be started: {0}")]
    Helper(std::io::Error),
}

impl GateError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownPreset(_) => {
                let known: Vec<&str> =
                    crate::presets::PRESETS.iter().map(|preset| preset.name).collect();
                format!("presets are auto, none, {}", known.join(", "))
            }
            Self::UnknownCheck(_) => "`quorum gates --list` has the names".to_owned(),
            Self::Twice(_) => "give it another name, or override the preset's".to_owned(),
            Self::Trigger { .. } => "triggers are globs such as `*.go` or `src/**`".to_owned(),
            Self::Io { .. } => "gates need a temporary folder that can be written".to_owned(),
            Self::Unsandboxed => {
                "install bubblewrap, or run Quorum in a container or a virtual machine that has nothing to \
                 lose, and accept it there with `--allow-unsandboxed-gates`"
                    .to_owned()
            }
            Self::Helper(_) => return None,
        })
    }
}
