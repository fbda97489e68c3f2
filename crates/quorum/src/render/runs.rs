//! Runs as pages.

use std::fmt::Write as _;

use quorum_model::verdict::VerdictFile;
use quorum_store::{Cleaned, verdicts};

use super::style::{count, heading, table, title, warning};
use crate::commands::{Listed, Status};

/// All runs, `width` columns wide.
pub(crate) fn list(runs: &[Listed], width: usize) -> String {
    if runs.is_empty() {
        return "no runs; `quorum review` makes one\n".to_owned();
    }
    let rows = runs.iter().map(|run| {
        vec![
            run.run.clone(),
            run.scope.clone(),
            state(run),
            run.agents_finished.to_string(),
            run.findings.to_string(),
        ]
    });
    table(&["Run", "Scope", "State", "Agents", "Findings"], rows.collect(), &[3, 4], width)
}

/// One run.
pub(crate) fn one(run: &Listed, files: &[VerdictFile]) -> String {
    let mut page = title(&format!("Run {}", run.run));
    let mut line = |name: &str, text: &str| {
        // Writing to a string cannot fail.
        _ = writeln!(page, "{}{}{text}", heading(name), " ".repeat(12 - name.len()));
    };
    line("Scope", &run.scope);
    line("Started", run.started.as_deref().unwrap_or("?"));
    line("State", &state(run));
    line("Findings", &run.findings.to_string());
    line("Directory", &run.directory);
    for file in files {
        _ = writeln!(page, "  {} {}: {}", verdicts::name(file.status), file.agent, file.summary);
    }
    for damage in &run.damage {
        _ = writeln!(page, "{}", warning(&format!("journal.jsonl {damage}")));
    }
    page
}

/// What was removed.
pub(crate) fn cleaned(cleaned: &Cleaned) -> String {
    let mut page = format!("removed {}\n", count(cleaned.removed.len(), "run", "runs"));
    for run in &cleaned.active {
        _ = writeln!(page, "{}", warning(&format!("{run} is in use and stays")));
    }
    page
}

fn state(run: &Listed) -> String {
    match (run.status, run.verdict) {
        (Status::Finished, Some(verdict)) => verdict.as_str().to_owned(),
        (Status::Finished, None) => "finished".to_owned(),
        (Status::Running, _) => "running".to_owned(),
        (Status::Interrupted, _) => "interrupted (quorum resume)".to_owned(),
        (Status::Killed, _) => "unfinished (quorum resume)".to_owned(),
    }
}
