//! Which repository this is, for what a user says about one repository and not about another.

use std::fs;
use std::path::{Path, PathBuf};

use bstr::ByteSlice as _;

use crate::error::ScopeError;
use crate::repository::{Repository, to_path};

impl Repository {
    /// A name that all work trees of this clone share, and no other repository has.
    ///
    /// It is the folder that the clone's work trees have in common. Files in a repository can claim
    /// any folder for that, so a work tree counts as one of a clone only where the clone says so,
    /// too; any other has a name of its own.
    pub fn identity(&self) -> Result<String, ScopeError> {
        let arguments =
            ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"];
        let answer = self.git().output(arguments)?;
        let mut lines = answer.lines();
        let mut next = || canonical(&to_path(lines.next().unwrap_or_default()));
        let (git_dir, common) = (next()?, next()?);
        let Some(work_tree) = self.work_tree() else { return Ok(name(&common)) };
        let work_tree = canonical(work_tree)?;
        if belongs(&git_dir, &common, &work_tree) {
            return Ok(name(&common));
        }
        Ok(format!("{} in {}", name(&common), name(&work_tree)))
    }
}

/// Whether the clone in `common` says that `work_tree` is its own.
fn belongs(git_dir: &Path, common: &Path, work_tree: &Path) -> bool {
    let link = work_tree.join(".git");
    if git_dir == common {
        let is_folder = link.symlink_metadata().is_ok_and(|data| data.is_dir());
        return is_folder && link == common;
    }
    let registered = git_dir.parent() == Some(&common.join("worktrees"));
    let back = fs::read(git_dir.join("gitdir")).unwrap_or_default();
    let back = git_dir.join(to_path(back.trim_end()));
    registered && back.canonicalize().is_ok_and(|back| back == link)
}

fn canonical(path: &Path) -> Result<PathBuf, ScopeError> {
    path.canonicalize().map_err(|_| ScopeError::NoRepository(path.to_owned()))
}

/// A path as text. Paths begin with `/`, so that those which are no text have names of their own.
fn name(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => format!("bytes {}", path.as_os_str().as_encoded_bytes().escape_ascii()),
    }
}
