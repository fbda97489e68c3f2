//! The figures of `quorum eval`, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use quorum_engine::eval::Evaluation;
use quorum_engine::eval::commits::Noise;
use quorum_engine::eval::score::Tally;

use crate::cli::EvalList;

/// Groups with the most labels and findings come first; beyond this many they are folded.
const MOST_GROUPS: usize = 40;

/// Every tool's figures side by side.
pub(crate) fn page(evaluation: &Evaluation, list: Option<EvalList>) -> String {
    let mut page = format!("{} files, {} labels\n\n", evaluation.files, evaluation.labels);
    let mut table = table("tool");
    for tool in &evaluation.tools {
        add(&mut table, &tool.tool, tool.score.total, true);
    }
    line(&mut page, &table.to_string());
    for tool in &evaluation.tools {
        let score = &tool.score;
        for (heading, groups, recall) in [
            ("language", &score.by_language, true),
            ("category", &score.by_category, true),
            ("agent", &score.by_agent, false),
            ("rule", &score.by_rule, false),
        ] {
            if groups.keys().any(|name| !name.is_empty()) {
                line(&mut page, &format!("\n{}, by {heading}", tool.tool));
                line(&mut page, &grouped(heading, groups, recall));
            }
        }
    }
    if let (Some(list), Some(ours)) = (list, evaluation.tools.first()) {
        let (heading, places) = match list {
            EvalList::Missed => ("Missed", &ours.score.missed),
            EvalList::False => ("False alarms", &ours.score.false_alarms),
            EvalList::Unlabelled => ("On lines without a label", &ours.score.unlabelled),
        };
        line(&mut page, &format!("\n{heading}"));
        for place in places {
            line(&mut page, &format!("  {place}"));
        }
    }
    if !evaluation.notes.is_empty() {
        line(
            &mut page,
            &format!("\n{} files were searched as text or not read:", evaluation.notes.len()),
        );
        for note in evaluation.notes.iter().take(5) {
            line(&mut page, &format!("  {note}"));
        }
    }
    page
}

fn grouped(heading: &str, groups: &BTreeMap<String, Tally>, recall: bool) -> String {
    let mut table = table(heading);
    let mut sorted: Vec<_> = groups.iter().collect();
    let weight = |tally: &Tally| {
        tally.true_positives + tally.false_positives + tally.false_negatives + tally.unlabelled
    };
    sorted.sort_by_key(|(name, tally)| (std::cmp::Reverse(weight(tally)), *name));
    for (name, tally) in sorted.iter().take(MOST_GROUPS) {
        add(&mut table, name, **tally, recall);
    }
    let mut text = table.to_string();
    if let Some(more) = sorted.len().checked_sub(MOST_GROUPS).filter(|&more| more > 0) {
        _ = write!(text, "\n… and {more} more (--format json has all)");
    }
    text
}

fn table(first: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        first,
        "found",
        "false",
        "missed",
        "unlabelled",
        "precision",
        "recall",
        "F1",
    ]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn add(table: &mut Table, name: &str, tally: Tally, recall: bool) {
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2}"));
    let known = |text: String| if recall { text } else { String::new() };
    table.add_row([
        name.to_owned(),
        tally.true_positives.to_string(),
        tally.false_positives.to_string(),
        known(tally.false_negatives.to_string()),
        tally.unlabelled.to_string(),
        share(tally.precision()),
        known(share(tally.recall())),
        known(share(tally.f1())),
    ]);
}

/// What was found in each commit.
pub(crate) fn noise(noise: &Noise) -> String {
    let mut page = format!(
        "{}: {} commits, {} findings in the median commit, {} commits with HIGH or CRITICAL\n",
        noise.repository,
        noise.commits.len(),
        noise.median,
        noise.with_high,
    );
    for commit in noise.commits.iter().filter(|commit| !commit.findings.is_empty()) {
        let id = commit.commit.get(..12).unwrap_or(&commit.commit);
        line(&mut page, &format!("\n{id} {}", commit.subject));
        for finding in &commit.findings {
            line(&mut page, &format!("  {finding}"));
        }
    }
    page
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}
