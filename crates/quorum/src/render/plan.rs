//! The plan as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quorum_model::plan::{Isolation, Plan, PlannedAgent};
use quorum_model::scope::{Change, FileEntry, Flag};
use quorum_model::tier::Dimension;
use quorum_plan::models::BUILTIN;
use quorum_plan::priority;
use quorum_plan::roster::Roster;

use super::style::{count, dim, heading, number, seconds, shorten, table, title, warning};

/// As many files as are listed; the rest is counted.
const MOST_FILES: usize = 20;

/// From this width on, reasons name a file as an example.
const ROOM_FOR_EXAMPLES: usize = 110;

/// The whole page, `width` columns wide.
pub(crate) fn page(plan: &Plan, roster: &Roster, width: usize) -> String {
    let mut page = title(&format!("Quorum plan: {}", plan.scope.label));
    page.push('\n');
    // Writing to a string cannot fail, so the results below say nothing.
    _ = scope(&mut page, plan);
    if plan.scope.files.is_empty() {
        page.push_str("\nThere is nothing to review. `--all` looks at every file.\n");
    } else {
        _ = tier(&mut page, plan);
        _ = agents(&mut page, plan, roster, width);
        _ = ceilings(&mut page, plan);
        _ = files(&mut page, plan, width);
    }
    _ = notes(&mut page, plan);
    page
}

fn line(page: &mut String, name: &str, text: &str) -> std::fmt::Result {
    let padding = " ".repeat(11_usize.saturating_sub(name.len()));
    writeln!(page, "{}{padding}{text}", heading(name))
}

fn scope(page: &mut String, plan: &Plan) -> std::fmt::Result {
    let scope = &plan.scope;
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &scope.files {
        *languages.entry(file.language.as_deref().unwrap_or("other")).or_default() += 1;
    }
    let mut languages: Vec<(&str, usize)> = languages.into_iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(*files), *name));
    let more = languages.len().saturating_sub(5);
    let mut shown: Vec<String> =
        languages.iter().take(5).map(|(name, files)| format!("{name} {files}")).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    let text = format!(
        "{}, {} tokens ({}){}{}",
        count(scope.files.len(), "file", "files"),
        number(plan.total_tokens),
        plan.tokenizer,
        if shown.is_empty() { "" } else { ": " },
        shown.join(", ")
    );
    line(page, "Scope", &text)?;
    let short = |id: &Option<String>| id.as_deref().and_then(|id| id.get(..12)).map(str::to_owned);
    if let Some(base) = short(&scope.base) {
        let head = short(&scope.head).unwrap_or_else(|| "work tree".to_owned());
        line(page, "", &dim(&format!("base {base}, head {head}")))?;
    }
    if !scope.ignored.is_empty() {
        let files = count(scope.ignored.len(), "file is", "files are");
        line(page, "", &format!("{files} left out by ignore rules (listed in the JSON)"))?;
    }
    Ok(())
}

fn tier(page: &mut String, plan: &Plan) -> std::fmt::Result {
    let tier = &plan.tier;
    let applied = tier.multipliers.iter().find(|multiplier| multiplier.applied);
    let sum = match applied {
        Some(multiplier) => format!(
            "{} × {} = {} ({}: {})",
            tier.base_score,
            multiplier.factor,
            tier.adjusted_score,
            multiplier.name.replace('_', " "),
            multiplier.reason
        ),
        None => format!("{} of 21 points", tier.base_score),
    };
    let chosen = match tier.overridden {
        Some(scored) => {
            format!("{}, chosen; the score says {}: ", tier.name.as_str(), scored.as_str())
        }
        None => format!("{}: ", tier.name.as_str()),
    };
    line(page, "Tier", &format!("{chosen}{sum}"))?;
    for dimension in Dimension::ALL {
        if let Some(score) = tier.dimensions.get(&dimension) {
            writeln!(page, "  {:16} {}  {}", dimension.as_str(), score.score, dim(&score.reason))?;
        }
    }
    let isolation = match plan.isolation {
        Isolation::Shared => "shared: one context for all agents, up to 16,384 tokens",
        Isolation::Branch => "branch: a context for each agent, above 16,384 tokens",
    };
    line(page, "Isolation", isolation)?;
    line(page, "Protocol", plan.protocol.as_str())
}

fn agents(page: &mut String, plan: &Plan, roster: &Roster, width: usize) -> std::fmt::Result {
    let models = plan.agents.iter().any(|agent| agent.engine != BUILTIN);
    let mut head = vec!["Agent", "Budget", "Veto", "Files", "Tokens", "Shards"];
    if models {
        head.push("Model");
    }
    head.push("Why");
    let mut rows: Vec<Vec<String>> =
        plan.agents.iter().map(|agent| agent_row(agent, roster, models)).collect();
    if width < ROOM_FOR_EXAMPLES {
        for why in rows.iter_mut().filter_map(|row| row.last_mut()) {
            *why = without_examples(why);
        }
    }
    writeln!(page)?;
    page.push_str(&table(&head, rows, &[1, 3, 4, 5], width));
    if !plan.unassigned.is_empty() {
        let files = count(plan.unassigned.len(), "file is", "files are");
        let some: Vec<&str> = plan.unassigned.iter().take(3).map(String::as_str).collect();
        let text = format!("{files} in no selected agent's domain: {}", some.join(", "));
        writeln!(page, "{}", warning(&text))?;
    }
    Ok(())
}

