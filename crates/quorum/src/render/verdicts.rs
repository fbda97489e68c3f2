//! One line per agent.

use std::fmt::Write as _;

use quorum_model::verdict::VerdictFile;
use quorum_store::{RunSummary, StoreError, verdicts};

use super::style::number;

/// What a reader of the lines below needs to know first.
pub(crate) fn header(run: &RunSummary) -> Result<String, StoreError> {
    let verdict = match run.result()? {
        Some(result) => result.verdict.as_str(),
        None if run.is_active() => "RUNNING",
        None => "UNFINISHED",
    };
    Ok(format!("Run {}: {verdict}", run.id()))
}

/// The header and one line per agent.
pub(crate) fn lines(header: &str, files: &[VerdictFile]) -> String {
    let mut page = format!("{header}\n");
    for file in files {
        // Writing to a string cannot fail.
        _ = writeln!(page, "{}", verdicts::line(file));
    }
    page
}

/// Agents that need a look, with how much there is and where.
pub(crate) fn attention(files: &[VerdictFile]) -> String {
    let mut page = String::new();
    for file in files {
        let (status, path) = (verdicts::name(file.status), &file.detail_path);
        _ = writeln!(page, "{status} {} {} {path}", file.agent, file.findings_count);
    }
    if page.is_empty() { "all clean\n".to_owned() } else { page }
}

/// What each agent spent.
pub(crate) fn tokens(files: &[VerdictFile]) -> String {
    let mut page = String::new();
    for file in files {
        _ = writeln!(page, "{} {}", number(file.tokens_spent), file.agent);
    }
    let total = files.iter().map(|file| file.tokens_spent).sum();
    _ = writeln!(page, "{} in all", number(total));
    page
}
