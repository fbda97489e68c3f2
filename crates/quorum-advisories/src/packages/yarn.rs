//! The lock files of Yarn and pnpm, which are indented text.

use super::{Document, Origin, Package, ReadError, Relation, is_commit, source};
use crate::Ecosystem::Npm;

pub(super) fn yarn(text: &str) -> Result<Document, ReadError> {
    let mut packages = Vec::new();
    let mut entry: Option<Entry> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            packages.extend(entry.take().and_then(Entry::package));
            entry = line.trim_end().strip_suffix(':').map(|specs| Entry::new(specs, number));
            if entry.is_none() && packages.is_empty() {
                let cause = format!("line {number} opens no entry");
                return Err(ReadError { format: "yarn.lock", cause });
            }
            continue;
        }
        let Some(entry) = &mut entry else { continue };
        let indent = line.len() - line.trim_start().len();
        let (key, value) = split(line.trim());
        match key {
            "version" if indent == 2 => {
                entry.version = Some(value.to_owned());
                entry.line = number;
            }
            "resolved" | "resolution" if indent == 2 => entry.resolved = Some(value.to_owned()),
            "integrity" | "checksum" if indent == 2 => entry.hash = Some(value.to_owned()),
            _ => {}
        }
    }
    packages.extend(entry.take().and_then(Entry::package));
    Ok(Document { packages, ..Document::default() })
}

/// `key value`, `key "value"` or `key: value`.
fn split(line: &str) -> (&str, &str) {
    let (key, value) = line.split_once([' ', ':']).unwrap_or((line, ""));
    (key.trim_matches('"'), value.trim_start_matches([' ', ':']).trim_matches('"'))
}

struct Entry {
    specs: String,
    line: u64,
    version: Option<String>,
    resolved: Option<String>,
    hash: Option<String>,
}

impl Entry {
    fn new(specs: &str, line: u64) -> Self {
        let first = specs.trim_matches('"').split(", ").next().unwrap_or(specs);
        let first = first.trim_matches('"').split(", ").next().unwrap_or(first);
        Self { specs: first.to_owned(), line, version: None, resolved: None, hash: None }
    }

    fn package(self) -> Option<Package> {
        let spec = self.specs.as_str();
        let at = spec.get(1..)?.find('@')? + 1;
        let (mut name, wanted) = (spec[..at].to_owned(), &spec[at + 1..]);
        let resolved = self.resolved.as_deref().unwrap_or_default();
        // `alias@npm:name@range`; the newer form resolves every entry to `name@npm:version`.
        if let Some(alias) = wanted.strip_prefix("npm:").and_then(|wanted| wanted.rsplit_once('@'))
        {
            alias.0.clone_into(&mut name);
        }
        let workspace =
            ["workspace:", "link:", "portal:"].iter().any(|kind| wanted.starts_with(kind));
        if workspace || name == "__metadata" || resolved.contains("@workspace:") {
            return None;
        }
        let origin = if is_git(wanted) || is_git(resolved) {
            let commit = resolved.rsplit_once(['#', '=']).map_or("", |(_, commit)| commit);
            Origin::Git { url: wanted.to_owned(), pinned: is_commit(commit) }
        } else if [wanted, resolved].iter().any(|text| text.starts_with("file:"))
            || resolved.contains("@file:")
        {
            Origin::Path
        } else if wanted.starts_with("http") && !resolved.contains("/-/") {
            Origin::Url { url: wanted.to_owned(), verified: resolved.contains('#') }
        } else {
            Origin::Registry
        };
        let mut package = Package::new(Npm, name, self.line).relation(Relation::Unknown);
        package.version = self.version;
        let archive = resolved.split('#').next().filter(|_| resolved.contains("://"));
        package.source = match &origin {
            Origin::Git { url, .. } => {
                source::address(if archive.is_some() { resolved } else { url })
            }
            Origin::Registry | Origin::Url { .. } => archive.and_then(source::host),
            Origin::Path => None,
        };
        if matches!(origin, Origin::Registry | Origin::Url { .. }) {
            // The oldest form has the hash behind the address.
            let behind = resolved.rsplit_once('#').map(|(_, hash)| hash);
            package.hashes =
                Some(self.hash.as_deref().or(behind).map(str::to_owned).into_iter().collect());
        }
        package.origin = origin;
        Some(package)
    }
}

fn is_git(address: &str) -> bool {
    address.starts_with("git")
        || address.contains("@git")
        || address.contains("codeload.github.com")
        || address.contains(".git#")
}