/// Reasons without the files that they give as examples, which the list below shows with flags.
fn without_examples(reasons: &str) -> String {
    let reasons = reasons.split("; ").map(|reason| reason.split(" (").next().unwrap_or(reason));
    reasons.collect::<Vec<_>>().join("; ")
}

fn agent_row(agent: &PlannedAgent, roster: &Roster, models: bool) -> Vec<String> {
    let title = roster.find(&agent.name).map_or(agent.name.clone(), |m| m.agent.title.clone());
    let tokens: u64 = agent.shards.iter().map(|shard| shard.tokens).sum();
    let first = agent.shards.iter().filter(|shard| shard.wave == 1).count();
    let shards = if first == agent.shards.len() {
        number(first as u64)
    } else {
        format!("{first} of {}", number(agent.shards.len() as u64))
    };
    let mut row = vec![
        title,
        number(agent.budget),
        if agent.veto { "yes" } else { "no" }.to_owned(),
        number(agent.files.len() as u64),
        number(tokens),
        shards,
    ];
    if models {
        row.push(agent.model.clone().unwrap_or_else(|| agent.engine.clone()));
    }
    row.push(agent.reason.clone());
    row
}

fn ceilings(page: &mut String, plan: &Plan) -> std::fmt::Result {
    let all_builtin = plan.agents.iter().all(|agent| agent.engine == BUILTIN);
    let ceilings = &plan.ceilings;
    writeln!(page)?;
    if all_builtin {
        let text = format!(
            "{}, {}; the builtin engine is offline: nothing is sent, nothing is paid",
            count(usize::try_from(ceilings.calls).unwrap_or(usize::MAX), "pass", "passes"),
            seconds(ceilings.seconds)
        );
        return line(page, "At most", &text);
    }
    let price = |usd: Option<f64>| {
        usd.map_or_else(|| "price not known".to_owned(), |usd| format!("${usd:.2}"))
    };
    if let Some(first) = &ceilings.first_wave {
        let text = format!(
            "{} calls, {} tokens, {}, {}",
            number(first.calls),
            number(first.tokens),
            seconds(first.seconds),
            price(first.usd)
        );
        line(page, "At most", &text)?;
    }
    let text = format!(
        "{} calls, {} tokens, {}, {}{}",
        number(ceilings.calls),
        number(ceilings.tokens),
        seconds(ceilings.seconds),
        price(ceilings.usd),
        if ceilings.first_wave.is_some() { " with --complete" } else { "" }
    );
    line(page, if ceilings.first_wave.is_some() { "" } else { "At most" }, &text)
}

fn files(page: &mut String, plan: &Plan, width: usize) -> std::fmt::Result {
    let mut order: Vec<&FileEntry> = plan.scope.files.iter().collect();
    order.sort_by_cached_key(|file| (priority::of(file), std::cmp::Reverse(file.tokens)));
    writeln!(page)?;
    writeln!(page, "{}", heading("Files, most urgent first"))?;
    let path_width = (width * 2 / 5).clamp(24, 60);
    for file in order.iter().take(MOST_FILES) {
        let path = shorten(&file.path, path_width);
        let what = format!("{} {}", change(file), flags(file));
        writeln!(page, "  {path:path_width$} {:>9}  {}", number(file.tokens), what.trim_end())?;
    }
    if order.len() > MOST_FILES {
        let more = number((order.len() - MOST_FILES) as u64);
        writeln!(page, "  {}", dim(&format!("and {more} more; --format json lists them all")))?;
    }
    Ok(())
}

fn change(file: &FileEntry) -> String {
    let word = match file.change {
        Change::Added => "added",
        Change::Modified => "modified",
        Change::Deleted => "deleted",
        Change::Renamed => "renamed",
        Change::Copied => "copied",
        Change::TypeChanged => "type changed",
        Change::Unmerged => "unmerged",
        Change::Unchanged => "whole",
    };
    match file.hunks.len() {
        0 => word.to_owned(),
        1 => format!("{word}, 1 hunk"),
        hunks => format!("{word}, {hunks} hunks"),
    }
}

fn flags(file: &FileEntry) -> String {
    let plain = |flag: &Flag| flag.as_str().replace('_', "-");
    let flags: Vec<String> = file.flags.iter().map(plain).collect();
    if flags.is_empty() { String::new() } else { dim(&format!("[{}]", flags.join(" "))) }
}

fn notes(page: &mut String, plan: &Plan) -> std::fmt::Result {
    if plan.warnings.is_empty() {
        return Ok(());
    }
    writeln!(page)?;
    for text in &plan.warnings {
        writeln!(page, "{}", warning(text))?;
    }
    Ok(())
}
