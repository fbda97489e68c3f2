//! The append-only record of everything that happens in a run.
//!
//! One event is one line of JSON, `{"crc32":"…","seq":…,"at":"…","event":{…}}`, in which the
//! checksum covers all that comes after it. A line that was cut off by a crash is told apart from a
//! line that was changed later: the first is forgotten, because nobody was told that it was saved;
//! the second is named.

mod event;
mod read;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use event::{CallOutcome, Event, SettledCall};
pub use read::{Damage, DamageKind, Reading, Record, read};

use crate::clock::Clock;
use crate::error::StoreError;

/// The journal of a run, open for appending. Threads share it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    clock: Clock,
    inner: Mutex<Inner>,
    watcher: OnceLock<Watcher>,
}

/// Is told of every record, in their order.
struct Watcher(Box<dyn Fn(&Record) + Send + Sync>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

#[derive(Debug)]
struct Inner {
    file: File,
    /// Bytes that are known to be good.
    length: u64,
    next: u64,
    /// After a failure that leaves open what is on the disk, nothing more is added.
    failed: bool,
}

impl Journal {
    /// Starts a journal; there must not be one yet.
    pub(crate) fn create(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        let file = crate::private::owned(OpenOptions::new().append(true).create_new(true))
            .open(path)
            .map_err(StoreError::io("making", path))?;
        Ok(Self::over(file, path, clock, 0, 0))
    }

    /// Opens a journal to go on with it. What a crash cut off is removed first, so that the next
    /// record begins on a line of its own.
    pub(crate) fn reopen(path: &Path, clock: Clock) -> Result<(Self, Reading), StoreError> {
        let bytes = std::fs::read(path).map_err(StoreError::io("reading", path))?;
        let reading = read(&bytes);
        let mut file =
            OpenOptions::new().append(true).open(path).map_err(StoreError::io("opening", path))?;
        let mend = |file: &mut File| -> io::Result<u64> {
            if reading.torn > 0 {
                file.set_len(reading.end)?;
            } else if bytes.last().is_some_and(|&last| last != b'\n') {
                file.write_all(b"\n")?;
            }
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        let length = mend(&mut file).map_err(StoreError::io("mending", path))?;
        let next = reading.next;
        Ok((Self::over(file, path, clock, length, next), reading))
    }

    fn over(file: File, path: &Path, clock: Clock, length: u64, next: u64) -> Self {
        let inner = Mutex::new(Inner { file, length, next, failed: false });
        Self { path: path.to_owned(), clock, inner, watcher: OnceLock::new() }
    }

    /// Tells `watcher` of every record that there is and of every one that comes. There is one
    /// watcher at most: a second one is not told anything.
    pub fn watch(
        &self,
        watcher: impl Fn(&Record) + Send + Sync + 'static,
    ) -> Result<(), StoreError> {
        // Nothing is added between the records that there are and the first that comes.
        let _inner = self.lock();
        let bytes = std::fs::read(&self.path).map_err(StoreError::io("reading", &self.path))?;
        read(&bytes).records.iter().for_each(&watcher);
        drop(self.watcher.set(Watcher(Box::new(watcher))));
        Ok(())
    }

    /// Adds one event. When this returns, an event that must not be lost is on the disk.
    pub fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.append_all(std::slice::from_ref(event))
    }

    /// Adds several events with one write and at most one wait for the disk: all of them or none.
    pub fn append_all(&self, events: &[Event]) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let at = self.clock.now().to_string();
        let mut inner = self.lock();
        if inner.failed {
            return Err(StoreError::JournalFailed(self.path.clone()));
        }
        let mut lines = Vec::new();
        let mut next = inner.next;
        for event in events {
            let line = read::line(next, &at, event)
                .map_err(|cause| StoreError::malformed(&self.path, &cause))?;
            lines.extend(line);
            next += 1;
        }
        let durable = events.iter().any(Event::is_durable);
        inner.put(&lines, durable).map_err(StoreError::io("writing", &self.path))?;
        if let Some(Watcher(told)) = self.watcher.get() {
            for (seq, event) in (inner.next..).zip(events) {
                told(&Record { seq, at: at.clone(), event: event.clone() });
            }
        }
        inner.next = next;
        Ok(())
    }

    /// A thread that panicked while it held the lock left the file as `put` leaves it.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn put(&mut self, lines: &[u8], durable: bool) -> io::Result<()> {
        if let Err(error) = self.file.write_all(lines) {
            // A full disk takes a part of a line. Without it the journal is as it was, and may go
            // on once there is room.
            self.failed = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        if durable && let Err(error) = self.file.sync_data() {
            // After a failed sync nobody knows what reached the disk, and asking again does not tell.
            self.failed = true;
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
