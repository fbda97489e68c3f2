//! What needs no database: sources, pins, scripts, lock files and licences.

use std::collections::BTreeSet;

use quorum_advisories::packages::{Format, Script, read_as};
use quorum_advisories::{Ecosystem, Origin, Package, version};
use quorum_model::severity::Severity;

use super::advisories::finding;
use super::{Change, relation};
use crate::finding::RuleFinding;
use crate::source::Sources;

pub(super) fn check(change: &Change<'_>, sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    let lock = if change.format.is_lock() || is_installed(change.file.path()) {
        None
    } else {
        change.beside(change.format.locks(), sources)
    };
    let lock = lock.as_ref().map(|(path, text)| (path.as_str(), &**text));
    let held = lock.map(|(path, text)| held(change, path, text)).unwrap_or_default();
    for package in change.changed() {
        findings.extend(origin(change, package, &held));
    }
    scripts(change, findings);
    license(change, findings);
    if !change.format.is_lock() && !is_installed(change.file.path()) {
        match lock {
            Some((path, text)) => out_of_step(change, path, text, findings),
            None => floating(change, findings),
        }
    }
}

/// Whether a package manager put the file there: what such a manifest asks for is settled by the lock
/// file of whoever installed it, and what it needs for its own development is not installed.
fn is_installed(path: &str) -> bool {
    path.split('/').any(|part| part == "node_modules")
}

/// The packages that a lock file holds to one commit, by name.
fn held(change: &Change<'_>, path: &str, text: &str) -> BTreeSet<String> {
    let Some(format) = Format::of(path) else { return BTreeSet::new() };
    let Ok(lock) = read_as(format, text) else { return BTreeSet::new() };
    if !pins(change, path, format, text) {
        return BTreeSet::new();
    }
    let pinned = |package: &&Package| matches!(package.origin, Origin::Git { pinned: true, .. });
    let packages = lock.packages.iter().filter(pinned);
    packages.map(|package| package.ecosystem.normalize(&package.name)).collect()
}

/// Code that comes from somewhere other than the registry, and can change under the same name.
fn origin(change: &Change<'_>, package: &Package, held: &BTreeSet<String>) -> Option<RuleFinding> {
    let (severity, issue, recommendation) = match &package.origin {
        Origin::Git { pinned: true, url } | Origin::Url { verified: true, url }
            if !url.starts_with("http://") =>
        {
            return None;
        }
        Origin::Git { url, .. } | Origin::Url { url, .. } if url.starts_with("http://") => (
            Severity::Medium,
            format!(
                "{} is fetched over plain HTTP. Anyone on the way can replace what is installed.",
                package.name
            ),
            "Fetch it over HTTPS, and pin it to a commit or a hash.".to_owned(),
        ),
        Origin::Git { .. } if held.contains(&package.ecosystem.normalize(&package.name)) => (
            Severity::Low,
            format!(
                "{} is taken from a git repository without a commit. The lock file holds it to one until \
                 somebody updates it; then whoever can push there decides what is installed.",
                package.name
            ),
            format!("Name a full commit for {}, or use a released version.", package.name),
        ),
        Origin::Git { .. } => (
            Severity::Medium,
            format!(
                "{} is taken from a git repository without a commit. Whoever can push there decides \
                 what is installed, and no registry keeps a copy.",
                package.name
            ),
            format!("Name a full commit for {}, or use a released version.", package.name),
        ),
        Origin::Url { .. } => (
            Severity::Medium,
            format!(
                "{} is taken from an address without a hash. What is served there can change.",
                package.name
            ),
            format!("Add a hash for {}, or use a released version.", package.name),
        ),
        Origin::Registry | Origin::Path => return None,
    };
    let found = finding(change, package, "dependencies.unpinned-source", issue, recommendation);
    Some(RuleFinding { severity, confidence: 0.8, caused: false, ..found })
}

