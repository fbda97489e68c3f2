//! The `.quorum` folder of a repository.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::private;
use crate::whole;

/// What Quorum writes stays out of version control; what a team writes there does not.
const GITIGNORE: &str = "*\n!agents/\n!agents/**\n!sops/\n!sops/**\n!rules/\n!rules/**\n\
                         !conventions/\n!conventions/**\n!dismissed.toml\n";

/// What it was before there were conventions.
const EARLIER: &str =
    "*\n!agents/\n!agents/**\n!sops/\n!sops/**\n!rules/\n!rules/**\n!dismissed.toml\n";

/// The `.quorum` folder of a repository.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder in `root`, made where it is missing.
    pub fn prepare(root: &Path) -> Result<Self, StoreError> {
        let folder = Self::at(root)?;
        fs::create_dir_all(&folder.path).map_err(StoreError::io("making", &folder.path))?;
        let ignore = folder.path.join(".gitignore");
        // An empty one is of a process that was killed here.
        let is_earlier =
            || fs::read(&ignore).is_ok_and(|kept| kept.is_empty() || kept == EARLIER.as_bytes());
        if ignore.symlink_metadata().is_err() {
            write_new(&ignore)?;
        } else if is_earlier() {
            whole::write(&ignore, GITIGNORE.as_bytes())?;
        }
        Ok(folder)
    }

    /// The folder in `root`, for reading; nothing is made.
    pub fn at(root: &Path) -> Result<Self, StoreError> {
        let folder = Self { path: root.join(".quorum") };
        refuse_link(&folder.path)?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in it, made where it is missing.
    pub fn make(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.entry(name)?;
        private::folder(&path).map_err(StoreError::io("making", &path))?;
        Ok(path)
    }

    /// The path of something in it that is not a link to somewhere else.
    pub fn entry(&self, name: &str) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        refuse_link(&path)?;
        Ok(path)
    }
}

/// Writes the file in one go and in its place: under another name first, and with a wait for the disk,
/// it would be a file that git does not ignore, and another review would take it for a part of the change.
fn write_new(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    match made.and_then(|mut file| file.write_all(GITIGNORE.as_bytes())) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::io("writing", path)(error))
        }
        // Another process was first.
        _ => Ok(()),
    }
}

/// A repository can bring links of its own; nothing is ever written through one.
pub(crate) fn refuse_link(path: &Path) -> Result<(), StoreError> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        return Err(StoreError::Link(path.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_quorum_writes_is_ignored_and_what_a_team_writes_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::prepare(root.path()).unwrap();
        let ignore = folder.path().join(".gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), GITIGNORE);
        fs::write(&ignore, "mine\n").unwrap();
        Folder::prepare(root.path()).unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "mine\n");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let folder = Folder::prepare(root.path()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("runs")).unwrap();
        assert!(matches!(folder.make("runs"), Err(StoreError::Link(_))));
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), other.path().join(".quorum")).unwrap();
        assert!(matches!(Folder::prepare(other.path()), Err(StoreError::Link(_))));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
