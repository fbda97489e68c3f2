//! The files that say which checks a repository has.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use quorum_gates::Tree;
use quorum_scope::ScopeError;
use quorum_scope::content::{Content, Contents, Revision};
use quorum_scope::repository::Repository;

use crate::error::EngineError;

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
pub(super) struct AtCommit {
    /// One process of git for all files.
    contents: Contents,
    commit: Revision,
    paths: Vec<String>,
    /// The first file that could not be read.
    failed: OnceCell<ScopeError>,
}

impl AtCommit {
    pub(super) fn new(repository: &Repository, commit: String) -> Result<Self, EngineError> {
        let listed = repository.git().output(["ls-tree", "-r", "-z", "--name-only", &commit])?;
        let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let paths = names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
        let contents = Contents::new(Some(repository));
        Ok(Self { contents, commit: Revision::Commit(commit), paths, failed: OnceCell::new() })
    }

    /// An error where a file could not be read: checks that the base has would be missing.
    pub(super) fn check(self) -> Result<(), EngineError> {
        self.failed.into_inner().map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Tree for AtCommit {
    fn paths(&self) -> &[String] {
        &self.paths
    }

    fn text(&self, path: &str) -> Option<String> {
        match self.contents.read_at(&self.commit, path) {
            Ok(Content::Whole(text)) => String::from_utf8(text).ok(),
            Ok(_) => None,
            Err(error) => {
                // Only the first one is kept.
                drop(self.failed.set(error));
                None
            }
        }
    }
}
