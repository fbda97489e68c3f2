//! What text hides from its readers, or says to only some of them.

mod characters;
mod instructions;

use quorum_model::scope::{FileKind, Flag};

use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const AGENT: &str = "security-reviewer";

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    characters::check(file, findings);
    instructions::check(file, findings);
}

fn is_prose(file: &ParsedFile) -> bool {
    let entry = &file.source.entry;
    entry.kind == FileKind::Prose || entry.has(Flag::Docs) || entry.has(Flag::Messages)
}

fn is_test(file: &ParsedFile) -> bool {
    let path = file.path();
    file.source.entry.has(Flag::Test)
        || path.split('/').any(|part| matches!(part, "test" | "tests" | "testdata" | "fixtures"))
}
