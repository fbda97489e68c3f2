//! What a lock file pins, against its manifest and against what it pinned before.
//!
//! People do not read lock files, and programs install what they say. A change can have another
//! program installed under a known name by one address or one hash.

use std::collections::{BTreeMap, BTreeSet};

use quorum_advisories::packages::{Format, read_as};
use quorum_advisories::{Origin, Package, Relation, version};
use quorum_model::scope::Change as FileChange;
use quorum_model::severity::Severity;

use super::advisories::finding;
use super::{Change, hygiene};
use crate::finding::RuleFinding;
use crate::source::{Side, Sources};

/// Files that name registries beside the manifest.
const SETTINGS: &[&str] = &[
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "bunfig.toml",
    "pnpm-workspace.yaml",
    "pip.conf",
    "uv.toml",
    ".cargo/config.toml",
    ".cargo/config",
    "nuget.config",
    "NuGet.Config",
];

/// How many packages a finding names.
const NAMED: usize = 6;

pub(super) fn check(change: &Change<'_>, sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    // Without a change there is no earlier state to hold a lock file to.
    if !change.format.is_lock() || change.file.source.entry.change == FileChange::Unchanged {
        return;
    }
    new_sources(change, sources, findings);
    hashes(change, findings);
    manifest(change, sources, findings);
}

/// Packages that are fetched from where nothing was fetched from before.
fn new_sources(change: &Change<'_>, sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    let mut from: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in &change.head.packages {
        if let Some(source) = &package.source {
            from.entry(source).or_default().push(package);
        }
    }
    let known: BTreeSet<&str> = match &change.base {
        Some(base) => {
            base.packages.iter().filter_map(|package| package.source.as_deref()).collect()
        }
        // In a new file, most packages come from the registry that the project uses.
        None => from
            .iter()
            .max_by_key(|(_, packages)| packages.len())
            .map(|(source, _)| *source)
            .into_iter()
            .collect(),
    };
    // A base file that names no source, such as an empty one, says nothing about others.
    if known.is_empty() {
        return;
    }
    for (source, packages) in from {
        if known.contains(source) || is_named(change, sources, Side::Base, source) {
            continue;
        }
        let stated = is_named(change, sources, Side::Head, source);
        if stated && change.base.is_none() {
            continue;
        }
        let names: Vec<&str> =
            packages.iter().take(NAMED).map(|package| package.name.as_str()).collect();
        let more = if packages.len() > NAMED { ", …" } else { "" };
        let (severity, who) = if stated {
            (Severity::Medium, "The change names it in the manifest or in settings too.")
        } else {
            (Severity::High, "Neither the manifest nor any settings name it.")
        };
        let issue = format!(
            "The lock file fetches {}{more} from {source}, a source that was not used before. {who} Whoever \
             controls that source decides what is installed.",
            names.join(", ")
        );
        let advice = "Make the lock file anew with the package manager and the project's own registry. If the \
                      source is wanted, add it to the settings in a change of its own.";
        let found =
            finding(change, packages[0], "dependencies.new-source", issue, advice.to_owned());
        findings.push(RuleFinding {
            severity,
            confidence: 0.85,
            cwe: Some("CWE-829".to_owned()),
            ..found
        });
    }
}

