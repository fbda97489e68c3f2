//! A file system in which there is only what a check needs.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use super::Spec;

/// Devices that programs expect everywhere.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// What is readable below `/etc` to the user who reviews, and nobody's business here.
pub(super) const PRIVATE: [&str; 9] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/etc/sudoers",
    "/etc/sudoers.d",
];

/// Whether the system does not let this user make mounts, as against something going wrong.
pub(super) fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

/// Puts the view together and makes it the root.
pub(super) fn build(spec: &Spec) -> io::Result<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)?;
    let root = spec.root.as_path();
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", root, "tmpfs", plain, c"mode=0755,size=16m")?;
    let tmp = Path::new("/tmp");
    // First of all, because what is readable may be below it.
    bind(&spec.tmp, &inside(root, tmp))?;
    for path in outermost(&spec.readable) {
        show(root, path)?;
    }
    devices(root)?;
    processes(root)?;
    // `TMPDIR` names it by its own path, which is the same folder with and without a view.
    bind(&spec.tmp, &inside(root, &spec.tmp))?;
    for path in &spec.writable {
        bind(path, &inside(root, path))?;
    }
    for path in PRIVATE {
        hide(&inside(root, Path::new(path)), root)?;
    }
    let mut writable: Vec<PathBuf> = spec.writable.iter().map(|path| inside(root, path)).collect();
    writable.extend([inside(root, tmp), inside(root, &spec.tmp)]);
    protect(root, &writable)?;
    rustix::process::chdir(root)?;
    rustix::process::pivot_root(".", ".")?;
    rustix::mount::unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")?;
    rustix::mount::mount_remount("/", plain | MountFlags::BIND | MountFlags::RDONLY, "")?;
    Ok(())
}

/// Those of `paths` that lie below none before them: with a folder above it, one is shown already.
pub(super) fn outermost(paths: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let below =
        |index: usize, path: &PathBuf| paths[..index].iter().any(|above| path.starts_with(above));
    paths.iter().enumerate().filter(move |(index, path)| !below(*index, path)).map(|(_, path)| path)
}

/// Where `path` is below the new root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Shows a file, a folder or a link as it is. What is not there is not shown.
fn show(root: &Path, path: &Path) -> io::Result<()> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    let target = inside(root, path);
    if metadata.is_symlink() {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        return symlink(fs::read_link(path)?, target);
    }
    bind(path, &target)
}

/// Binds `source`, with all that is mounted below it, at a place that is made for it.
fn bind(source: &Path, target: &Path) -> io::Result<()> {
    if source.is_dir() {
        fs::create_dir_all(target)?;
    } else {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::File::create(target)?;
    }
    Ok(rustix::mount::mount_bind_recursive(source, target)?)
}

fn devices(root: &Path) -> io::Result<()> {
    let folder = root.join("dev");
    fs::create_dir_all(&folder)?;
    for name in DEVICES {
        let device = Path::new("/dev").join(name);
        if device.exists() {
            bind(&device, &folder.join(name))?;
        }
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, folder.join(name))?;
    }
    let shared = folder.join("shm");
    fs::create_dir_all(&shared)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", &shared, "tmpfs", flags, c"mode=1777,size=512m")?;
    // A terminal of its own, for what insists on one.
    let terminals = folder.join("pts");
    fs::create_dir_all(&terminals)?;
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    if rustix::mount::mount("devpts", &terminals, "devpts", MountFlags::NOSUID, options).is_ok() {
        symlink("pts/ptmx", folder.join("ptmx"))?;
    }
    Ok(())
}

/// The processes of the own namespace and no others.
fn processes(root: &Path) -> io::Result<()> {
    let folder = root.join("proc");
    fs::create_dir_all(&folder)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(rustix::mount::mount("proc", &folder, "proc", flags, None)?)
}

/// Covers what is there.
fn hide(path: &Path, root: &Path) -> io::Result<()> {
    if path.is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount("tmpfs", path, "tmpfs", flags, c"mode=0555,size=4k")?;
    } else if path.exists() {
        rustix::mount::mount_bind(root.join("dev/null"), path)?;
    }
    Ok(())
}

/// Makes every mount below the root read-only, but for `writable`.
fn protect(root: &Path, writable: &[PathBuf]) -> io::Result<()> {
    for mount in mounts(&fs::read_to_string("/proc/self/mountinfo")?) {
        let own = ["dev/shm", "dev/pts"].iter().any(|name| mount.point == root.join(name));
        let below = mount.point != root && mount.point.starts_with(root);
        if !below || own || writable.contains(&mount.point) {
            continue;
        }
        let flags = mount.flags | MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID;
        rustix::mount::mount_remount(&mount.point, flags, "")?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    point: PathBuf,
    /// Those that it has must be kept: the kernel takes none of them off for us.
    flags: MountFlags,
}

fn mounts(text: &str) -> Vec<Mount> {
    let mounts = text.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        let point = unescape(fields.next()?);
        let mut flags = MountFlags::empty();
        for option in fields.next()?.split(',') {
            flags |= match option {
                "nosuid" => MountFlags::NOSUID,
                "nodev" => MountFlags::NODEV,
                "noexec" => MountFlags::NOEXEC,
                "noatime" => MountFlags::NOATIME,
                "nodiratime" => MountFlags::NODIRATIME,
                "relatime" => MountFlags::RELATIME,
                _ => MountFlags::empty(),
            };
        }
        Some(Mount { point: PathBuf::from(point), flags })
    });
    mounts.collect()
}

/// The kernel writes blanks in names as `\040`.
fn unescape(text: &str) -> String {
    let mut plain = text.to_owned();
    for (code, character) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        plain = plain.replace(code, character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_keep_the_flags_that_they_have() {
        let text = "36 35 98:0 / /a\\040b rw,nosuid,relatime shared:1 - ext3 /dev/root rw\n";
        let flags = MountFlags::NOSUID | MountFlags::RELATIME;
        assert_eq!(mounts(text), [Mount { point: PathBuf::from("/a b"), flags }]);
    }
}
