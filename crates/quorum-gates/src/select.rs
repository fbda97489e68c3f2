//! Which checks a repository has: presets by its files, a team's changes to them, a team's own.

use std::collections::BTreeMap;

use quorum_model::config::{AdditionalGate, GateOverride, GatesConfig};
use quorum_model::gate::{GateCategory, GateCheck};

use crate::error::GateError;
use crate::presets::{ALIASES, Draft, PRESETS, Preset};
use crate::tree::{Tree, join};

/// Seconds that a team's own check may take where it does not say.
const USUAL_TIMEOUT: u64 = 120;

/// The checks of a repository, in the order in which they run.
///
/// `trees` are the revisions whose files are looked at, the trusted one first: what a change takes
/// away is still checked, and what it brings is checked as well.
pub fn select(config: &GatesConfig, trees: &[&dyn Tree]) -> Result<Vec<GateCheck>, GateError> {
    let mut found: Vec<Found> = Vec::new();
    for tree in trees {
        for new in detect(config, *tree)? {
            if !found.iter().any(|known| known.is_same(&new)) {
                found.push(new);
            }
        }
    }
    let names = unique_names(&found);
    let mut used = vec![false; config.overrides.len()];
    let mut checks = Vec::new();
    for (found, name) in found.into_iter().zip(names) {
        checks.extend(finish(found, name, &config.overrides, &mut used));
    }
    for own in &config.additional {
        let mut check = additional(own);
        for (number, change) in config.overrides.iter().enumerate() {
            if change.name == check.name {
                used[number] = true;
                apply(&mut check, change);
            }
        }
        if checks.iter().any(|known: &GateCheck| known.name == check.name) {
            return Err(GateError::Twice(check.name));
        }
        checks.push(check);
    }
    // An override of a check that is not there is a typing error, unless other parts of a team's
    // repositories have it: only names that no preset knows are refused.
    for (change, used) in config.overrides.iter().zip(used) {
        if !used && !is_known(&change.name) {
            return Err(GateError::UnknownCheck(change.name.clone()));
        }
    }
    // Stable, so that within a category the order is that of the presets and folders.
    checks.sort_by(|a, b| (&a.working_dir, a.category).cmp(&(&b.working_dir, b.category)));
    Ok(checks)
}

/// A check of a preset, in one folder.
struct Found {
    preset: &'static str,
    folder: String,
    draft: Draft,
}

impl Found {
    fn is_same(&self, other: &Self) -> bool {
        (self.preset, &self.folder, &self.draft.name)
            == (other.preset, &other.folder, &other.draft.name)
    }
}

fn detect(config: &GatesConfig, tree: &dyn Tree) -> Result<Vec<Found>, GateError> {
    let mut found: Vec<Found> = Vec::new();
    for (preset, asked) in wanted(config)? {
        for folder in (preset.folders)(tree) {
            let known = found.iter().any(|other| other.folder == folder);
            if preset.stands_back && known && !asked {
                continue;
            }
            for mut draft in (preset.checks)(tree, &folder) {
                if draft.reason.is_empty() {
                    draft.reason = format!("{} project", preset.name);
                }
                if config.network {
                    draft.command = draft.command.replace(" --offline", "");
                }
                found.push(Found { preset: preset.name, folder: folder.clone(), draft });
            }
        }
    }
    Ok(found)
}

/// The presets to look for, each with whether it was asked for by name.
fn wanted(config: &GatesConfig) -> Result<Vec<(Preset, bool)>, GateError> {
    let mut wanted: Vec<(Preset, bool)> = Vec::new();
    for name in config.preset.names() {
        let name = name.trim().to_lowercase();
        let asked = name != "auto";
        let meant: Vec<Preset> = match name.as_str() {
            "none" => Vec::new(),
            "auto" => PRESETS.to_vec(),
            name => {
                let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
                let own = [name];
                let names = alias.map_or(&own[..], |(_, names)| names);
                let meant: Vec<Preset> =
                    PRESETS.into_iter().filter(|preset| names.contains(&preset.name)).collect();
                if meant.is_empty() {
                    return Err(GateError::UnknownPreset(name.to_owned()));
                }
                meant
            }
        };
        for preset in meant {
            if !wanted.iter().any(|(known, _)| known.name == preset.name) {
                wanted.push((preset, asked));
            }
        }
    }
    Ok(wanted)
}

