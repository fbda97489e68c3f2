//! The temporary folder in which gates run, which goes when they are done.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::observer::{Progress, SharedObserver};
use std::io;

const PREFIX: &str = "quorum-gates-";

/// Held by the process that works in the folder.
const LOCK: &str = "lock";

/// A folder of its own below the temporary one.
pub(super) struct ScratchFolder {
    pub(super) path: PathBuf,
    _lock: File,
    observer: SharedObserver,
}

impl std::fmt::Debug for ScratchFolder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ScratchFolder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ScratchFolder {
    /// A folder below `temporary`.
    pub(super) fn make(temporary: &Path, observer: &SharedObserver) -> io::Result<Self> {
        sweep(temporary);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(temporary)?;
        let lock = File::create(made.path().join(LOCK))?;
        lock.lock()?;
        let path = made.keep();
        let path = path.canonicalize().unwrap_or(path);
        Ok(Self { path, _lock: lock, observer: observer.clone() })
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Err(error) = quorum_gates::remove(&self.path) {
            let text =
                format!("{} cannot be removed: {error}; remove it yourself", self.path.display());
            self.observer.observe(Progress::Notice(&text));
        }
    }
}

/// Removes what processes left behind that were killed.
fn sweep(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if named && is_abandoned(&entry.path()) {
            // It was not ours; whose it was may have taken it away just now.
            drop(quorum_gates::remove(&entry.path()));
        }
    }
}

/// Whether this user's process that worked in `folder` is gone.
fn is_abandoned(folder: &Path) -> bool {
    let Ok(metadata) = folder.symlink_metadata() else { return false };
    if !metadata.is_dir() || !is_own(&metadata) {
        return false;
    }
    let lock = folder.join(LOCK);
    // A check may have put a link there, or a pipe at which opening would wait.
    if !lock.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let Ok(lock) = File::open(lock) else { return false };
    !matches!(lock.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)))
}

#[cfg(unix)]
fn is_own(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}
