//! Landlock, and giving up privileges.

use std::io;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::Spec;

/// The newest interface that is asked for; a kernel enforces what it knows of it.
const NEWEST: ABI = ABI::V9;

/// What there is to know about the machine. Folders of processes are not among it: their command
/// lines can be read by every user.
const MACHINE: [&str; 10] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/fs",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/uptime",
    "/proc/version",
];

/// What the kernel enforces of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) files: bool,
    pub(super) network: bool,
}

/// Lets this process and its children read what `spec` names, write to its scratch folders, and reach
/// no other process. `viewed` says that they see a file system of their own.
pub(super) fn files(spec: &Spec, viewed: bool, apart: bool) -> io::Result<Held> {
    let network = !apart && !spec.network;
    restrict(spec, viewed, network).map_err(|error| io::Error::other(error.to_string()))
}

fn restrict(spec: &Spec, viewed: bool, network: bool) -> Result<Held, landlock::RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    if network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut writable: Vec<&std::path::Path> = spec.writable.iter().map(AsRef::as_ref).collect();
    let mut readable: Vec<&std::path::Path> = spec.readable.iter().map(AsRef::as_ref).collect();
    let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
    let own = ["/tmp", "/dev/shm", "/dev/pts"];
    writable.extend(devices.iter().map(std::path::Path::new));
    if viewed {
        // All that can be seen there may be read.
        writable.extend(own.iter().map(std::path::Path::new));
        readable = vec![std::path::Path::new("/")];
    } else {
        writable.push(&spec.tmp);
        readable.extend(MACHINE.iter().map(std::path::Path::new));
    }
    let status = ruleset
        .create()?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(writable, all))?
        .restrict_self()?;
    let files = status.ruleset != RulesetStatus::NotEnforced;
    // TCP is part of the interface from its fourth version on.
    let knows_tcp = matches!(
        status.landlock,
        LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V4
    );
    Ok(Held { files, network: files && network && knows_tcp })
}

/// Gives up all capabilities for good: no program that is started from here on gains any.
pub(super) fn privileges() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    // The bounding set goes while there is the right to lower it; without that right there is
    // nothing in it to gain.
    for capability in CapabilitySet::all().iter() {
        _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}
