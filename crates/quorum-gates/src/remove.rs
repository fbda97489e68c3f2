//! Removing what checks leave behind, whatever they did to it.

use std::io;
use std::path::Path;

/// Removes `folder` with all that is in it. No link is followed; rights that a check took away are
/// given back; no depth is too deep. Nothing of the check may run any more.
#[cfg(target_os = "linux")]
pub fn remove(folder: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let rights = Mode::RWXU;
    // Where a link stands in its place, the folder was moved away, and only the link can be removed.
    let stat = rustix::fs::statat(CWD, folder, AtFlags::SYMLINK_NOFOLLOW)?;
    if !is_folder(&stat) {
        return Ok(rustix::fs::unlinkat(CWD, folder, AtFlags::empty())?);
    }
    rustix::fs::chmodat(CWD, folder, rights, AtFlags::empty())?;
    let top = rustix::fs::openat(CWD, folder, flags, Mode::empty())?;
    let mut moved = 0_u64;
    // Folders below folders are moved up: that takes two open folders at any depth.
    loop {
        let mut emptied = true;
        for name in names(&top)? {
            emptied = false;
            if !is_folder(&rustix::fs::statat(&top, &name, AtFlags::SYMLINK_NOFOLLOW)?) {
                rustix::fs::unlinkat(&top, &name, AtFlags::empty())?;
                continue;
            }
            rustix::fs::chmodat(&top, &name, rights, AtFlags::empty())?;
            let inner = rustix::fs::openat(&top, &name, flags, Mode::empty())?;
            for child in names(&inner)? {
                if !is_folder(&rustix::fs::statat(&inner, &child, AtFlags::SYMLINK_NOFOLLOW)?) {
                    rustix::fs::unlinkat(&inner, &child, AtFlags::empty())?;
                    continue;
                }
                rustix::fs::chmodat(&inner, &child, rights, AtFlags::empty())?;
                // A name that is there already cannot be taken; the next number can.
                loop {
                    moved += 1;
                    let target = format!(".removed-{moved}");
                    match rustix::fs::renameat(&inner, &child, &top, &target) {
                        Ok(()) => break,
                        Err(rustix::io::Errno::EXIST | rustix::io::Errno::NOTEMPTY)
                            if moved < u64::MAX => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            rustix::fs::unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
        if emptied {
            break;
        }
    }
    Ok(rustix::fs::unlinkat(CWD, folder, AtFlags::REMOVEDIR)?)
}

#[cfg(target_os = "linux")]
fn is_folder(stat: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir()
}

#[cfg(target_os = "linux")]
fn names(folder: &rustix::fd::OwnedFd) -> io::Result<Vec<std::ffi::CString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if name.as_bytes() != b"." && name.as_bytes() != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes `folder` with all that is in it.
#[cfg(not(target_os = "linux"))]
pub fn remove(folder: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(folder)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn nothing_is_left_and_nothing_else_is_touched() {
        let around = tempfile::tempdir().unwrap();
        let kept = around.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("diary"), "mine").unwrap();
        let folder = around.path().join("quorum-gates-x");
        fs::create_dir_all(folder.join("a/b/c")).unwrap();
        fs::create_dir_all(folder.join("a/.removed-1/d")).unwrap();
        fs::create_dir_all(folder.join(".removed-2/e")).unwrap();
        fs::write(folder.join("a/b/c/file"), "x").unwrap();
        symlink(&kept, folder.join("link")).unwrap();
        symlink(&kept, folder.join("a/b/link")).unwrap();
        symlink("nowhere", folder.join("a/dangling")).unwrap();
        for closed in ["a/b/c", "a/b", "a"] {
            fs::set_permissions(folder.join(closed), fs::Permissions::from_mode(0o000)).unwrap();
        }
        remove(&folder).unwrap();
        assert!(!folder.exists());
        assert_eq!(fs::read_to_string(kept.join("diary")).unwrap(), "mine");
        // A link in its place goes, and what it leads to stays.
        symlink(&kept, &folder).unwrap();
        remove(&folder).unwrap();
        assert!(folder.symlink_metadata().is_err() && kept.join("diary").exists());
    }

    #[test]
    fn no_depth_is_too_deep() {
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join("deep");
        fs::create_dir(&folder).unwrap();
        // Deeper than a path can be long, so each level is made from inside the one before.
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        let mode = rustix::fs::Mode::RWXU;
        let mut inside = rustix::fs::open(&folder, flags, mode).unwrap();
        for _ in 0..3000 {
            rustix::fs::mkdirat(&inside, "dddd", mode).unwrap();
            inside = rustix::fs::openat(&inside, "dddd", flags, mode).unwrap();
        }
        remove(&folder).unwrap();
        assert!(!folder.exists());
    }
}
