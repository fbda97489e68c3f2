//! What became of files that were taken in.

use std::fmt::Write as _;

use quorum_engine::ingest::TakenFile;

use super::style::count;

/// One line per file.
pub(crate) fn list(taken: &[TakenFile]) -> String {
    let mut page = String::new();
    for file in taken {
        // Writing to a string cannot fail.
        _ = write!(page, "{} {}", file.state, file.file);
        if let Some(agent) = &file.agent {
            _ = write!(page, ": {agent}, {}", count(file.findings, "finding", "findings"));
        }
        if file.rejected > 0 {
            _ = write!(page, ", {} not backed by the code under review", file.rejected);
        }
        if let Some(cause) = &file.cause {
            _ = write!(page, ": {cause}");
        }
        page.push('\n');
    }
    page
}