/// `build`, or `go:build` where two presets have one, or `go:build@backend` where two folders do.
fn unique_names(found: &[Found]) -> Vec<String> {
    let short = |found: &Found| found.draft.name.clone();
    let long = |found: &Found| format!("{}:{}", found.preset, found.draft.name);
    let full = |found: &Found| {
        let folder = if found.folder.is_empty() { "." } else { &found.folder };
        format!("{}:{}@{folder}", found.preset, found.draft.name)
    };
    let counted = |name: &dyn Fn(&Found) -> String| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for found in found {
            *counts.entry(name(found)).or_default() += 1;
        }
        counts
    };
    let (shorts, longs) = (counted(&short), counted(&long));
    found
        .iter()
        .map(|found| {
            if shorts[&short(found)] == 1 {
                short(found)
            } else if longs[&long(found)] == 1 {
                long(found)
            } else {
                full(found)
            }
        })
        .collect()
}

fn finish(
    found: Found,
    name: String,
    overrides: &[GateOverride],
    used: &mut [bool],
) -> Option<GateCheck> {
    let Found { preset, folder, draft } = found;
    let long = format!("{preset}:{}", draft.name);
    let mut enabled = draft.enabled;
    let mut check = GateCheck {
        name,
        command: draft.command,
        category: draft.category,
        preset: Some(preset.to_owned()),
        working_dir: folder,
        required: draft.required,
        timeout: draft.timeout,
        triggers: draft.triggers,
        reports: draft.reports,
        threshold: draft.threshold,
        reason: draft.reason,
    };
    for (number, change) in overrides.iter().enumerate() {
        if ![&draft.name, &long, &check.name].contains(&&change.name) {
            continue;
        }
        used[number] = true;
        // Who says anything about a check wants it.
        enabled = change.enabled.unwrap_or(true);
        apply(&mut check, change);
    }
    enabled.then_some(check)
}

fn apply(check: &mut GateCheck, change: &GateOverride) {
    check.required = change.required.unwrap_or(check.required);
    check.timeout = change.timeout.unwrap_or(check.timeout);
    check.threshold = change.threshold.or(check.threshold);
    if let Some(command) = &change.command {
        check.command.clone_from(command);
    }
}

fn additional(own: &AdditionalGate) -> GateCheck {
    GateCheck {
        name: own.name.clone(),
        command: own.command.clone(),
        category: own.category,
        preset: None,
        working_dir: own.working_dir.trim_matches('/').to_owned(),
        required: own.required,
        timeout: own.timeout.unwrap_or(USUAL_TIMEOUT),
        triggers: own.triggers.clone(),
        reports: own.reports.clone(),
        threshold: own.threshold,
        reason: "gates.additional".to_owned(),
    }
}

/// Whether any preset has a check of this name somewhere.
fn is_known(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let bare = name.split_once(':').map_or(name, |(_, bare)| bare);
    KNOWN.contains(&bare)
}

/// The names of all checks of all presets.
const KNOWN: [&str; 20] = [
    "build",
    "vet",
    "format",
    "test",
    "coverage",
    "lint",
    "clippy",
    "install",
    "typecheck",
    "svelte-check",
    "biome",
    "eslint",
    "syntax",
    "ruff",
    "flake8",
    "mypy",
    "configure",
    "check",
    "format-check",
    "fmt-check",
];

/// Whether a failure of `first` makes `later` meaningless: nothing is learnt from the tests of what
/// does not compile.
pub(crate) fn builds_on(first: &GateCheck, later: &GateCheck) -> bool {
    let prepares = matches!(first.category, GateCategory::Setup | GateCategory::Build);
    prepares
        && later.category > first.category
        && later.category != GateCategory::Format
        && first.working_dir == later.working_dir
        && first.preset == later.preset
}

/// The path of a check's report, when reports of checks go to `reports`.
pub(crate) fn report_path(check: &GateCheck, report: &str, reports: &str) -> String {
    match report.strip_prefix("$QUORUM_REPORTS/") {
        Some(name) => format!("{reports}/{name}"),
        None => join(&check.working_dir, report),
    }
}

#[cfg(test)]
mod tests;
