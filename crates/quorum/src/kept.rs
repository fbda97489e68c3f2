//! The folder in which runs, ledger and memories of a repository are kept.

use std::path::{Path, PathBuf};

use quorum_scope::repository::Repository;
use quorum_store::{OwnRun, RunSummary, Seal, StoreError};

use crate::cli::Cli;
use crate::failure::Failure;
use crate::workspace;

/// What only Quorum writes: a repository that brings it would bring a past of its own making.
const OURS: [&str; 2] = [".quorum/runs", ".quorum/memory.db"];

/// The root of the repository that the command is run in.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) root: PathBuf,
    pub(crate) repository: Repository,
}

impl Kept {
    pub(crate) fn open(cli: &Cli) -> Result<Self, Failure> {
        let repository = Repository::discover(&workspace::folder(cli)?)?;
        let root = repository.require_work_tree()?.to_owned();
        refuse_committed(&repository)?;
        Ok(Self { root, repository })
    }
}

/// What a run that begins below `root` is marked with; absent where there is no place for the user's
/// key, and the run cannot go on after it ended.
pub(crate) fn new_seal(root: &Path) -> Result<Option<Seal>, Failure> {
    let Some(file) = quorum_config::key_file() else { return Ok(None) };
    match Seal::make(&file, root) {
        Ok(seal) => Ok(Some(seal)),
        // A review of somebody without a home of their own is still a review.
        Err(StoreError::Io { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What the user's runs below `root` are marked with, to go on with one of them.
pub(crate) fn seal(root: &Path, run: &str) -> Result<Seal, Failure> {
    let file = quorum_config::key_file().ok_or_else(|| {
        Failure::new("there is no home folder with the key that marks your runs")
            .with_hint("set HOME as it was when the run began")
    })?;
    let seal = Seal::find(&file, root)?;
    Ok(seal.ok_or_else(|| StoreError::Foreign(run.to_owned()))?)
}

/// What the user's dismissals are marked with, to tell them from others'; absent where there is no key.
pub(crate) fn present_seal(root: &Path) -> Result<Option<Seal>, StoreError> {
    match quorum_config::key_file() {
        Some(file) => Seal::find(&file, root),
        None => Ok(None),
    }
}

/// `run`, where the user started it here: only such a one says what is sent, paid for and run.
pub(crate) fn own(root: &Path, run: RunSummary) -> Result<OwnRun, Failure> {
    Ok(seal(root, run.id())?.own(run)?)
}

/// Refuses a past that is under version control, such as dismissals that a change brings along.
pub(crate) fn refuse_committed(repository: &Repository) -> Result<(), Failure> {
    let arguments = ["ls-files", "--", OURS[0], OURS[1]];
    let tracked = repository.git().output(arguments)?;
    if tracked.is_empty() {
        return Ok(());
    }
    let text = "this repository has runs or a ledger of Quorum under version control";
    Err(Failure::new(text).with_hint(format!(
        "`git rm -r --cached {} {}`: what reviews leave is never committed",
        OURS[0], OURS[1]
    )))
}
