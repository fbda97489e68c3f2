//! The files of a target, with the text of their hunks, one at a time.

mod changed;
mod patched;
mod whole;

use std::collections::VecDeque;

use bstr::{BStr, BString, ByteSlice};
use quorum_model::scope::{Change, Hunk};

use crate::diff::PatchFile;
use crate::error::ScopeError;
use crate::paths::PathFilter;
use crate::repository::Repository;
use crate::request::{Sides, Target};

/// A symbolic link, in git's modes.
pub const SYMLINK: u32 = 0o120_000;
/// Another repository, in git's modes.
pub const SUBMODULE: u32 = 0o160_000;

/// A file of a target, as git or a diff describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFile {
    /// The path, from the root of the repository.
    pub path: BString,
    /// Where it was before.
    pub old_path: Option<BString>,
    /// What happened to it.
    pub change: Change,
    /// Git's mode before; 0 where it did not exist or is not known.
    pub old_mode: u32,
    /// Git's mode after.
    pub new_mode: u32,
    /// Where its content is.
    pub content: ContentSource,
    /// The blob that it was before, where git says so.
    pub old_id: Option<String>,
    /// Whether git or the diff calls it binary, so that it shows no lines of it.
    pub binary: bool,
    /// What was done to read it, where it is not UTF-8 as it stands.
    pub decoded: Option<String>,
    /// Whether git does not know it, so that its one hunk is its content.
    pub untracked: bool,
    /// The section of the diff that is about it.
    pub patch: Vec<u8>,
    /// The hunks, with their lines in `patch`.
    pub hunks: Vec<(Hunk, std::ops::Range<usize>)>,
}

impl RawFile {
    /// A file that is reviewed whole.
    pub fn whole(path: BString) -> Self {
        whole_file(path, 0, ContentSource::WorkTree)
    }

    /// Whether it is a symbolic link after the change.
    pub fn is_link(&self) -> bool {
        self.new_mode == SYMLINK
    }

    /// Whether the change pins another repository anew.
    pub fn pins_anew(&self) -> bool {
        self.new_mode == SUBMODULE && !matches!(self.change, Change::Unchanged | Change::Deleted)
    }
}

/// Where the content of a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentSource {
    /// A blob of the repository.
    Blob(String),
    /// The work tree.
    WorkTree,
    /// A file of the work tree that git has as this blob, unchanged.
    CleanWorkTree(String),
    /// Perhaps a blob with this short id, perhaps the work tree, perhaps only the diff.
    Patch(Option<String>),
    /// It has none: deleted, or a submodule.
    None,
}

/// The files of a target, opened.
#[derive(Debug)]
pub struct Files {
    /// Every path that will come, for what is looked up by path beforehand.
    pub paths: Vec<BString>,
    /// The files that the user named one by one, whole.
    pub named: Vec<String>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    List(VecDeque<RawFile>),
    Stream(Box<changed::Stream>),
    Done,
}

/// Opens the files of `target`.
pub fn open(repository: &Repository, target: &Target) -> Result<Files, ScopeError> {
    let filter = PathFilter::new(repository, &target.paths)?;
    match &target.sides {
        Sides::WholeWorkTree => {
            let files = whole::work_tree(repository, &filter)?;
            filter.check_used(&paths_of(&files), true)?;
            let named = filter.literals().map(str::to_owned).collect();
            Ok(Files { named, ..Files::listed(files) })
        }
        Sides::WholeTree(commit) => {
            let files = whole::tree(repository, commit, &filter)?;
            filter.check_used(&paths_of(&files), true)?;
            Ok(Files::listed(files))
        }
        Sides::Patch(text) => patched::open(text, &filter),
        sides => changed::open(repository, sides, target.untracked, filter),
    }
}

/// How many files git neither tracks nor ignores.
pub fn count_untracked(repository: &Repository) -> Result<usize, ScopeError> {
    Ok(whole::untracked(repository, &PathFilter::default())?.len())
}

/// Opens the files of a diff that is reviewed without a repository.
pub fn open_bare(target: &Target) -> Result<Files, ScopeError> {
    let filter = PathFilter::without_repository(&target.paths)?;
    match &target.sides {
        Sides::Patch(text) => patched::open(text, &filter),
        _ => Ok(Files::listed(Vec::new())),
    }
}

impl Files {
    fn listed(files: Vec<RawFile>) -> Self {
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { paths, named: Vec::new(), source: Source::List(files.into()) }
    }

    fn step(&mut self) -> Result<Option<RawFile>, ScopeError> {
        let file = match &mut self.source {
            Source::List(files) => files.pop_front(),
            Source::Stream(stream) => stream.step()?,
            Source::Done => None,
        };
        if file.is_none()
            && let Source::Stream(stream) = std::mem::replace(&mut self.source, Source::Done)
        {
            stream.finish()?;
        }
        Ok(file)
    }
}

impl Iterator for Files {
    type Item = Result<RawFile, ScopeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.source = Source::Done;
        }
        step.transpose()
    }
}

fn paths_of(files: &[RawFile]) -> Vec<&BStr> {
    files.iter().map(|file| file.path.as_bstr()).collect()
}

fn admitted(filter: &PathFilter, file: &RawFile) -> bool {
    filter.admits(file.path.as_bstr())
        || file.old_path.as_ref().is_some_and(|old| filter.admits(old.as_bstr()))
}

fn whole_file(path: BString, mode: u32, content: ContentSource) -> RawFile {
    RawFile {
        path,
        old_path: None,
        change: Change::Unchanged,
        old_mode: mode,
        new_mode: mode,
        content,
        old_id: None,
        binary: false,
        decoded: None,
        untracked: false,
        patch: Vec::new(),
        hunks: Vec::new(),
    }
}

fn octal(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(text.to_str().ok()?, 8).ok()
}

fn take_patch(file: &mut RawFile, patch: PatchFile) {
    let offset = file.patch.len();
    file.binary |= patch.binary;
    file.patch.extend_from_slice(&patch.text);
    file.hunks.extend(patch.hunks.into_iter().map(|hunk| {
        let body = hunk.body;
        (hunk.hunk, body.start + offset..body.end + offset)
    }));
}
