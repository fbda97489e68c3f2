//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;

use crate::error::StoreError;

/// What the names of unfinished files begin with.
const ASIDE: &str = ".partial-";

/// Writes `bytes` aside, makes sure that they are on the disk, and gives them their name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    put(folder, path, bytes).map_err(StoreError::io("writing", path))
}

/// Writes `value` as JSON, whole.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|cause| StoreError::malformed(path, &cause))?;
    bytes.push(b'\n');
    write(path, &bytes)
}

fn put(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The file is removed when it is dropped before it has its name.
    let mut aside = tempfile::Builder::new().prefix(ASIDE).tempfile_in(folder)?;
    aside.write_all(bytes)?;
    aside.as_file().sync_all()?;
    aside.persist(path).map_err(|failed| failed.error)?;
    sync_folder(folder)
}

/// Makes sure that the names in `folder` are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes what a killed process left unfinished in `folder`.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(ASIDE) {
            // It is in nobody's way; the next sweep tries again.
            drop(fs::remove_file(entry.path()));
        }
    }
}
