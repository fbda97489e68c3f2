//! How demanding a change is, scored from the change itself.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::scope::{Change, FileEntry, FileFacts, FileKind, Flag, Signal};
use quorum_model::tier::{Dimension, Multiplier, Score, Tier, TierAssessment};

use crate::related::Groups;

/// What the tier is scored from.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The files under review.
    pub files: &'a [FileEntry],
    /// What was learnt about each of them.
    pub facts: &'a [FileFacts],
    /// Which of them belong together.
    pub groups: &'a Groups,
    /// The user wants it quickly.
    pub time_pressure: bool,
}

/// Scores the seven dimensions, applies the highest multiplier, and names the tier.
pub fn assess(evidence: Evidence<'_>, chosen: Option<Tier>) -> TierAssessment {
    let dimensions: BTreeMap<Dimension, Score> =
        Dimension::ALL.map(|dimension| (dimension, score(evidence, dimension))).into();
    let base_score = dimensions.values().map(|score| score.score).sum();
    let mut multipliers = multipliers(evidence);
    let factor = multipliers.first().map_or(10, |(tenths, _)| *tenths);
    if let Some((_, highest)) = multipliers.first_mut() {
        highest.applied = true;
    }
    let adjusted = u32::from(base_score) * factor;
    let scored = tier_of(adjusted);
    TierAssessment {
        name: chosen.unwrap_or(scored),
        base_score,
        adjusted_score: f64::from(adjusted) / 10.0,
        overridden: chosen.filter(|chosen| *chosen != scored).map(|_| scored),
        dimensions,
        multipliers: multipliers.into_iter().map(|(_, multiplier)| multiplier).collect(),
    }
}

/// The tier for a score in tenths, rounded to the nearest whole number, half up.
fn tier_of(tenths: u32) -> Tier {
    match (tenths + 5) / 10 {
        0..=11 => Tier::Simple,
        12..=16 => Tier::Standard,
        _ => Tier::Complex,
    }
}

fn score(evidence: Evidence<'_>, dimension: Dimension) -> Score {
    let (score, reason) = match dimension {
        Dimension::Scope => scope(evidence),
        Dimension::Integration => integration(evidence),
        Dimension::Infrastructure => infrastructure(evidence),
        Dimension::Knowledge => knowledge(evidence),
        Dimension::Risk => risk(evidence),
        Dimension::Testing => testing(evidence),
        Dimension::Decomposability => decomposability(evidence),
    };
    Score { score, reason }
}

fn scope(evidence: Evidence<'_>) -> (u8, String) {
    let files = evidence.files.len();
    let score = match files {
        0..=2 => 1,
        3..=10 => 2,
        _ => 3,
    };
    (score, format!("{files} {}", if files == 1 { "file" } else { "files" }))
}

fn integration(evidence: Evidence<'_>) -> (u8, String) {
    let mut services: BTreeSet<&str> = labels(evidence, Signal::ExternalService).collect();
    if first_with(evidence, |file| file.path.ends_with(".proto")).is_some() {
        services.insert("a protocol definition");
    }
    let list = services.iter().copied().collect::<Vec<_>>().join(", ");
    match services.len() {
        0 => (1, "no other service is imported".to_owned()),
        1..=2 => (2, format!("talks to {list}")),
        _ => (3, format!("talks to {list}")),
    }
}

fn infrastructure(evidence: Evidence<'_>) -> (u8, String) {
    let new = first_with(evidence, |file| {
        file.change == Change::Added && file.has(Flag::Infrastructure) || file.has(Flag::Migration)
    });
    if let Some(file) = new {
        return (3, format!("{} sets up infrastructure or stored data", file.path));
    }
    let touched = first_with(evidence, |file| {
        let live = !file.has(Flag::Test) && !file.has(Flag::Generated);
        live && (file.has(Flag::Infrastructure)
            || file.has(Flag::Ci)
            || file.has(Flag::Manifest)
            || file.kind == FileKind::Config)
    });
    match touched {
        Some(file) => (2, format!("{} is configuration", file.path)),
        None => (1, "no configuration or infrastructure".to_owned()),
    }
}

fn knowledge(evidence: Evidence<'_>) -> (u8, String) {
    let fields = [
        (Signal::SecurityKnowledge, "security"),
        (Signal::ConcurrencyKnowledge, "concurrency"),
        (Signal::PerformanceKnowledge, "performance"),
        (Signal::LowLevelKnowledge, "low-level code"),
        (Signal::ComplianceKnowledge, "compliance"),
    ];
    let mut found: Vec<&str> = Vec::new();
    for (signal, name) in fields {
        if labels(evidence, signal).next().is_some() {
            found.push(name);
        }
    }
    let sensitive = first_with(evidence, |file| file.has(Flag::SecuritySensitive));
    if sensitive.is_some() && !found.contains(&"security") {
        found.push("security");
    }
    let score = match found.len() {
        0 => 1,
        1..=2 => 2,
        _ => 3,
    };
    let list = found.join(", ");
    let reason = if score == 1 {
        "familiar ground".to_owned()
    } else {
        format!("takes knowledge of {list}")
    };
    (score, reason)
}

