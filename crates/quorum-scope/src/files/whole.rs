//! Whole files, of the work tree or of a commit.

use std::collections::HashSet;

use bstr::{BString, ByteSlice};
use quorum_model::scope::Change;

use super::{ContentSource, RawFile, SUBMODULE, octal, whole_file};
use crate::error::ScopeError;
use crate::paths::PathFilter;
use crate::repository::{Repository, to_path};

/// Files that git does not track and does not ignore.
pub(super) fn untracked(
    repository: &Repository,
    filter: &PathFilter,
) -> Result<Vec<RawFile>, ScopeError> {
    let arguments = ["ls-files", "--others", "--exclude-standard", "-z"];
    let listed = repository.git().output(arguments)?;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    // A repository inside this one is listed as a directory; it is not this repository's to review.
    let names = names.filter(|name| !name.ends_with(b"/"));
    let files = names.map(|name| RawFile {
        change: Change::Added,
        untracked: true,
        ..whole_file(BString::from(name), 0, ContentSource::WorkTree)
    });
    Ok(files.filter(|file| filter.admits(file.path.as_bstr())).collect())
}

/// Every file of the work tree.
pub(super) fn work_tree(
    repository: &Repository,
    filter: &PathFilter,
) -> Result<Vec<RawFile>, ScopeError> {
    let root = repository.require_work_tree()?;
    let git = repository.git();
    let dirty = git.output(["diff-files", "-z", "--name-only"])?;
    let dirty: HashSet<&[u8]> = dirty.split(|&byte| byte == 0).collect();
    let staged = git.output(["ls-files", "--stage", "-v", "-z"])?;
    let mut files: Vec<RawFile> = Vec::new();
    for line in staged.split(|&byte| byte == 0) {
        let Some((facts, name)) = line.split_once_str("\t") else { continue };
        let mut facts = facts.split(|&byte| byte == b' ');
        let tag = facts.next().unwrap_or_default();
        let (mode, id) = (facts.next().and_then(octal), facts.next());
        let (Some(mode), Some(Ok(id))) = (mode, id.map(|id| id.to_str())) else { continue };
        // Of a file with any other tag git does not look whether it is changed.
        let content = if mode == SUBMODULE {
            ContentSource::None
        } else if dirty.contains(name) || tag != b"H" {
            ContentSource::WorkTree
        } else {
            ContentSource::CleanWorkTree(id.to_owned())
        };
        files.push(whole_file(BString::from(name), mode, content));
    }
    let others = untracked(repository, &PathFilter::default())?;
    files.extend(others.into_iter().map(|file| RawFile {
        change: Change::Unchanged,
        untracked: false,
        ..file
    }));
    // A file that is named one by one is reviewed even when git ignores it.
    for name in filter.literals() {
        let known = files.iter().any(|file| file.path == name);
        if !known && root.join(name).symlink_metadata().is_ok_and(|data| !data.is_dir()) {
            files.push(whole_file(BString::from(name), 0, ContentSource::WorkTree));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    files.retain(|file| {
        let on_disk = || root.join(to_path(&file.path)).symlink_metadata().is_ok();
        filter.admits(file.path.as_bstr()) && on_disk()
    });
    Ok(files)
}

/// Every file of a commit.
pub(super) fn tree(
    repository: &Repository,
    commit: &str,
    filter: &PathFilter,
) -> Result<Vec<RawFile>, ScopeError> {
    let listed = repository.git().output(["ls-tree", "-r", "-z", commit])?;
    let mut files = Vec::new();
    for line in listed.split(|&byte| byte == 0) {
        let Some((facts, name)) = line.split_once_str("\t") else { continue };
        let mut facts = facts.split(|&byte| byte == b' ');
        let (mode, _, id) = (facts.next().and_then(octal), facts.next(), facts.next());
        let (Some(mode), Some(Ok(id))) = (mode, id.map(|id| id.to_str())) else { continue };
        let content = match mode {
            SUBMODULE => ContentSource::None,
            _ => ContentSource::Blob(id.to_owned()),
        };
        files.push(whole_file(BString::from(name), mode, content));
    }
    files.retain(|file| filter.admits(file.path.as_bstr()));
    Ok(files)
}
