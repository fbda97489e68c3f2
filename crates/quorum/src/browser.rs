//! Showing a file in the user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The program that opens a file with whatever the user prefers.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens `path`, and does not wait for the browser.
#[expect(clippy::disallowed_methods, reason = "the one place here that starts a program")]
pub(crate) fn open(path: &Path) -> Result<(), Failure> {
    // The name is absolute, so it cannot be taken for an option.
    let started = Command::new(OPENER)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.map(drop).map_err(|error| {
        Failure::new(format!("{OPENER}: {error}"))
            .with_hint(format!("open {} yourself", path.display()))
    })
}
