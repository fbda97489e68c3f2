//! The files that say which checks a repository has.

use std::fs;
use std::path::Path;

use quorum_gates::Tree;
use quorum_scope::repository::Repository;

use crate::failure::Failure;

/// No manifest is larger.
const LARGEST: u64 = 1 << 20;

/// A copy on disk.
pub(super) struct OnDisk<'a> {
    pub(super) root: &'a Path,
    pub(super) paths: &'a [String],
}

impl Tree for OnDisk<'_> {
    fn paths(&self) -> &[String] {
        self.paths
    }

    fn text(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        // A link could lead anywhere.
        let metadata = path.symlink_metadata().ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            return None;
        }
        fs::read_to_string(path).ok()
    }
}

/// A commit.
pub(super) struct AtCommit<'a> {
    repository: &'a Repository,
    commit: String,
    paths: Vec<String>,
}

impl<'a> AtCommit<'a> {
    pub(super) fn new(repository: &'a Repository, commit: String) -> Result<Self, Failure> {
        let listed = repository.git().output(["ls-tree", "-r", "-z", "--name-only", &commit])?;
        let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let paths = names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
        Ok(Self { repository, commit, paths })
    }
}

impl Tree for AtCommit<'_> {
    fn paths(&self) -> &[String] {
        &self.paths
    }

    fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.repository.text_at(&self.commit, path)?).ok()
    }
}
