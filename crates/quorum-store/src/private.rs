//! What is kept about a repository is its owner's: folders 0700, files 0600, also where an earlier
//! version made them for everybody to read.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Makes `folder` and what leads to it, and keeps others out of it.
pub fn folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if tighten(folder, 0o700)? {
        sweep(folder);
    }
    Ok(())
}

/// Makes sure that `file` exists and that nobody else reads it.
pub(crate) fn file(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    owned(&mut options).open(file)?;
    tighten(file, 0o600)?;
    Ok(())
}

/// A file that these options make is nobody else's to read.
pub fn owned(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Whether others than its owner may do something with `path`.
#[cfg(unix)]
pub(crate) fn is_open(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(path.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_open(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Takes from `path` what others may do with it; says whether there was something to take. What
/// somebody else owns stays as it is.
#[cfg(unix)]
fn tighten(path: &Path, most: u32) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.symlink_metadata()?.permissions().mode() & 0o777;
    if mode & !most == 0 {
        return Ok(false);
    }
    match fs::set_permissions(path, fs::Permissions::from_mode(mode & most)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        done => done.map(|()| true),
    }
}

#[cfg(not(unix))]
fn tighten(_: &Path, _: u32) -> io::Result<bool> {
    Ok(false)
}

/// Tightens all that is in `folder`, which earlier versions left open.
fn sweep(root: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            drop(tighten(&entry.path(), 0o700));
            sweep(&entry.path());
        } else if kind.is_file() {
            drop(tighten(&entry.path(), 0o600));
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn what_was_open_is_closed_and_what_is_closed_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let (runs, kept) = (root.path().join("runs"), root.path().join("runs/journal"));
        fs::create_dir(&runs).expect("made");
        fs::write(&kept, "x").expect("written");
        for (path, open) in [(&runs, 0o755), (&kept, 0o644)] {
            fs::set_permissions(path, fs::Permissions::from_mode(open)).expect("set");
        }
        folder(&runs).expect("tightened");
        assert_eq!((mode(&runs), mode(&kept)), (0o700, 0o600));
        let fresh = root.path().join("memory.db");
        file(&fresh).expect("made");
        assert_eq!(mode(&fresh), 0o600);
    }
}
