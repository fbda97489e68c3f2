//! The folder in which runs, ledger and memories of a repository are kept.

use std::path::{Path, PathBuf};

use quorum_scope::repository::Repository;
use quorum_store::{OwnRun, RunSummary, Seal, StoreError};

use crate::environment::Environment;
use crate::error::EngineError;

/// What only Quorum writes: a repository that brings it would bring a past of its own making.
const OURS: [&str; 2] = [".quorum/runs", ".quorum/memory.db"];

/// The root of the repository that the command is run in.
#[derive(Debug)]
pub struct Kept {
    /// The root of the work tree.
    pub root: PathBuf,
    /// The repository.
    pub repository: Repository,
}

impl Kept {
    /// What is kept for the repository around `folder`.
    pub fn open(folder: &Path) -> Result<Self, EngineError> {
        let repository = Repository::discover(folder)?;
        let root = repository.require_work_tree()?.to_owned();
        refuse_committed(&repository)?;
        Ok(Self { root, repository })
    }
}

/// What a run that begins below `root` is marked with; absent where there is no place for the user's
/// key, and the run cannot go on after it ended.
pub fn new_seal(root: &Path, environment: &Environment) -> Result<Option<Seal>, EngineError> {
    let Some(file) = &environment.key_file else { return Ok(None) };
    match Seal::make(file, root) {
        Ok(seal) => Ok(Some(seal)),
        // A review of somebody without a home of their own is still a review.
        Err(StoreError::Io { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What the user's runs below `root` are marked with, to go on with one of them.
pub(crate) fn seal(root: &Path, run: &str, environment: &Environment) -> Result<Seal, EngineError> {
    let file = environment.key_file.as_deref().ok_or_else(|| {
        EngineError::unavailable("there is no home folder with the key that marks your runs")
            .with_hint("set HOME as it was when the run began")
    })?;
    let seal = Seal::find(file, root)?;
    Ok(seal.ok_or_else(|| StoreError::Foreign(run.to_owned()))?)
}

/// What the user's dismissals are marked with, to tell them from others'; absent where there is no key.
pub fn present_seal(root: &Path, environment: &Environment) -> Result<Option<Seal>, StoreError> {
    match &environment.key_file {
        Some(file) => Seal::find(file, root),
        None => Ok(None),
    }
}

/// `run`, where the user started it here: only such a one says what is sent, paid for and run.
pub(crate) fn own(
    root: &Path,
    run: RunSummary,
    environment: &Environment,
) -> Result<OwnRun, EngineError> {
    Ok(seal(root, run.id(), environment)?.own(run)?)
}

/// Refuses a past that is under version control, such as dismissals that a change brings along.
pub fn refuse_committed(repository: &Repository) -> Result<(), EngineError> {
    let arguments = ["ls-files", "--", OURS[0], OURS[1]];
    let tracked = repository.git().output(arguments)?;
    if tracked.is_empty() {
        return Ok(());
    }
    let text = "this repository has runs or a ledger of Quorum under version control";
    Err(EngineError::not_allowed(text).with_hint(format!(
        "`git rm -r --cached {} {}`: what reviews leave is never committed",
        OURS[0], OURS[1]
    )))
}

/// The root of the repository around `folder`, or the folder itself.
pub fn root_around(folder: &Path) -> Result<PathBuf, EngineError> {
    let Some(repository) = Repository::find(folder)? else { return Ok(folder.to_owned()) };
    refuse_committed(&repository)?;
    let root = repository.require_work_tree()?;
    Ok(root.canonicalize().unwrap_or_else(|_| root.to_owned()))
}

/// Who commits in the repository around `folder`, as git knows it.
pub fn author(folder: &Path) -> String {
    let name = Repository::discover(folder)
        .and_then(|repository| repository.git().output(["config", "user.name"]));
    // Git fails where no name is set, which is no reason to keep a finding from being set aside.
    let name = name.map(|name| String::from_utf8_lossy(&name).trim().to_owned());
    name.ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
