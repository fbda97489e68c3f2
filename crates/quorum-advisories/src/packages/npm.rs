//! The manifest and lock files of npm and Bun.

use super::tree::Node;
use super::{Document, Located, Origin, Package, Relation, Script, exact, is_commit, source};
use crate::Ecosystem::Npm;

/// The scripts that run on the machine of whoever installs the package.
const ON_INSTALL: &[&str] =
    &["preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare"];

pub(super) fn manifest(root: &Node) -> Document {
    let mut packages = Vec::new();
    for (table, dev) in [
        ("dependencies", false),
        ("devDependencies", true),
        ("optionalDependencies", false),
        ("peerDependencies", true),
    ] {
        for (key, node) in root.entries_at(table) {
            packages.extend(node.text().and_then(|spec| requested(key, spec, node.line, dev)));
        }
    }
    let scripts =
        root.entries_at("scripts").iter().filter(|(name, _)| ON_INSTALL.contains(&name.as_str()));
    let script = |(name, node): &(String, Node)| {
        let command = node.text()?.to_owned();
        Some(Script { name: name.clone(), command, line: node.line })
    };
    let license = root.get("license").and_then(|node| {
        let text = node.text().or_else(|| node.text_at("type"))?;
        Some(Located { text: text.to_owned(), line: node.line })
    });
    Document { packages, scripts: scripts.filter_map(script).collect(), license }
}

/// What `"name": "spec"` asks for; absent for parts of the same workspace.
fn requested(key: &str, spec: &str, line: u64, dev: bool) -> Option<Package> {
    let (name, spec) = match spec.strip_prefix("npm:") {
        Some(alias) => match alias.rfind('@').filter(|at| *at > 0) {
            Some(at) => (&alias[..at], &alias[at + 1..]),
            None => (alias, "*"),
        },
        None => (key, spec),
    };
    if ["workspace:", "catalog:", "portal:", "patch:"].iter().any(|kind| spec.starts_with(kind)) {
        return None;
    }
    let mut package = Package::new(Npm, name, line).requirement(spec).direct().dev(dev);
    package.version =
        exact(spec).filter(|version| version.matches('.').count() >= 2).map(str::to_owned);
    package.origin = origin(spec);
    Some(package)
}

/// Where a spec or a resolved address points.
fn origin(spec: &str) -> Origin {
    let repository = spec.starts_with("git")
        || spec.starts_with("github:")
        || spec.starts_with("gitlab:")
        || spec.starts_with("bitbucket:")
        || (spec.contains('/') && !spec.contains(':') && !spec.starts_with(['@', '.', '/', '~']));
    if repository {
        let pinned = spec.rsplit_once('#').is_some_and(|(_, commit)| is_commit(commit));
        Origin::Git { url: spec.to_owned(), pinned }
    } else if spec.starts_with("http://") || spec.starts_with("https://") {
        Origin::Url { url: spec.to_owned(), verified: false }
    } else if ["file:", "link:", "./", "../", "/", "~/"].iter().any(|kind| spec.starts_with(kind)) {
        Origin::Path
    } else {
        Origin::Registry
    }
}

pub(super) fn lock(root: &Node) -> Document {
    let mut packages = Vec::new();
    if let Some(entries) = root.get("packages") {
        let roots = entries.entries().iter().filter(|(path, _)| !path.contains("node_modules/"));
        let direct: Vec<&str> = roots.flat_map(|(_, node)| asked_for(node)).collect();
        for (path, node) in entries.entries() {
            packages.extend(installed(path, node, &direct));
        }
    } else {
        nested(root, &mut packages, 0);
    }
    Document { packages, ..Document::default() }
}