pub(super) fn pnpm(text: &str) -> Result<Document, ReadError> {
    let is_empty = |line: &str| matches!(line.trim(), "" | "{}" | "---") || line.starts_with('#');
    if text.lines().all(is_empty) {
        return Ok(Document::default());
    }
    if !text.lines().any(|line| line.starts_with("lockfileVersion")) {
        let cause = "no lockfileVersion in it".to_owned();
        return Err(ReadError { format: "pnpm-lock.yaml", cause });
    }
    let mut packages: Vec<Package> = Vec::new();
    let mut direct: Vec<String> = Vec::new();
    let mut section = "";
    for (number, line) in (1..).zip(text.lines()) {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if indent == 0 {
            section = trimmed.split(':').next().unwrap_or_default();
            continue;
        }
        let is_key = trimmed.ends_with(':');
        let key = trimmed.trim_end_matches(':').trim_matches(['\'', '"']);
        match section {
            "dependencies" | "devDependencies" | "optionalDependencies" | "specifiers"
                if indent == 2 =>
            {
                let name = trimmed.split(": ").next().unwrap_or(trimmed).trim_end_matches(':');
                direct.push(name.trim_matches(['\'', '"']).to_owned());
            }
            "importers" if is_key && indent == 6 => direct.push(key.to_owned()),
            "packages" if indent == 2 && (is_key || trimmed.contains(": {")) => {
                let key = key.split(": {").next().unwrap_or(key).trim_matches(['\'', '"']);
                packages.extend(snapshot(key, number));
            }
            "packages" if indent > 2 => {
                if let Some(package) = packages.last_mut() {
                    detail(package, trimmed);
                }
            }
            _ => {}
        }
    }
    for package in &mut packages {
        let known = direct.contains(&package.name);
        package.relation = if known { Relation::Direct } else { Relation::Transitive };
    }
    Ok(Document { packages, ..Document::default() })
}

/// `/name/1.2.3`, `/name@1.2.3(peer@4)`, `name@1.2.3`, or an address.
fn snapshot(key: &str, line: u64) -> Option<Package> {
    if key.contains("://")
        || key.starts_with("git")
        || key.starts_with("github.com/")
        || key.contains("codeload")
    {
        let name = key.split("@http").next().filter(|name| *name != key);
        let name =
            name.unwrap_or_else(|| key.trim_end_matches('/').rsplit('/').nth(1).unwrap_or(key));
        let pinned = key.rsplit('/').next().is_some_and(is_commit);
        let origin = Origin::Git { url: key.to_owned(), pinned };
        let from = key.find("http").and_then(|at| source::host(&key[at..]));
        return Some(Package::new(Npm, name, line).origin(origin).source(from));
    }
    if key.starts_with("file:") || key.contains("@file:") || key.contains("@link:") {
        return None;
    }
    let key = key.split('(').next().unwrap_or(key);
    let bare = key.strip_prefix('/').unwrap_or(key);
    let before_digit = |mark: char| {
        let mut marks = bare.match_indices(mark).map(|(at, _)| at).filter(|at| *at > 0);
        marks.find(|at| bare[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
    };
    // The older form is `name/1.2.3_peer@4.5.6`.
    let cut = before_digit('/').or_else(|| before_digit('@'))?;
    let version = bare[cut + 1..].split('_').next()?;
    Some(Package::new(Npm, &bare[..cut], line).version(version).hashes([] as [&str; 0]))
}

fn detail(package: &mut Package, line: &str) {
    // `resolution: {integrity: sha512-…, tarball: https://…}`, or each on a line of its own.
    let fields = line.strip_prefix("resolution: {").map_or(line, |rest| rest.trim_end_matches('}'));
    for field in fields.split(", ") {
        let Some((key, value)) = field.split_once(": ") else { continue };
        let value = value.trim_matches(['\'', '"']);
        match (key.trim(), &mut package.hashes) {
            ("integrity", Some(hashes)) => hashes.push(value.to_owned()),
            ("tarball", _) => package.source = source::host(value),
            _ => {}
        }
    }
    match line.split_once(": ") {
        Some(("dev", "true")) => package.dev = true,
        Some(("requiresBuild", "true")) => package.has_install_script = true,
        Some(("name", name)) => name.trim_matches(['\'', '"']).clone_into(&mut package.name),
        Some(("version", version)) => {
            package.version = Some(version.trim_matches(['\'', '"']).to_owned());
        }
        _ => {}
    }
}
