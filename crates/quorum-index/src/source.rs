//! Files as they are on disk, read with care.
//!
//! Links are not followed, pipes and devices are not opened, and nothing is read beyond a limit.
//! What changes while it is read is read again, and looked at again in the next run.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use bstr::{BStr, BString};
use rustix::fs::OFlags;

use crate::error::IndexError;

/// Larger files are in the index by name alone.
pub const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// Another change within this time may leave the stamp of a file as it is.
const RACY: i64 = 2_000_000_000;

/// The files to index, and what each of them is.
pub trait Tree: Sync {
    /// The folder that paths start from.
    fn root(&self) -> &Path;
    /// Every file of the tree, by its path from the root.
    fn files(&self) -> Result<Vec<BString>, IndexError>;
    /// What the answers of [`Tree::classify`] depend on beside path and content.
    fn policy(&self) -> Vec<u8>;
    /// What a file is, by its path and content.
    fn classify(&self, path: &BStr, content: Vec<u8>) -> (Class, Vec<u8>);
    /// The content without secrets: what is kept and shown of a file. Lines stay where they are.
    fn mask(&self, path: &BStr, content: &[u8]) -> Vec<u8>;
    /// The branch that is checked out.
    fn branch(&self) -> Option<String>;
    /// The commit that is checked out.
    fn revision(&self) -> Option<String>;
}

/// What a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// The language, by GitHub Linguist's names.
    pub language: Option<String>,
    /// Why the name alone is indexed, where that is so.
    pub name_only: Option<String>,
    /// Whether it is somebody else's code.
    pub vendored: bool,
    /// Whether it holds tests, examples or benchmarks.
    pub aside: bool,
}

/// What tells whether a file changed, without a look at its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: i64,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    pub(crate) inode: i64,
}

impl Stamp {
    pub(crate) fn of(found: &Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000) + rest;
        Self {
            size: i64::try_from(found.len()).unwrap_or(i64::MAX),
            modified: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed: nanoseconds(found.ctime(), found.ctime_nsec()),
            inode: found.ino().cast_signed(),
        }
    }

    /// Whether the file was left alone long enough for the stamp to mean something.
    pub(crate) fn is_settled(&self, now: i64) -> bool {
        self.modified.max(self.changed) < now - RACY
    }
}

/// Nanoseconds since the epoch.
pub(crate) fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// What became of reading a file.
#[derive(Debug)]
pub(crate) enum Read {
    /// All of it; without a stamp it is read again in the next run.
    Whole(Vec<u8>, Option<Stamp>),
    /// It is there and its content is not read, for this reason.
    NameOnly(String, Option<Stamp>),
    /// It is not there any more.
    Gone,
}

/// Reads a regular file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Read {
    let mut last = None;
    // A file that is written to without a pause is taken as it is in the end.
    for _ in 0..3 {
        match read_once(path, limit) {
            Ok(Read::Whole(content, None)) => last = Some(content),
            Ok(done) => return done,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Read::Gone;
            }
            Err(error) => return Read::NameOnly(error.to_string(), None),
        }
    }
    Read::Whole(last.unwrap_or_default(), None)
}

fn read_once(path: &Path, limit: u64) -> std::io::Result<Read> {
    let found = path.symlink_metadata()?;
    let stamp = Some(Stamp::of(&found));
    if found.is_symlink() {
        return Ok(Read::NameOnly("a symbolic link is not followed".to_owned(), stamp));
    }
    if !found.is_file() {
        return Ok(Read::NameOnly("it is neither a file nor a link".to_owned(), stamp));
    }
    if found.len() > limit {
        return Ok(Read::NameOnly(too_large(found.len(), limit), stamp));
    }
    let mut file = open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Ok(Read::NameOnly("it is neither a file nor a link".to_owned(), None));
    }
    let mut content = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0) + 1);
    file.by_ref().take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Ok(Read::NameOnly(too_large(content.len() as u64, limit), None));
    }
    let (before, after) = (Stamp::of(&before), Stamp::of(&file.metadata()?));
    let steady = before == after && content.len() as u64 == after.size.cast_unsigned();
    Ok(Read::Whole(content, steady.then_some(after)))
}

/// Opens a file that may have become a link or a pipe since it was looked at.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

fn too_large(size: u64, limit: u64) -> String {
    let (whole, tenth) = (size >> 20, ((size & 0xf_ffff) * 10) >> 20);
    format!("{whole}.{tenth} MiB is more than the {} MiB that are read", limit >> 20)
}
