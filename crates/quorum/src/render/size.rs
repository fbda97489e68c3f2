//! Task sizing as a page.

use std::fmt::Write as _;

use quorum_model::size::SizeReport;

use super::style::{count, dim, heading, number};

/// As many files as are listed; the rest is counted.
const MOST_FILES: usize = 20;

/// The whole page.
pub(crate) fn page(report: &SizeReport) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    _ = write(&mut page, report);
    page
}

fn write(page: &mut String, report: &SizeReport) -> std::fmt::Result {
    let verdict = if report.fits { "fits one request" } else { "does not fit one request" };
    writeln!(page, "{}", heading(&format!("It {verdict}.")))?;
    for reason in &report.reasons {
        writeln!(page, "  {reason}")?;
    }
    writeln!(page)?;
    let lines = [
        ("estimate", report.estimate),
        ("limit", report.limit),
        ("available", report.available),
        ("window", report.window),
        ("SOPs", report.sop_tokens),
    ];
    for (name, tokens) in lines {
        writeln!(page, "  {name:10} {:>12}", number(tokens))?;
    }
    writeln!(page, "  {:10} {:>12}", "model", report.model)?;
    writeln!(page)?;
    for file in report.files.iter().take(MOST_FILES) {
        writeln!(page, "  {:>10}  {}", number(file.tokens), file.path)?;
    }
    if report.files.len() > MOST_FILES {
        writeln!(page, "  and {} more", report.files.len() - MOST_FILES)?;
    }
    for (index, subtask) in report.subtasks.iter().enumerate() {
        let files = count(subtask.files.len(), "piece", "pieces");
        writeln!(page)?;
        let head = format!("Part {}: {} tokens, {files}", index + 1, number(subtask.tokens));
        writeln!(page, "{} {}", heading(&head), dim(&subtask.reason))?;
        if !subtask.sops.is_empty() {
            writeln!(page, "  SOPs: {}", subtask.sops.join(", "))?;
        }
        for file in subtask.files.iter().take(MOST_FILES) {
            let lines = format!("{}-{}", file.start_line, file.end_line);
            writeln!(page, "  {:>10}  {}:{lines}", number(file.tokens), file.path)?;
        }
        if subtask.files.len() > MOST_FILES {
            writeln!(page, "  and {} more", subtask.files.len() - MOST_FILES)?;
        }
    }
    Ok(())
}
