//! A copy of the reviewed state of the repository, in a folder of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bstr::ByteSlice as _;

use crate::error::ScopeError;
use crate::repository::{Repository, to_path};
use crate::request::{Sides, Target};

/// Folders that a package manager fills. They are not part of what is reviewed, and nothing builds
/// without them.
const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// A copy of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    /// The files in it, sorted, from its root; those that are not UTF-8 left out.
    pub paths: Vec<String>,
    /// Folders of the work tree that it links to.
    pub linked: Vec<PathBuf>,
}

/// Copies what `target` looks like after the change into `folder`, which is empty: a commit, the
/// index, or the work tree with what is not committed and not ignored. Installed packages are linked
/// to. A diff from elsewhere has no such state, and so no copy.
pub fn copy(
    repository: &Repository,
    target: &Target,
    folder: &Path,
) -> Result<Option<Checkout>, ScopeError> {
    match &target.sides {
        Sides::Patch(_) => return Ok(None),
        Sides::Trees { new: commit, .. } | Sides::WholeTree(commit) => {
            commit_to(repository, commit, folder)?;
        }
        Sides::TreeToIndex(_) => index_to(repository.git(), folder)?,
        Sides::IndexToWorkTree
        | Sides::TreeToWorkTree(_)
        | Sides::Nothing
        | Sides::WholeWorkTree => work_tree_to(repository, folder)?,
    }
    let linked = link_installed(repository, folder)?;
    let mut paths = Vec::new();
    list(folder, Path::new(""), &mut paths).map_err(|error| failed(folder, &error))?;
    paths.sort_unstable();
    Ok(Some(Checkout { paths, linked }))
}

/// The id of a tree with all that is in the work tree now and not ignored. The user's index stays as
/// it is; `index` is a file that is used in its place and need not be there.
pub fn snapshot(repository: &Repository, index: &Path) -> Result<String, ScopeError> {
    repository.require_work_tree()?;
    let git = repository.git().clone().with_index(index.to_owned());
    if let Some(head) = repository.head()? {
        git.output(["read-tree", &head])?;
    }
    git.output(["add", "--all"])?;
    git.line(["write-tree"])
}

fn failed(path: &Path, error: &io::Error) -> ScopeError {
    ScopeError::Copy { path: path.to_owned(), message: error.to_string() }
}

/// Through an index of its own, so that the user's stays as it is.
fn commit_to(repository: &Repository, commit: &str, folder: &Path) -> Result<(), ScopeError> {
    let mut index = folder.to_owned().into_os_string();
    index.push(".index");
    let index = PathBuf::from(index);
    let git = repository.git().clone().with_index(index.clone());
    let copied = git.output(["read-tree", commit]).and_then(|_| index_to(&git, folder));
    drop(fs::remove_file(index));
    copied
}

fn index_to(git: &crate::git::Git, folder: &Path) -> Result<(), ScopeError> {
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(folder);
    prefix.push("/");
    let arguments = [std::ffi::OsString::from("checkout-index"), "--all".into(), prefix];
    git.output(arguments).map(drop)
}

fn work_tree_to(repository: &Repository, folder: &Path) -> Result<(), ScopeError> {
    let root = repository.require_work_tree()?;
    let copy = |name: &[u8]| {
        let path = to_path(name);
        copy_one(&root.join(&path), &folder.join(&path)).map_err(|error| failed(&path, &error))
    };
    let split = |listed: Vec<u8>| -> Vec<Vec<u8>> {
        let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        names.map(<[u8]>::to_vec).collect()
    };
    let git = repository.git();
    for name in split(git.output(["ls-files", "-z", "--cached"])?) {
        copy(&name)?;
    }
    for name in split(git.output(["ls-files", "-z", "--others", "--exclude-standard"])?) {
        // What is tracked below such a name is part of the repository; this is not.
        if !to_path(&name).components().any(|part| is_installed(part.as_os_str())) {
            copy(&name)?;
        }
    }
    Ok(())
}

fn is_installed(name: &std::ffi::OsStr) -> bool {
    INSTALLED.iter().any(|known| name == *known)
}

/// Copies a file with its mode, or a link as it is. What is deleted or something else is left out.
fn copy_one(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(metadata) = from.symlink_metadata() else { return Ok(()) };
    if !metadata.is_file() && !metadata.is_symlink() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if metadata.is_symlink() {
        return link(&fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    // Making one needs a right that few users have.
    Ok(())
}

/// Links to the folders of the work tree that a package manager filled and git does not track.
fn link_installed(repository: &Repository, folder: &Path) -> Result<Vec<PathBuf>, ScopeError> {
    let Some(root) = repository.work_tree() else { return Ok(Vec::new()) };
    let mut found: Vec<PathBuf> = Vec::new();
    // Both that are ignored, as they should be, and those that somebody forgot to ignore.
    for more in [&["--ignored"][..], &[]] {
        let mut arguments = vec!["ls-files", "-z", "--others", "--directory"];
        arguments.extend(more);
        arguments.push("--exclude-standard");
        let listed = repository.git().output(arguments)?;
        for name in listed.split(|&byte| byte == 0) {
            let Some(name) = name.strip_suffix(b"/") else { continue };
            let path = to_path(name.as_bytes());
            if path.file_name().is_some_and(is_installed) {
                found.push(path);
            }
        }
    }
    found.sort();
    found.dedup();
    let mut linked = Vec::new();
    for path in found {
        let (target, at) = (root.join(&path), folder.join(&path));
        let beside = at.parent().is_some_and(Path::is_dir);
        if beside && at.symlink_metadata().is_err() {
            link(&target, &at).map_err(|error| failed(&path, &error))?;
            linked.push(target);
        }
    }
    Ok(linked)
}

fn list(root: &Path, below: &Path, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(root, &path, paths)?;
        } else if let Some(path) = path.to_str() {
            paths.push(path.replace('\\', "/"));
        }
    }
    Ok(())
}
