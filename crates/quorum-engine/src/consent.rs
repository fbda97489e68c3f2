//! What the user trusts repositories with, in a file of the user's own.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use quorum_scope::repository::Repository;
use quorum_store::{private, write_whole};

use crate::config::trust::Trust;
use crate::environment::Environment;
use crate::error::EngineError;

/// The digests of the settings that the user trusts `repository` with.
pub(crate) fn digests(
    repository: &Repository,
    environment: &Environment,
) -> Result<Vec<String>, EngineError> {
    let Some(file) = &environment.trust_file else { return Ok(Vec::new()) };
    let trust = read(file)?;
    if trust.trusted.is_empty() {
        return Ok(Vec::new());
    }
    Ok(trust.digests(&repository.identity()?))
}

/// Everything that the user trusts repositories with.
pub fn all(environment: &Environment) -> Result<Trust, EngineError> {
    environment.trust_file.as_deref().map_or_else(|| Ok(Trust::default()), read)
}

/// Changes what the user trusts repositories with.
pub fn change<T>(
    environment: &Environment,
    with: impl FnOnce(&mut Trust) -> T,
) -> Result<T, EngineError> {
    let file = place(environment)?;
    let failed = |error: &dyn std::fmt::Display| {
        EngineError::failed(format!("{}: {error}", file.display()))
            .with_hint("your consent is kept there: make the folder one that you can write to")
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    // Two at once would undo each other's work.
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    let lock = private::owned(&mut options).open(file.with_extension("lock"));
    let lock = lock.map_err(|error| failed(&error))?;
    lock.lock().map_err(|error| failed(&error))?;
    let mut trust = read(&file)?;
    let done = with(&mut trust);
    let text = trust.render().map_err(|error| failed(&error))?;
    write_whole(&file, text.as_bytes())?;
    Ok(done)
}

fn place(environment: &Environment) -> Result<PathBuf, EngineError> {
    environment.trust_file.clone().ok_or_else(|| {
        EngineError::unavailable("there is no home folder to keep your consent in")
            .with_hint("set HOME, or name what you want by flags or variables")
    })
}

/// A file that cannot be read is no consent, and no reason to ask for it again either.
fn read(file: &Path) -> Result<Trust, EngineError> {
    let failed = |cause: &dyn std::fmt::Display| {
        EngineError::failed(format!("{}: {cause}", file.display()))
            .with_hint("`quorum config trust` wrote it; mend it, or remove it and trust anew")
    };
    match fs::read_to_string(file) {
        Ok(text) => Trust::parse(&text).map_err(|error| failed(&error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Trust::default()),
        Err(error) => Err(failed(&error)),
    }
}
