//! Namespaces of one's own: users, mounts, processes, network.

use std::{fs, io};

use rustix::net::{AddressFamily, SendFlags, SocketType};
use rustix::thread::UnshareFlags;

/// Enters new namespaces, in which the user has the same number as before and no one else has any.
pub(super) fn enter(network: bool) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    if !network {
        flags |= UnshareFlags::NEWNET;
    }
    unshare(flags)?;
    fs::write("/proc/self/setgroups", "deny")?;
    let (user, group) = (user.as_raw(), group.as_raw());
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

#[expect(
    deprecated,
    reason = "it is deprecated for what it does to shared file tables, which this leaves alone"
)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
}

/// Brings the loopback up, so that tests can talk to themselves. One that stays down is no danger.
pub(super) fn raise_loopback() {
    // RTM_NEWLINK: set IFF_UP on the interface with index 1, which is always the loopback.
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes()); // the message's length
    message.extend(16_u16.to_ne_bytes()); // RTM_NEWLINK
    message.extend(1_u16.to_ne_bytes()); // NLM_F_REQUEST
    message.extend([0; 8]); // sequence and sender
    message.extend([0; 4]); // family, padding, device type
    message.extend(1_i32.to_ne_bytes()); // index
    message.extend(1_u32.to_ne_bytes()); // IFF_UP
    message.extend(1_u32.to_ne_bytes()); // which flags to change
    // The first protocol of this family is that of routes and links.
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None);
    if let Ok(socket) = socket {
        _ = rustix::net::send(&socket, &message, SendFlags::empty());
    }
}
