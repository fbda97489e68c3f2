//! What text hides from its readers, or says to only some of them.

mod characters;
mod instructions;

use quorum_model::scope::{FileKind, Flag};

use crate::finding::RuleFinding;
use crate::source::ParsedFile;

const AGENT: &str = "security-reviewer";

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let first = findings.len();
    instructions::check(file, findings);
    // What is hidden and what it says are one defect.
    let told: Vec<u64> = findings.iter().skip(first).map(|found| found.line).collect();
    characters::check(file, &told, findings);
}

fn is_prose(file: &ParsedFile) -> bool {
    let entry = &file.source.entry;
    entry.kind == FileKind::Prose || entry.has(Flag::Docs) || entry.has(Flag::Messages)
}

fn is_test(file: &ParsedFile) -> bool {
    let path = file.path();
    file.source.entry.has(Flag::Test)
        || path.split('/').any(|part| {
            matches!(
                part,
                "test"
                    | "tests"
                    | "testdata"
                    | "fixtures"
                    | "__tests__"
                    | "snapshots"
                    | "__snapshots__"
                    | "spec"
                    | "golden"
                    | "cassettes"
            )
        })
}
