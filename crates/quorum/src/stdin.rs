//! A diff from a file or from standard input.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use crate::failure::Failure;

/// More than this is not a diff that anybody reviews; it would only fill the memory, twice.
const LARGEST: u64 = 128 << 20;

/// The text of `name`, where `-` is standard input.
pub(crate) fn read_diff(name: &str, cwd: &Path) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = if name == "-" {
        if io::stdin().is_terminal() {
            let hint = "pipe one in: git diff | quorum plan --diff -";
            return Err(Failure::new("standard input is a terminal, not a diff").with_hint(hint));
        }
        io::stdin().lock().take(LARGEST + 1).read_to_end(&mut text)
    } else {
        fs::File::open(cwd.join(name))
            .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
    };
    let read = read.map_err(|error| {
        Failure::new(format!("{name}: {error}")).with_hint("`--diff` takes a file, or `-`")
    })?;
    if read as u64 > LARGEST {
        return Err(Failure::new(format!("{name}: a diff of more than 128 MiB"))
            .with_hint("review it in parts, or let git make it with `--range A..B`"));
    }
    Ok(text)
}
