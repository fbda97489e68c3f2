//! The repository around a change: any file, before and after.

use std::sync::{Arc, OnceLock};

use crate::classify;
use crate::content::{Content, Contents, Revision};
use crate::repository::Repository;
use crate::request::{Sides, Target};
use crate::text::{self, Readable};

/// Larger files around a change are not read: no reviewer learns from them.
const LARGEST: usize = 4 * 1024 * 1024;

/// Reads any file of the repository as it is before and after the change. Shared by all threads.
#[derive(Debug)]
pub struct Snapshot {
    repository: Option<Repository>,
    contents: Contents,
    head: Option<Revision>,
    base: Option<Revision>,
    paths: OnceLock<Vec<String>>,
}

impl Snapshot {
    /// The two sides of `target`.
    pub fn new(repository: Option<&Repository>, target: &Target) -> Self {
        let (base, head) = match &target.sides {
            Sides::Trees { old, new } => {
                (Some(Revision::Commit(old.clone())), Some(Revision::Commit(new.clone())))
            }
            Sides::TreeToIndex(tree) => {
                (Some(Revision::Commit(tree.clone())), Some(Revision::Index))
            }
            Sides::IndexToWorkTree | Sides::Nothing => {
                (Some(Revision::Index), Some(Revision::WorkTree))
            }
            Sides::TreeToWorkTree(tree) => {
                (Some(Revision::Commit(tree.clone())), Some(Revision::WorkTree))
            }
            Sides::WholeWorkTree => (None, Some(Revision::WorkTree)),
            Sides::WholeTree(commit) => (None, Some(Revision::Commit(commit.clone()))),
            // What a foreign diff applies to is not known.
            Sides::Patch(_) => (None, None),
        };
        Self {
            repository: repository.cloned(),
            contents: Contents::new(repository),
            head,
            base,
            paths: OnceLock::new(),
        }
    }

    /// Two commits, where they are known.
    pub fn between(repository: &Repository, base: Option<&str>, head: Option<&str>) -> Self {
        let commit = |name: Option<&str>| name.map(|name| Revision::Commit(name.to_owned()));
        Self {
            repository: Some(repository.clone()),
            contents: Contents::new(Some(repository)),
            head: commit(head),
            base: commit(base),
            paths: OnceLock::new(),
        }
    }

    /// Whether there is such a file after the change; absent where that cannot be told.
    pub fn has(&self, path: &str) -> Option<bool> {
        let paths = self.paths();
        // A list that git could not give is empty, too.
        (!paths.is_empty()).then(|| paths.binary_search_by(|known| (**known).cmp(path)).is_ok())
    }

    /// A text file after the change.
    pub fn head(&self, path: &str) -> Option<Arc<str>> {
        self.read(self.head.as_ref()?, path)
    }

    /// A text file before the change.
    pub fn base(&self, path: &str) -> Option<Arc<str>> {
        self.read(self.base.as_ref()?, path)
    }

    /// The paths of all tracked files after the change, sorted; those that are not UTF-8 left out.
    pub fn paths(&self) -> &[String] {
        self.paths.get_or_init(|| self.list().unwrap_or_default())
    }

    fn read(&self, revision: &Revision, path: &str) -> Option<Arc<str>> {
        match self.contents.read_at(revision, path).ok()? {
            Content::Whole(bytes) if bytes.len() <= LARGEST => {
                match text::read(path, bytes, classify::is_named_as_text(path)) {
                    Readable::Plain(text) | Readable::Decoded { text, .. } => {
                        Some(String::from_utf8_lossy(&text).into())
                    }
                    Readable::Media(_)
                    | Readable::Elsewhere
                    | Readable::Undecoded(_)
                    | Readable::Binary => None,
                }
            }
            _ => None,
        }
    }

    fn list(&self) -> Option<Vec<String>> {
        let git = self.repository.as_ref()?.git();
        let listed = match self.head.as_ref()? {
            Revision::Commit(commit) => git.output(["ls-tree", "-r", "-z", "--name-only", commit]),
            Revision::Index | Revision::WorkTree => git.output(["ls-files", "-z"]),
        };
        let listed = listed.ok()?;
        let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let mut paths: Vec<String> =
            names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
        paths.sort_unstable();
        paths.dedup();
        Some(paths)
    }
}