fn asked_for(node: &Node) -> Vec<&str> {
    ["dependencies", "devDependencies", "optionalDependencies"]
        .iter()
        .flat_map(|table| node.entries_at(table))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// An entry of the flat form, by the folder that it is installed in.
fn installed(path: &str, node: &Node, direct: &[&str]) -> Option<Package> {
    let (above, folder) = path.rsplit_once("node_modules/")?;
    let name = node.text_at("name").unwrap_or(folder);
    if node.is_true("link") {
        // A member of the workspace, whose version is whatever its folder has.
        return Some(Package::new(Npm, name, node.line).origin(Origin::Path));
    }
    let version = node.text_at("version")?;
    let line = node.get("version").map_or(node.line, |version| version.line);
    let is_direct = !above.contains("node_modules/") && direct.contains(&folder);
    let relation = if is_direct { Relation::Direct } else { Relation::Transitive };
    let mut package = Package::new(Npm, name, line).version(version).relation(relation);
    package.dev = node.is_true("dev") || node.is_true("devOptional");
    package.origin = resolved(node);
    package.has_install_script = node.is_true("hasInstallScript");
    fetched(&mut package, node);
    Some(package)
}

/// Where an entry is fetched from, and what its archive is held to.
fn fetched(package: &mut Package, node: &Node) {
    let resolved = node.text_at("resolved");
    package.source = match &package.origin {
        Origin::Git { url, .. } => source::address(resolved.unwrap_or(url)),
        Origin::Registry | Origin::Url { .. } => resolved.and_then(source::host),
        Origin::Path => None,
    };
    // What another package's archive contains has no archive of its own.
    let archived = matches!(package.origin, Origin::Registry | Origin::Url { .. })
        && !node.is_true("inBundle")
        && !node.is_true("bundled");
    if archived && resolved.is_some() {
        package.hashes = Some(words(node.text_at("integrity").unwrap_or_default()));
    }
}

/// An entry may be held to several hashes.
fn words(hashes: &str) -> Vec<String> {
    hashes.split_whitespace().map(str::to_owned).collect()
}

fn resolved(node: &Node) -> Origin {
    if node.is_true("link") {
        return Origin::Path;
    }
    match node.text_at("resolved").map(origin) {
        Some(Origin::Url { url, .. }) if is_registry(&url) => Origin::Registry,
        Some(Origin::Url { url, .. }) => {
            Origin::Url { url, verified: node.get("integrity").is_some() }
        }
        Some(other) => other,
        None => Origin::Registry,
    }
}

/// Registries serve archives at `/name/-/name-version.tgz`.
fn is_registry(url: &str) -> bool {
    url.contains("/-/")
}

/// The older form: dependencies within dependencies.
fn nested(node: &Node, packages: &mut Vec<Package>, depth: usize) {
    for (key, node) in node.entries_at("dependencies") {
        let Some(stated) = node.get("version") else { continue };
        let Some(text) = stated.text() else { continue };
        let (name, version) =
            match text.strip_prefix("npm:").and_then(|alias| alias.rsplit_once('@')) {
                Some((name, version)) => (name, version),
                None => (key.as_str(), text),
            };
        let mut package = Package::new(Npm, name, stated.line);
        package.origin = match origin(version) {
            Origin::Registry => resolved(node),
            other => other,
        };
        package.version = Some(version.to_owned()).filter(|_| package.origin == Origin::Registry);
        package.dev = node.is_true("dev");
        package.relation = if depth == 0 { Relation::Unknown } else { Relation::Transitive };
        fetched(&mut package, node);
        packages.push(package);
        nested(node, packages, depth + 1);
    }
}

/// Bun's text form: `"name": ["name@version", registry, {…}, hash]`.
pub(super) fn bun(root: &Node) -> Document {
    let workspaces = root.entries_at("workspaces");
    let direct: Vec<&str> = workspaces.iter().flat_map(|(_, node)| asked_for(node)).collect();
    let mut packages = Vec::new();
    for (key, node) in root.entries_at("packages") {
        let Some(spec) = node.items().first().and_then(Node::text) else { continue };
        let Some(at) = spec.rfind('@').filter(|at| *at > 0) else { continue };
        // A commit may have an `@` of its own in its address.
        let at = spec[1..].find('@').map_or(at, |first| first + 1);
        let (name, version) = (&spec[..at], &spec[at + 1..]);
        let from = origin(version);
        if from == Origin::Path || version.starts_with("workspace:") {
            continue;
        }
        let is_direct = direct.contains(&key.as_str());
        let relation = if is_direct { Relation::Direct } else { Relation::Transitive };
        let mut package = Package::new(Npm, name, node.line).relation(relation);
        package.version = Some(version.to_owned()).filter(|_| from == Origin::Registry);
        match from {
            Origin::Registry => {
                let registry = node.items().get(1).and_then(Node::text);
                package.source = registry.and_then(source::host);
                let hash = node.items().get(3).and_then(Node::text);
                package.hashes = Some(words(hash.unwrap_or_default()));
            }
            Origin::Git { .. } => package.source = source::address(version),
            Origin::Url { .. } | Origin::Path => package.source = source::host(version),
        }
        package.origin = from;
        packages.push(package);
    }
    Document { packages, ..Document::default() }
}