/// Whether the manifest, or settings beside or above it, name the host of a source, or the repository
/// on it: package managers know the best-known hosts by themselves.
fn is_named(change: &Change<'_>, sources: &dyn Sources, side: Side, source: &str) -> bool {
    let (host, repository) = source.split_once('/').unwrap_or((source, ""));
    let names =
        |text: &str| text.contains(host) || (repository.contains('/') && text.contains(repository));
    let mut folder = change.file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        for name in change.format.manifest().iter().chain(SETTINGS) {
            let path =
                if folder.is_empty() { (*name).to_owned() } else { format!("{folder}/{name}") };
            if sources.read(&path, side).is_some_and(|text| names(&text)) {
                return true;
            }
        }
        if folder.is_empty() {
            return false;
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
}

/// Packages whose archives are held to no hash any more, or to another one.
fn hashes(change: &Change<'_>, findings: &mut Vec<RuleFinding>) {
    let key = |package: &Package| (package.name.clone(), package.version.clone());
    let base = change.base.iter().flat_map(|base| &base.packages);
    // One version may be there more than once, such as the archive and a patched one of it.
    let mut before: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for package in base {
        if let Some(hashes) = &package.hashes {
            before.entry(key(package)).or_default().extend(hashes.iter().cloned());
        }
    }
    // A file that never had hashes, or has some without, is the package manager's choice.
    let usual = match &change.base {
        Some(base) => {
            base.packages.iter().all(has_hash_or_place_for_none) && has_any(&base.packages)
        }
        None => has_any(&change.head.packages),
    };
    for package in &change.head.packages {
        let Some(now) = &package.hashes else { continue };
        let old = before.get(&key(package));
        let version = package.version.as_deref().unwrap_or_default();
        let (severity, rule, issue) = match old {
            Some(old) if !old.is_empty() && now.is_empty() => (
                Severity::High,
                "dependencies.missing-hash",
                format!(
                    "The change removes the hash of {} {version}. Installers no longer notice when another \
                     archive is served under that name.",
                    package.name
                ),
            ),
            Some(old) if is_other(old, now) => (
                Severity::High,
                "dependencies.changed-hash",
                format!(
                    "The hash of {} {version} changes, but its version does not. A published version does not \
                     change: another archive would be installed under the same name.",
                    package.name
                ),
            ),
            None if now.is_empty() && usual => (
                Severity::Medium,
                "dependencies.missing-hash",
                format!(
                    "{} {version} has no hash, while the other packages of the lock file have one. Installers do \
                     not notice when another archive is served under that name.",
                    package.name
                ),
            ),
            _ => continue,
        };
        let advice = "Make the lock file anew with the package manager, and compare the hash with the one that \
                      the registry publishes.";
        let found = finding(change, package, rule, issue, advice.to_owned());
        findings.push(RuleFinding {
            severity,
            confidence: 0.85,
            cwe: Some("CWE-353".to_owned()),
            ..found
        });
    }
}

fn has_any(packages: &[Package]) -> bool {
    packages.iter().any(|package| package.hashes.as_ref().is_some_and(|hashes| !hashes.is_empty()))
}

fn has_hash_or_place_for_none(package: &Package) -> bool {
    package.hashes.as_ref().is_none_or(|hashes| !hashes.is_empty())
}

/// Whether hashes of the same kind have nothing in common. Releases gain archives later, and lock
/// files change to stronger hashes: neither is a swap.
fn is_other(old: &[String], now: &[String]) -> bool {
    let kind = |hash: &str| match hash.find(['-', ':', '=', '/']) {
        Some(end) => hash[..end].to_owned(),
        None => hash.len().to_string(),
    };
    let kinds: BTreeSet<String> = old.iter().map(|hash| kind(hash)).collect();
    let comparable: Vec<&String> = now.iter().filter(|hash| kinds.contains(&kind(hash))).collect();
    !comparable.is_empty() && !comparable.iter().any(|hash| old.contains(hash))
}

/// Versions that the manifest does not allow.
fn manifest(change: &Change<'_>, sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    let Some(name) = change.format.manifest() else { return };
    let folder = change.file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let Some(text) = sources.read(&path, Side::Head) else { return };
    let Some(format) = Format::of(&path) else { return };
    let Ok(asked) = read_as(format, &text) else { return };
    // Overrides decide instead of the requirement; which of them apply is the resolver's secret.
    let overridden = ["\"overrides\"", "\"resolutions\"", "[patch.", "override-dependencies"];
    if overridden.iter().any(|table| text.contains(table)) {
        return;
    }
    let touched: BTreeSet<String> =
        change.changed().iter().map(|package| package.ecosystem.normalize(&package.name)).collect();
    let mut judged: BTreeMap<String, (bool, &Package)> = BTreeMap::new();
    for wanted in &asked.packages {
        let direct = wanted.relation == Relation::Direct && wanted.origin == Origin::Registry;
        let name = wanted.ecosystem.normalize(&wanted.name);
        if !direct || !touched.contains(&name) || hygiene::is_apart(format, &text, wanted.line) {
            continue;
        }
        let allowed = change
            .head
            .packages
            .iter()
            .filter(|locked| locked.ecosystem.normalize(&locked.name) == name)
            .any(|locked| is_allowed(wanted, locked));
        // A manifest may ask for one name twice, under other conditions.
        let entry = judged.entry(name).or_insert((false, wanted));
        entry.0 |= allowed;
    }
    for (name, (allowed, wanted)) in judged {
        let mut locked = change.head.packages.iter();
        let Some(package) =
            locked.find(|locked| !allowed && locked.ecosystem.normalize(&locked.name) == name)
        else {
            continue;
        };
        let requirement = wanted.requirement.as_deref().or(wanted.version.as_deref());
        let issue = format!(
            "The lock file pins {} to {}, which {path} does not allow: it asks for {}. Installations that \
             follow the lock file fail, or install what nobody asked for.",
            package.name,
            package.version.as_deref().unwrap_or("no version"),
            requirement.unwrap_or_default()
        );
        let advice =
            "Make the lock file anew with the package manager, and commit it with the manifest.";
        let found =
            finding(change, package, "dependencies.lock-mismatch", issue, advice.to_owned());
        findings.push(RuleFinding { severity: Severity::Medium, confidence: 0.8, ..found });
    }
}

/// Whether a locked package is one that the manifest asks for; what cannot be judged is.
fn is_allowed(wanted: &Package, locked: &Package) -> bool {
    let Some(version) = locked.version.as_deref() else { return true };
    if locked.origin != Origin::Registry {
        return true;
    }
    match (&wanted.requirement, &wanted.version) {
        (Some(requirement), _) => {
            version::satisfies(wanted.ecosystem, requirement, version).unwrap_or(true)
        }
        // Go's sums name more versions than are built; the one that is asked for is among them.
        (None, Some(exact)) => version::compare(wanted.ecosystem, exact, version).is_eq(),
        (None, None) => true,
    }
}
