//! What an indexing run did, as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quorum_model::symbol::IndexReport;

use super::style::{count, dim, heading, number, warning};

/// As many languages and causes as are listed; the rest is counted.
const MOST: usize = 8;

/// The whole page.
pub(crate) fn page(report: &IndexReport) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    _ = write(&mut page, report);
    page
}

fn write(page: &mut String, report: &IndexReport) -> std::fmt::Result {
    let at = match (&report.branch, &report.revision) {
        (Some(branch), Some(revision)) => format!(" at {branch} {}", short(revision)),
        (None, Some(revision)) => format!(" at {}", short(revision)),
        _ => String::new(),
    };
    let files = usize::try_from(report.files).unwrap_or(usize::MAX);
    writeln!(page, "{}{at}", heading(&format!("Indexed {}", count(files, "file", "files"))))?;
    let mut did = vec![format!("{} parsed", number(report.parsed))];
    for (what, number_of) in [
        ("known from elsewhere", report.reused),
        ("by name alone", report.by_name),
        ("unchanged", report.unchanged),
        ("gone", report.removed),
    ] {
        if number_of > 0 {
            did.push(format!("{} {what}", number(number_of)));
        }
    }
    writeln!(page, "  {}", did.join(", "))?;
    writeln!(
        page,
        "  {} symbols, {} chunks, {} lines, {} tokens",
        number(report.symbols),
        number(report.chunks),
        number(report.lines),
        number(report.tokens)
    )?;
    if report.embedded > 0 {
        writeln!(page, "  {} chunks with a vector", number(report.embedded))?;
    }
    let mut languages: Vec<(&String, &u64)> = report.languages.iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(**files), *name));
    let shown = languages.iter().take(MOST);
    let mut shown: Vec<String> =
        shown.map(|(name, files)| format!("{name} {}", number(**files))).collect();
    if languages.len() > MOST {
        shown.push(format!("and {} more", languages.len() - MOST));
    }
    if !shown.is_empty() {
        writeln!(page, "  {}", shown.join(", "))?;
    }
    skipped(page, report)?;
    for text in &report.warnings {
        writeln!(page, "{}", warning(text))?;
    }
    Ok(())
}

/// Files that are not indexed in full, by cause.
fn skipped(page: &mut String, report: &IndexReport) -> std::fmt::Result {
    let mut causes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in &report.skipped {
        let cause = file.reason.split(':').next().unwrap_or(&file.reason);
        let plain = matches!(cause, "binary" | "generated");
        causes.entry(if plain { cause } else { &file.reason }).or_default().push(&file.path);
    }
    let mut causes: Vec<(&str, Vec<&str>)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
    for (cause, files) in causes.iter().take(MOST) {
        let example = files.first().copied().unwrap_or_default();
        let more = if files.len() > 1 {
            format!("{example} and {} more", number(files.len() as u64 - 1))
        } else {
            example.to_owned()
        };
        writeln!(page, "  {} {}", dim(&format!("not in full ({cause}):")), more)?;
    }
    if causes.len() > MOST {
        let text = format!("and {} more causes; `--format json` lists all", causes.len() - MOST);
        writeln!(page, "  {}", dim(&text))?;
    }
    Ok(())
}

fn short(revision: &str) -> &str {
    revision.get(..12).unwrap_or(revision)
}
