//! System calls that no build or test needs, and that lead out.

use std::collections::BTreeMap;
use std::error::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Calls that are refused whatever their arguments.
const REFUSED: [i64; 33] = [
    // Mounts and namespaces of others.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    // Files without a path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // It opens sockets, and no filter sees them.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Keys of the user's session.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_clock_settime,
];

/// Refuses them for this process and all that come from it.
pub(super) fn apply(apart: bool, network: bool) -> Result<(), Box<dyn Error>> {
    let program: BpfProgram = filter(apart || network)?.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}

/// `internet` says whether sockets of the internet lead nowhere, or are wanted.
fn filter(internet: bool) -> Result<SeccompFilter, Box<dyn Error>> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED {
        rules.insert(call, Vec::new());
    }
    rules.insert(libc::SYS_socket, vec![other_families(internet)?]);
    // A user namespace of one's own has all capabilities, and with them more of the kernel.
    let users = u64::try_from(libc::CLONE_NEWUSER)?;
    let masked = SeccompCmpOp::MaskedEq(users);
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, masked, users)?;
    rules.insert(libc::SYS_unshare, vec![SeccompRule::new(vec![condition])?]);
    if cfg!(target_arch = "x86_64") {
        // The same calls by their other numbers.
        const X32: i64 = 0x4000_0000;
        let others: Vec<(i64, Vec<SeccompRule>)> =
            rules.iter().map(|(call, rule)| (call | X32, rule.clone())).collect();
        rules.extend(others);
    }
    let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM)?);
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?)
}

/// Holds for every family of sockets but the ones that stay on this machine.
fn other_families(internet: bool) -> Result<SeccompRule, Box<dyn Error>> {
    let mut allowed = vec![libc::AF_UNIX, libc::AF_NETLINK];
    if internet {
        allowed.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let conditions: Result<Vec<SeccompCondition>, Box<dyn Error>> = allowed
        .into_iter()
        .map(|family| {
            let family = u64::try_from(family)?;
            let length = SeccompCmpArgLen::Dword;
            Ok(SeccompCondition::new(0, length, SeccompCmpOp::Ne, family)?)
        })
        .collect();
    Ok(SeccompRule::new(conditions?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_compiles_for_this_machine() {
        for internet in [false, true] {
            let program: Result<BpfProgram, _> = filter(internet).unwrap().try_into();
            assert!(program.is_ok_and(|program| program.len() > REFUSED.len()));
        }
    }
}