fn risk(evidence: Evidence<'_>) -> (u8, String) {
    if let Some(file) = first_with(evidence, |file| file.has(Flag::SecuritySensitive)) {
        let why = file.flag_reasons.get(&Flag::SecuritySensitive);
        return (3, format!("{}: {}", file.path, why.map_or("security", String::as_str)));
    }
    if let Some(file) = first_with(evidence, |file| file.has(Flag::Migration)) {
        return (3, format!("{} changes stored data", file.path));
    }
    for (signal, what) in [(Signal::Payments, "money"), (Signal::DataIntegrity, "stored data")] {
        if let Some(label) = labels(evidence, signal).next() {
            return (3, format!("deals with {what} (`{label}`)"));
        }
    }
    let facing = first_with(evidence, |file| {
        let facing = [Flag::PublicApi, Flag::Cli, Flag::EntryPoint, Flag::Messages];
        facing.iter().any(|flag| file.has(*flag)) && !file.has(Flag::Test)
    });
    match facing {
        Some(file) => (2, format!("{} faces users or callers", file.path)),
        None => (1, "nothing that users or data depend on directly".to_owned()),
    }
}

fn testing(evidence: Evidence<'_>) -> (u8, String) {
    if let Some(label) = labels(evidence, Signal::EndToEndTest).next() {
        return (3, format!("takes end-to-end, load or security tests (`{label}`)"));
    }
    if let Some(label) = labels(evidence, Signal::IntegrationTest).next() {
        return (2, format!("takes integration tests or fixtures (`{label}`)"));
    }
    let services = labels(evidence, Signal::ExternalService).next().is_some();
    let stored = first_with(evidence, |file| file.has(Flag::Migration)).is_some();
    if services || stored {
        return (2, "takes tests against another service or a database".to_owned());
    }
    (1, "unit tests are enough".to_owned())
}

fn decomposability(evidence: Evidence<'_>) -> (u8, String) {
    let files = evidence.files.len();
    let groups = evidence.groups.count();
    let largest = evidence.groups.largest();
    if files <= 2 || largest <= 2 {
        return (1, format!("{groups} independent parts"));
    }
    if largest * 2 <= files {
        return (1, format!("{groups} independent parts, the largest of {largest} files"));
    }
    if groups > 1 {
        return (2, format!("{largest} of {files} files hang together"));
    }
    (3, format!("all {files} files hang together"))
}

/// The multipliers that hold, in tenths, highest first.
fn multipliers(evidence: Evidence<'_>) -> Vec<(u32, Multiplier)> {
    let mut found = Vec::new();
    let mut add = |tenths: u32, name: &str, reason: String| {
        let factor = f64::from(tenths) / 10.0;
        found.push((tenths, Multiplier { name: name.to_owned(), factor, reason, applied: false }));
    };
    if let Some(file) = first_with(evidence, |file| file.has(Flag::Migration)) {
        add(13, "data_migration", format!("{} changes stored data", file.path));
    }
    if let Some(file) = first_with(evidence, |file| file.has(Flag::SecuritySensitive)) {
        add(12, "security_sensitive", file.path.to_string());
    }
    let broken = evidence.files.iter().zip(evidence.facts).find_map(|(file, facts)| {
        let item =
            facts.signals.iter().find(|((signal, _), _)| *signal == Signal::RemovedPublicItem);
        item.map(|(_, what)| format!("{} {what}", file.path))
    });
    if let Some(reason) = broken {
        add(12, "breaking_change", reason);
    }
    if let Some(label) = labels(evidence, Signal::TechnicalDebt).next() {
        add(11, "technical_debt", format!("`{label}` in what is reviewed"));
    }
    if evidence.time_pressure {
        add(11, "time_pressure", "the user says so".to_owned());
    }
    found
}

fn first_with(
    evidence: Evidence<'_>,
    mut wanted: impl FnMut(&FileEntry) -> bool,
) -> Option<&FileEntry> {
    evidence.files.iter().find(|file| wanted(file))
}

fn labels(evidence: Evidence<'_>, wanted: Signal) -> impl Iterator<Item = &str> {
    let signals = evidence.facts.iter().flat_map(|facts| facts.signals.keys());
    signals.filter(move |(signal, _)| *signal == wanted).map(|(_, label)| label.as_str())
}

#[cfg(test)]
mod tests;