/// Commands that run on the machine of whoever installs the project.
fn scripts(change: &Change<'_>, findings: &mut Vec<RuleFinding>) {
    let known: &[Script] =
        change.base.as_ref().map(|base| base.scripts.as_slice()).unwrap_or_default();
    for script in &change.head.scripts {
        if known.iter().any(|other| other.name == script.name && other.command == script.command) {
            continue;
        }
        let command = script.command.to_ascii_lowercase();
        let fetches =
            ["curl", "wget", "http", "base64", "eval", "powershell", "node -e", "/dev/tcp"]
                .iter()
                .any(|word| command.contains(word));
        // `prepare` builds a checkout; installing from a registry does not run it.
        if script.name.contains("prepare") && !fetches {
            continue;
        }
        let (severity, what) = if fetches {
            (Severity::High, "It fetches or evaluates code, which no lock file covers.")
        } else {
            (
                Severity::Low,
                "Everybody who installs the project runs it, before any review or sandbox.",
            )
        };
        let place = Package { line: script.line, ..placeholder(change, &script.name) };
        let issue = format!("`{}` runs a command on installation. {what}", script.name);
        let advice = "Do the work in an explicit command, or ship its result; if it must run, keep the \
                      script in the repository and call nothing from the network.";
        let found =
            finding(change, &place, "dependencies.install-script", issue, advice.to_owned());
        findings.push(RuleFinding { severity, confidence: 0.7, caused: false, ..found });
    }
    let new = change.added();
    let building: Vec<&&Package> =
        new.iter().filter(|package| package.has_install_script).collect();
    if let (Some(first), Some(_)) = (building.first(), &change.base) {
        let names: Vec<&str> = building.iter().map(|package| package.name.as_str()).collect();
        let issue = format!(
            "The change brings packages that run a script when they are installed: {}. Such scripts are \
             how malicious releases reach developers and build machines.",
            names.join(", ")
        );
        let advice =
            "Read what the scripts do, or install with scripts off and allow these by name.";
        findings.push(finding(
            change,
            first,
            "dependencies.install-script",
            issue,
            advice.to_owned(),
        ));
    }
}

/// Stands for the manifest itself where a finding is about no package.
fn placeholder(change: &Change<'_>, name: &str) -> Package {
    let template = change.head.packages.first().cloned();
    let mut package = template.unwrap_or_else(|| Package {
        ecosystem: Ecosystem::Npm,
        name: String::new(),
        version: None,
        requirement: None,
        line: 1,
        relation: quorum_advisories::Relation::Direct,
        dev: false,
        origin: Origin::Registry,
        has_install_script: false,
        source: None,
        hashes: None,
    });
    name.clone_into(&mut package.name);
    package
}

fn license(change: &Change<'_>, findings: &mut Vec<RuleFinding>) {
    let Some(base) = &change.base else { return };
    let (Some(before), Some(now)) = (&base.license, &change.head.license) else { return };
    if before.text.eq_ignore_ascii_case(&now.text) {
        return;
    }
    let strict = |text: &str| {
        let text = text.to_ascii_uppercase();
        ["GPL", "SSPL", "BUSL", "ELASTIC", "PROPRIETARY", "UNLICENSED", "COMMONS-CLAUSE"]
            .iter()
            .any(|word| text.contains(word))
    };
    let severity =
        if strict(&now.text) == strict(&before.text) { Severity::Low } else { Severity::Medium };
    let place = Package { line: now.line, ..placeholder(change, "license") };
    let issue = format!(
        "The licence changes from `{}` to `{}`. Users and contributors agreed to the former.",
        before.text, now.text
    );
    let advice = "Check that all copyright holders agree and that every dependency allows it, and say \
                  so in the change log.";
    let found = finding(change, &place, "dependencies.license-change", issue, advice.to_owned());
    findings.push(RuleFinding {
        severity,
        confidence: 0.9,
        category: "license".to_owned(),
        ..found
    });
}

/// Whether a lock file pins what this manifest asks for: one in a folder above does so only for the
/// members of its workspace, and templates and examples are none.
fn pins(change: &Change<'_>, path: &str, format: Format, text: &str) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let (above, here) = (folder(path), folder(change.file.path()));
    if above == here {
        return true;
    }
    let member = here.strip_prefix(above.as_str()).unwrap_or(&here).trim_start_matches('/');
    let lists = |keys: &[String]| keys.iter().any(|key| text.contains(key.as_str()));
    match format {
        Format::PnpmLock => lists(&[
            format!("\n  {member}:\n"),
            format!("\n  '{member}':\n"),
            format!("\n  \"{member}\":\n"),
        ]),
        Format::PackageLock | Format::BunLock => lists(&[format!("\"{member}\": {{")]),
        Format::YarnLock => lists(&[format!("@workspace:{member}\"")]),
        // Members stand among the packages by their names.
        Format::CargoLock | Format::PythonLock => {
            let named = change.file.text().lines().find_map(|line| {
                let value = line.trim().strip_prefix("name")?.trim_start().strip_prefix('=')?;
                Some(value.trim().trim_matches(['"', '\'']).to_owned())
            });
            named.is_some_and(|name| lists(&[format!("name = \"{name}\"\n")]))
        }
        _ => false,
    }
}

