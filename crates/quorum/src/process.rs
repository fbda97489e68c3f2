//! What the engine is told of this process: its folder, its variables, the user's files.

use std::env;
use std::path::{Path, PathBuf};

use quorum_engine::Environment;
use quorum_store::Clock;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::locate;

/// The environment that this process was started in.
pub(crate) fn environment() -> Environment {
    Environment {
        variables: env::vars_os().collect(),
        user_file: locate::user_file(),
        trust_file: locate::trust_file(),
        key_file: locate::key_file(),
        advisories_file: locate::advisories_file(),
        // Where the program cannot find itself, gates say that they need it.
        sandbox_helper: env::current_exe().ok(),
        temporary: env::temp_dir(),
        clock: Clock::new(jiff::Timestamp::now),
    }
}

/// The folder that the command works in.
pub(crate) fn folder(cli: &Cli) -> Result<PathBuf, Failure> {
    let cwd = env::current_dir()
        .map_err(|error| Failure::new(format!("the current folder cannot be read: {error}")))?;
    let Some(directory) = &cli.directory else { return Ok(cwd) };
    let failed = |cause: &dyn std::fmt::Display| {
        Failure::new(format!("-C {}: {cause}", directory.display()))
            .with_hint("name a folder that exists")
    };
    let folder = cwd.join(directory).canonicalize().map_err(|error| failed(&error))?;
    if !folder.is_dir() {
        return Err(failed(&"it is not a folder"));
    }
    Ok(folder)
}

/// Whether a variable is set to something.
pub(crate) fn is_set(variable: impl AsRef<Path>) -> bool {
    env::var_os(variable.as_ref()).is_some_and(|value| !value.is_empty())
}
