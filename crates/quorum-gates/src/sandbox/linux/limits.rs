//! Limits that the kernel enforces on every process by itself.

use std::{fs, io};

use rustix::process::{Resource, Rlimit};

use super::Spec;

/// Sets them for this process and all that come from it.
pub(super) fn set(spec: &Spec, apart: bool) -> io::Result<()> {
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, spec.file),
        // Reserved address space is free, and some runtimes reserve plenty; what is written is not.
        (Resource::Data, spec.memory),
        // Where there is no namespace, all processes of the user count.
        (Resource::Nproc, spec.processes + if apart { 0 } else { everybody() }),
    ];
    for (resource, most) in limits {
        lower(resource, most)?;
    }
    if apart {
        // Root is exempt from the limit above; since Linux 6.14 a namespace has a highest number of
        // its own. Where it has none, the watch is what is left. It is higher than what is allowed, so
        // that the watch sees who goes too far; the first 300 numbers are given out only once.
        let highest = spec.processes + spec.processes / 4 + 301;
        drop(fs::write("/proc/sys/kernel/pid_max", highest.to_string()));
    }
    Ok(())
}

/// All processes and threads of this machine, which are at least those of this user.
fn everybody() -> u64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = load.split_whitespace().nth(3).and_then(|field| field.split('/').nth(1));
    tasks.and_then(|tasks| tasks.parse().ok()).unwrap_or_default()
}

/// Lowers a limit; one that is lower already stays.
fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let least = |old: Option<u64>| Some(old.map_or(most, |old| old.min(most)));
    let limit = Rlimit { current: least(now.current), maximum: least(now.maximum) };
    Ok(rustix::process::setrlimit(resource, limit)?)
}