/// A manifest that asks for what its lock file does not have.
fn out_of_step(change: &Change<'_>, path: &str, text: &str, findings: &mut Vec<RuleFinding>) {
    let Some(format) = Format::of(path) else { return };
    let Ok(lock) = read_as(format, text) else { return };
    if change.base.is_none() || lock.packages.is_empty() || !pins(change, path, format, text) {
        return;
    }
    for package in change.changed() {
        let asked = package.relation == quorum_advisories::Relation::Direct
            && package.origin == Origin::Registry
            && package.name != "stdlib";
        let text = change.file.text();
        if !asked || is_apart(change.format, text, package.line) {
            continue;
        }
        let name = package.ecosystem.normalize(&package.name);
        let locked: Vec<&Package> = lock
            .packages
            .iter()
            .filter(|other| other.ecosystem.normalize(&other.name) == name)
            .collect();
        let wanted = package.version.as_deref();
        let same = |other: &&Package| {
            let theirs = other.version.as_deref();
            wanted.zip(theirs).is_none_or(|(wanted, theirs)| {
                version::compare(package.ecosystem, wanted, theirs).is_eq()
            })
        };
        if locked.iter().any(same) {
            continue;
        }
        let has = match locked.first().and_then(|other| other.version.as_deref()) {
            Some(version) => format!("{path} still has {version}"),
            None => format!("{path} does not have it"),
        };
        let issue = format!(
            "The manifest asks for {} {}, but {has}. Installations that follow the lock file fail or get \
             something else than what was tested.",
            package.name,
            wanted.or(package.requirement.as_deref()).unwrap_or_default()
        );
        let advice =
            format!("Update {path} with the package manager, and commit it with the manifest.");
        let found = finding(change, package, "dependencies.lock-out-of-step", issue, advice);
        findings.push(RuleFinding { severity: Severity::Medium, confidence: 0.75, ..found });
    }
}

/// Whether a manifest asks on this line for what no lock file has: npm does not install what a peer
/// dependency merely allows, and what builds a Python package is installed apart from it.
pub(super) fn is_apart(manifest: Format, text: &str, line: u64) -> bool {
    let above = text.lines().take(usize::try_from(line).unwrap_or(0));
    match manifest {
        Format::PackageJson => {
            let tables = above.filter(|line| line.contains("ependencies\""));
            tables.last().is_some_and(|line| line.contains("peerDependencies"))
        }
        Format::Pyproject => {
            let tables = above.map(str::trim).filter(|line| is_table(line));
            tables.last() == Some("[build-system]")
        }
        _ => false,
    }
}

/// `[name]`, and not a list's continuation.
fn is_table(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && !line.contains(['"', '\''])
}

/// Requirements that any version fulfils, where no lock file decides.
fn floating(change: &Change<'_>, findings: &mut Vec<RuleFinding>) {
    let manifest = matches!(
        change.format,
        Format::PackageJson
            | Format::Requirements
            | Format::Pipfile
            | Format::ComposerJson
            | Format::Gemfile
            | Format::Pom
            | Format::GradleBuild
            | Format::NuGetProject
            | Format::CargoToml
    );
    if !manifest || change.file.path().ends_with(".in") {
        return;
    }
    let open: Vec<&Package> = change
        .changed()
        .into_iter()
        .filter(|package| package.origin == Origin::Registry && !package.dev)
        .filter(|package| change.file.source.is_added(package.line) && is_open(package))
        .collect();
    let Some(first) = open.first() else { return };
    let names: Vec<&str> = open.iter().take(8).map(|package| package.name.as_str()).collect();
    let more = if open.len() > names.len() { ", …" } else { "" };
    let issue = format!(
        "Any version of {}{more} will do, and no lock file decides which. The next installation can bring a \
         release that nobody here has seen. {} is {}.",
        names.join(", "),
        first.name,
        relation(first)
    );
    let advice =
        "Give a range with an upper end, and commit a lock file where this is an application.";
    let found = finding(change, first, "dependencies.floating-version", issue, advice.to_owned());
    findings.push(RuleFinding { confidence: 0.6, caused: false, ..found });
}

fn is_open(package: &Package) -> bool {
    match package.requirement.as_deref().map(str::trim) {
        Some("*" | "latest" | "x" | "LATEST" | "RELEASE" | "+" | "latest.release") => true,
        Some("") => matches!(package.ecosystem, Ecosystem::PyPi | Ecosystem::Npm),
        Some(requirement) => requirement.ends_with(".+") && package.ecosystem == Ecosystem::Maven,
        None => false,
    }
}
