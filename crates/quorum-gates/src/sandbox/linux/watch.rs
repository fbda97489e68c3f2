//! Over a command until it ends, and over what it leaves behind.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use super::{End, Spec};

/// How often the limits are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// A disk with less than this left is full, for all that others want to do with it.
const SPARE: u64 = 128 << 20;

/// What is watched.
pub(super) struct Watch {
    deadline: Instant,
    memory: u64,
    processes: u64,
    disk: u64,
    scratch: Vec<PathBuf>,
    /// What was free before the command ran.
    free: u64,
    /// Whether every other process that can be seen is the command's.
    apart: bool,
}

impl Watch {
    pub(super) fn new(spec: &Spec, apart: bool) -> Self {
        let mut scratch = spec.writable.clone();
        scratch.push(spec.tmp.clone());
        Self {
            deadline: Instant::now() + Duration::from_millis(spec.timeout_ms),
            memory: spec.memory,
            processes: spec.processes,
            disk: spec.disk,
            free: scratch.first().map(|path| free(path)).unwrap_or_default(),
            scratch,
            apart,
        }
    }

    /// Waits for the command, and ends everything that came from it.
    pub(super) fn over(&self, command: Pid) -> End {
        let end = self.wait(command);
        if !self.apart {
            end_descendants(command);
        }
        // In a namespace of one's own, all processes end with the first, which is this one.
        end
    }

    fn wait(&self, command: Pid) -> End {
        let mut looked = Instant::now();
        let mut pause = Duration::from_millis(2);
        loop {
            // Orphans come to us too; nobody else will bury them.
            while let Ok(Some((id, status))) = rustix::process::wait(WaitOptions::NOHANG) {
                if id == command {
                    return match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => End::Exited(code),
                        (None, Some(signal)) => End::Killed(signal),
                        (None, None) => End::Lost("it ended without a status".to_owned()),
                    };
                }
            }
            if Instant::now() >= self.deadline {
                return End::TimedOut;
            }
            if looked.elapsed() >= LOOK {
                if let Some(what) = self.over_limit() {
                    return End::OverLimit(what);
                }
                looked = Instant::now();
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    fn over_limit(&self) -> Option<String> {
        let too_many = |tasks: u64| format!("{tasks} processes and threads, of {}", self.processes);
        // Of a flood it is enough to know the number; to look at each would take too long.
        let count = if self.apart { ids().count() as u64 } else { 0 };
        if count > self.processes {
            return Some(too_many(count));
        }
        let processes = processes(self.apart, &[]);
        let tasks: u64 = processes.iter().map(|process| process.threads).sum();
        if tasks > self.processes {
            return Some(too_many(tasks));
        }
        let memory: u64 = processes.iter().map(|process| process.memory).sum();
        if memory > self.memory {
            return Some(format!("{} MiB of memory, of {}", memory >> 20, self.memory >> 20));
        }
        let now = self.scratch.first().map_or(u64::MAX, |path| free(path));
        if now < SPARE && now < self.free {
            return Some("the disk is nearly full".to_owned());
        }
        // Others write to the disk as well, so only a look at the files decides.
        if self.free.saturating_sub(now) > self.disk / 2 {
            let size: u64 = self.scratch.iter().map(|path| size(path)).sum();
            if size > self.disk {
                return Some(format!("{} MiB of disk, of {}", size >> 20, self.disk >> 20));
            }
        }
        None
    }
}

struct Process {
    id: i32,
    parent: i32,
    /// Whether it has ended, and nobody has asked how.
    ended: bool,
    threads: u64,
    /// Bytes that are its own.
    memory: u64,
}

/// The numbers of all processes that can be seen.
fn ids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes that came from the command, and neither this one nor what is `spared`.
fn processes(apart: bool, spared: &[i32]) -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let all: Vec<Process> = ids().filter(|id| *id != own).filter_map(read).collect();
    if apart {
        return all;
    }
    let parents: HashMap<i32, i32> =
        all.iter().map(|process| (process.id, process.parent)).collect();
    let descends = |process: &Process| {
        if spared.contains(&process.id) {
            return false;
        }
        let mut above = process.parent;
        // A chain of parents has an end; a table that changes while it is read may have none.
        for _ in 0..parents.len() {
            if above == own {
                return true;
            }
            if spared.contains(&above) {
                return false;
            }
            match parents.get(&above) {
                Some(next) => above = *next,
                None => return false,
            }
        }
        above == own
    };
    all.into_iter().filter(descends).collect()
}

fn read(id: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let rest = stat.rsplit_once(')')?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|field| field.parse::<i64>().ok());
    let pages = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let mut pages = pages.split_whitespace().skip(1).filter_map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    let page = rustix::param::page_size() as u64;
    Some(Process {
        id,
        parent: i32::try_from(number(1)?).ok()?,
        ended: fields.first() == Some(&"Z"),
        threads: number(17).and_then(|count| u64::try_from(count).ok()).unwrap_or(1),
        memory: resident.saturating_sub(shared) * page,
    })
}

/// Kills all that came from the command until nothing of it is left. What it left behind has become
/// a child of this process, so nothing hides.
fn end_descendants(command: Pid) {
    // The command's own group goes in one stroke, however many they are.
    _ = rustix::process::kill_process_group(command, Signal::KILL);
    end_all(&[], || while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {});
}

/// Everything that this process starts from now on, however far it goes.
#[derive(Debug)]
pub struct Family {
    /// What was there before.
    spared: Vec<i32>,
}

impl Family {
    /// From now on what loses its parent becomes a child of this process.
    pub fn adopt() -> Self {
        _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Self { spared: processes(false, &[]).into_iter().map(|process| process.id).collect() }
    }

    /// Ends all of it.
    pub fn end(&self) {
        end_all(&self.spared, || {});
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        _ = rustix::process::set_child_subreaper(None);
    }
}

/// Kills what came from this process until nothing of it runs; `bury` takes note of the dead.
fn end_all(spared: &[i32], bury: impl Fn()) {
    for _ in 0..200 {
        let mut left = processes(false, spared);
        left.retain(|process| !process.ended);
        if left.is_empty() {
            return bury();
        }
        // What is stopped starts nothing new while the others are being found.
        for signal in [Signal::STOP, Signal::KILL] {
            for id in left.iter().filter_map(|process| Pid::from_raw(process.id)) {
                // It may have ended by itself in the meantime.
                _ = rustix::process::kill_process(id, signal);
            }
        }
        bury();
        thread::sleep(Duration::from_millis(10));
    }
}

/// Bytes that are free where `path` is.
fn free(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Bytes on disk below `path`, links not followed.
fn size(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let mut total = 0;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                total += metadata.blocks() * 512;
            }
        }
    }
    total
}
