//! Bubblewrap, where this program may not make namespaces itself and that one may.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::view::{self, PRIVATE};
use super::{HELPER, Spec, WRAPPED};

/// Where systems install it. Not from a search path: what is found there may be the repository's.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Where the helper is inside.
const INSIDE: &str = "/run/quorum-gate";

/// Bubblewrap, where it is installed and can make namespaces here.
pub(super) fn program() -> Option<&'static str> {
    PLACES.into_iter().find(|place| Path::new(place).is_file() && works(place))
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts bubblewrap")]
fn works(program: &str) -> bool {
    let tried = Command::new(program)
        .args([
            "--unshare-all",
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "/bin/sh",
            "-c",
            "exit 0",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// Runs the second stage inside, and returns its exit code.
#[expect(clippy::disallowed_methods, reason = "the one place that starts bubblewrap")]
pub(super) fn run(program: &str, spec: &Spec, text: &str) -> io::Result<u8> {
    let helper = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(arguments(spec, &helper)?);
    command.args(["--", INSIDE, HELPER, "init", text, WRAPPED]);
    let status = command.spawn()?.wait()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2))
}

/// The same view that this program puts together itself.
fn arguments(spec: &Spec, helper: &Path) -> io::Result<Vec<OsString>> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |words: &[&std::ffi::OsStr]| all.extend(words.iter().map(Into::into));
    let word = std::ffi::OsStr::new;
    add(&["--unshare-all", "--die-with-parent", "--as-pid-1"].map(word));
    if spec.network {
        add(&[word("--share-net")]);
    }
    add(&[word("--bind"), spec.tmp.as_os_str(), word("/tmp")]);
    for path in view::outermost(&spec.readable) {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_symlink() {
            let target = std::fs::read_link(path)?;
            add(&[word("--symlink"), target.as_os_str(), path.as_os_str()]);
        } else {
            add(&[word("--ro-bind"), path.as_os_str(), path.as_os_str()]);
        }
    }
    add(&["--dev", "/dev", "--proc", "/proc"].map(word));
    add(&[word("--bind"), spec.tmp.as_os_str(), spec.tmp.as_os_str()]);
    for path in &spec.writable {
        add(&[word("--bind"), path.as_os_str(), path.as_os_str()]);
    }
    for path in PRIVATE.map(Path::new) {
        let shown = spec.readable.iter().any(|above| path.starts_with(above));
        if shown && path.is_dir() {
            add(&[word("--tmpfs"), path.as_os_str()]);
        } else if shown && path.exists() {
            add(&[word("--ro-bind"), word("/dev/null"), path.as_os_str()]);
        }
    }
    add(&[word("--ro-bind"), helper.as_os_str(), word(INSIDE)]);
    add(&["--remount-ro", "/", "--chdir", "/"].map(word));
    Ok(all)
}
