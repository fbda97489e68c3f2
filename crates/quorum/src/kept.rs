//! The folder in which runs, ledger and memories of a repository are kept.

use std::path::PathBuf;

use quorum_scope::repository::Repository;

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
