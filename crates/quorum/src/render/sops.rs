//! Standing orders as pages.

use std::fmt::Write as _;

use quorum_engine::sops::{ExplainedSops, ListedSop, SopProblem};
use quorum_model::result::SopSeverity;

use super::style::{count, dim, heading, number, table, title, warning};

fn severity(severity: SopSeverity) -> &'static str {
    match severity {
        SopSeverity::Error => "error",
        SopSeverity::Warning => "warning",
        SopSeverity::Info => "info",
    }
}

/// All of them, `width` columns wide.
pub(crate) fn list(sops: &[ListedSop], width: usize) -> String {
    if sops.is_empty() {
        return "no SOPs; they are Markdown files in .quorum/sops/\n".to_owned();
    }
    let rows = sops.iter().map(|sop| {
        let domains = sop.domains.iter().map(|name| format!("domain {name}"));
        let scope: Vec<String> = sop.applies_to.iter().cloned().chain(domains).collect();
        let scope = match (scope.is_empty(), sop.for_code) {
            (_, false) => "planning".to_owned(),
            (true, true) => "everything".to_owned(),
            (false, true) => scope.join(", "),
        };
        let checked = if sop.checks == 0 { "–".to_owned() } else { number(sop.checks as u64) };
        let summary = sop.summary.clone().unwrap_or_default();
        let severity = severity(sop.severity).to_owned();
        vec![sop.name.clone(), severity, scope, number(sop.tokens), checked, summary]
    });
    let head = ["SOP", "Severity", "Applies to", "Tokens", "Checks", "Summary"];
    table(&head, rows.collect(), &[3, 4], width)
}

/// What is wrong with them.
pub(crate) fn problems(problems: &[SopProblem], files: usize) -> String {
    let mut page = String::new();
    for problem in problems {
        let text = format!("{}: {}", problem.file, problem.message);
        // Writing to a string cannot fail.
        _ = if problem.error {
            writeln!(page, "{}", warning(&text))
        } else {
            writeln!(page, "  {text}")
        };
    }
    let wrong = problems.iter().filter(|problem| problem.error).count();
    let sops = count(files, "SOP", "SOPs");
    _ = match (wrong, problems.len()) {
        (0, 0) => writeln!(page, "{sops}: nothing is wrong."),
        (0, notes) => writeln!(page, "{sops}: {}.", count(notes, "remark", "remarks")),
        (wrong, _) => writeln!(page, "{sops}: {}.", count(wrong, "error", "errors")),
    };
    page
}

/// Which of them apply to a file, and why.
pub(crate) fn explain(explained: &ExplainedSops) -> String {
    let mut page = title(&explained.file);
    // Writing to a string cannot fail.
    if !explained.domains.is_empty() {
        _ = writeln!(page, "{} {}", heading("Domain"), explained.domains.join(", "));
    }
    for sop in &explained.sops {
        let mark = if sop.applies { "yes" } else { "–" };
        let tokens = number(sop.tokens);
        _ = writeln!(
            page,
            "  {mark:4} {:24} {:8} {tokens:>6}  {}",
            sop.name,
            severity(sop.severity),
            dim(&sop.reason)
        );
    }
    let (tokens, reserve) = (number(explained.tokens), number(explained.reserve));
    _ = writeln!(page, "\n{tokens} of {reserve} tokens");
    if !explained.fits {
        let text = "more than a request has room for: a review of this file is an error";
        _ = writeln!(page, "{}", warning(text));
    }
    page
}
