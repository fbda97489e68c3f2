//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;

use crate::error::StoreError;

/// What the names of unfinished files begin with.
const ASIDE: &str = ".partial-";

/// What must hold of a file once it has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It is whole; the journal can make it again after a loss of power.
    Whole,
    /// Its bytes are on the disk; who writes several names to a folder makes sure of those once.
    Bytes,
    /// Its bytes and its name are on the disk.
    Name,
}

/// Writes `bytes` aside, makes sure that they are on the disk, and gives them their name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_as(path, bytes, Hold::Name)
}

/// Writes `bytes` aside and gives them their name.
pub(crate) fn write_as(path: &Path, bytes: &[u8], hold: Hold) -> Result<(), StoreError> {
    put(path, bytes, hold).map_err(StoreError::io("writing", path))
}

/// Writes `value` as JSON, whole.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    write_json_as(path, value, Hold::Name)
}

/// Writes `value` as JSON.
pub(crate) fn write_json_as(
    path: &Path,
    value: &impl Serialize,
    hold: Hold,
) -> Result<(), StoreError> {
    write_as(path, &json(path, value)?, hold)
}

/// The bytes of `value` as they are written to `path`.
pub(crate) fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|cause| StoreError::malformed(path, &cause))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn put(path: &Path, bytes: &[u8], hold: Hold) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // The file is removed when it is dropped before it has its name.
    let mut aside = tempfile::Builder::new().prefix(ASIDE).tempfile_in(folder)?;
    aside.write_all(bytes)?;
    if hold != Hold::Whole {
        aside.as_file().sync_all()?;
    }
    aside.persist(path).map_err(|failed| failed.error)?;
    if hold == Hold::Name { sync_folder(folder) } else { Ok(()) }
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
