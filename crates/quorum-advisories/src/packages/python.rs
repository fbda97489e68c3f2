//! Python's requirements, projects and lock files.

use super::tree::Node;
use super::{Document, Located, Origin, Package, Relation, is_commit, source};
use crate::Ecosystem::PyPi;

pub(super) fn requirements(text: &str) -> Document {
    let mut packages = Vec::new();
    let mut held: Option<(u64, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let (first, mut whole) = held.take().unwrap_or((number, String::new()));
        if let Some(start) = line.strip_suffix('\\') {
            whole.push_str(start);
            held = Some((first, whole));
        } else {
            whole.push_str(line);
            packages.extend(requirement(&whole, first));
        }
    }
    packages.extend(held.and_then(|(first, whole)| requirement(&whole, first)));
    Document { packages, ..Document::default() }
}

/// One line: a name with a range, an address, or an option of pip's.
fn requirement(line: &str, number: u64) -> Option<Package> {
    let code = match line.trim_start().strip_prefix('#') {
        Some(_) => return None,
        None => line.split(" #").next().unwrap_or(line).trim(),
    };
    let (code, editable) = match code.strip_prefix("-e").or_else(|| code.strip_prefix("--editable"))
    {
        Some(rest) => (rest.trim_start_matches(['=', ' ']), true),
        None => (code, false),
    };
    if code.is_empty() || code.starts_with('-') {
        return None;
    }
    let verified = code.contains("--hash=");
    let code = code.split(" --").next().unwrap_or(code).trim();
    if editable || code.contains("://") && !code.contains(" @ ") || code.starts_with(['.', '/']) {
        return address(code, number, verified);
    }
    specified(code, number, verified)
}

fn address(code: &str, number: u64, verified: bool) -> Option<Package> {
    let origin = origin(code, verified)?;
    let name =
        code.split_once("egg=").map(|(_, name)| name.split(['&', ' ']).next().unwrap_or(name));
    let name = name.or_else(|| code.rsplit('/').next()).unwrap_or(code);
    Some(Package::new(PyPi, name, number).origin(origin).direct())
}

fn origin(address: &str, verified: bool) -> Option<Origin> {
    if address.starts_with("git+") || address.ends_with(".git") {
        let reference = address.split('#').next().and_then(|part| part.rsplit_once('@'));
        let pinned = reference.is_some_and(|(_, commit)| is_commit(commit));
        Some(Origin::Git { url: address.to_owned(), pinned })
    } else if address.starts_with("http") {
        let verified = verified || address.contains("#sha256=") || address.contains("#sha512=");
        Some(Origin::Url { url: address.to_owned(), verified })
    } else {
        None
    }
}

/// `name[extra]==1.0; marker`, or `name @ address`.
fn specified(code: &str, line: u64, verified: bool) -> Option<Package> {
    let code = code.split(';').next()?.trim();
    if let Some((name, target)) = code.split_once(" @ ") {
        let name = name.split('[').next()?.trim();
        let package = Package::new(PyPi, name, line).direct();
        return Some(package.origin(origin(target.trim(), verified).unwrap_or(Origin::Path)));
    }
    let end = code.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    let (name, rest) = code.split_at(end.unwrap_or(code.len()));
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let rest = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
    if !(rest.is_empty() || rest.starts_with(['=', '<', '>', '!', '~'])) {
        return None;
    }
    let mut package = Package::new(PyPi, name, line).requirement(rest).direct();
    package.version = pinned(rest).map(str::to_owned);
    Some(package)
}

/// The version of `==1.0` or `===1.0`, unless a star leaves it open.
fn pinned(requirement: &str) -> Option<&str> {
    let version = requirement.strip_prefix("==")?.trim_start_matches('=').trim();
    (!version.contains(['*', ',']) && !version.is_empty()).then_some(version)
}

pub(super) fn project(root: &Node) -> Document {
    let mut packages = Vec::new();
    let mut take = |list: &[Node], dev: bool| {
        for node in list {
            let found = node.text().and_then(|spec| specified(spec, node.line, false));
            packages.extend(found.map(|package| package.dev(dev)));
        }
    };
    if let Some(project) = root.get("project") {
        take(project.items_at("dependencies"), false);
        for (_, list) in project.entries_at("optional-dependencies") {
            take(list.items(), false);
        }
    }
    for (_, list) in root.entries_at("dependency-groups") {
        take(list.items(), true);
    }
    if let Some(build) = root.get("build-system") {
        take(build.items_at("requires"), true);
    }
    if let Some(poetry) = root.at(&["tool", "poetry"]) {
        poetry_tables(poetry, &mut packages);
    }
    let stated =
        root.at(&["project", "license"]).or_else(|| root.at(&["tool", "poetry", "license"]));
    let license = stated.and_then(|node| {
        let text = node.text().or_else(|| node.text_at("text"))?;
        Some(Located { text: text.to_owned(), line: node.line })
    });
    Document { packages, license, ..Document::default() }
}

fn poetry_tables(poetry: &Node, packages: &mut Vec<Package>) {
    let groups =
        poetry.entries_at("group").iter().map(|(_, group)| (group.get("dependencies"), true));
    let tables = [(poetry.get("dependencies"), false), (poetry.get("dev-dependencies"), true)];
    for (table, dev) in tables.into_iter().chain(groups) {
        for (name, node) in table.map(Node::entries).unwrap_or_default() {
            if name != "python" {
                packages.push(table_entry(name, node).dev(dev));
            }
        }
    }
}

/// `name = "^1.0"` or `name = { version = …, git = …, path = … }`.
fn table_entry(name: &str, node: &Node) -> Package {
    let mut package = Package::new(PyPi, name, node.line).direct();
    let requirement = node.text().or_else(|| node.text_at("version"));
    package.requirement = requirement.map(str::to_owned);
    package.version = requirement.and_then(pinned).map(str::to_owned);
    if let Some(url) = node.text_at("git") {
        let pinned = ["rev", "ref"].iter().any(|key| node.text_at(key).is_some_and(is_commit));
        package.origin = Origin::Git { url: url.to_owned(), pinned };
    } else if let Some(url) = node.text_at("url") {
        package.origin = Origin::Url { url: url.to_owned(), verified: false };
    } else if node.get("path").is_some() {
        package.origin = Origin::Path;
    }
    package
}

/// Poetry, uv, PDM and the common form: `[[package]]` with a name and a version.
pub(super) fn lock(root: &Node) -> Document {
    let nodes = root.items_at("package").iter().chain(root.items_at("packages"));
    let nodes: Vec<&Node> = nodes.collect();
    let own = |node: &Node| {
        ["editable", "virtual"].iter().any(|kind| node.at(&["source", kind]).is_some())
    };
    let direct: Vec<&str> = nodes
        .iter()
        .filter(|node| own(node))
        .flat_map(|node| node.items_at("dependencies"))
        .filter_map(|dependency| dependency.text_at("name"))
        .collect();
    let mut packages = Vec::new();
    for node in nodes.iter().filter(|node| !own(node)) {
        let (Some(name), Some(version)) = (node.text_at("name"), node.get("version")) else {
            continue;
        };
        let Some(text) = version.text() else { continue };
        let mut package = Package::new(PyPi, name, version.line).version(text);
        package.relation = match (direct.contains(&name), direct.is_empty()) {
            (true, _) => Relation::Direct,
            (false, true) => Relation::Unknown,
            (false, false) => Relation::Transitive,
        };
        package.dev = node.text_at("category") == Some("dev");
        package.origin = locked_origin(node);
        fetched(&mut package, node, root);
        packages.push(package);
    }
    Document { packages, ..Document::default() }
}

/// Where an entry is fetched from, and what its archives are held to.
fn fetched(package: &mut Package, node: &Node, root: &Node) {
    let stated = node.get("source");
    let registry = stated.and_then(|source| source.text_at("registry").or(source.text_at("url")));
    package.source = match &package.origin {
        Origin::Git { url, .. } => source::address(url),
        Origin::Url { url, .. } => source::host(url),
        Origin::Registry => {
            // The common form names the archive's address, or the index it was found in.
            let found = registry.or_else(|| node.text_at("index"));
            found.and_then(source::address)
        }
        Origin::Path => None,
    };
    if package.origin != Origin::Registry {
        return;
    }
    let lists = ["files", "wheels"].iter().flat_map(|key| node.items_at(key));
    let archives = lists.chain(node.get("sdist"));
    let mut hashes: Vec<String> = archives.flat_map(hashes_of).collect();
    // Poetry before 1.3 keeps them at the end of the file.
    let late = root.at(&["metadata", "files"]).map(|files| files.items_at(&package.name));
    hashes.extend(late.unwrap_or_default().iter().flat_map(hashes_of));
    package.hashes = Some(hashes);
}

/// `hash = "sha256:…"`, or a table by algorithm.
fn hashes_of(archive: &Node) -> Vec<String> {
    let table = archive.entries_at("hashes").iter();
    let named = table.filter_map(|(kind, hash)| Some(format!("{kind}:{}", hash.text()?)));
    named.chain(archive.text_at("hash").map(str::to_owned)).collect()
}

fn locked_origin(node: &Node) -> Origin {
    let Some(source) = node.get("source") else { return Origin::Registry };
    let url =
        source.text_at("url").or_else(|| source.text_at("git")).unwrap_or_default().to_owned();
    match source.text_at("type") {
        Some("git") => {
            let pinned = source.text_at("resolved_reference").is_some_and(is_commit);
            Origin::Git { url, pinned }
        }
        Some("url") => Origin::Url { url, verified: true },
        Some("file" | "directory") => Origin::Path,
        _ if source.get("git").is_some() => Origin::Git { pinned: url.contains('#'), url },
        _ if source.get("url").is_some()
            && source.get("registry").is_none()
            && source.get("type").is_none() =>
        {
            Origin::Url { url, verified: true }
        }
        _ if source.get("path").is_some() || source.get("directory").is_some() => Origin::Path,
        _ => Origin::Registry,
    }
}

pub(super) fn pipfile(root: &Node) -> Document {
    let mut packages = Vec::new();
    for (table, dev) in [("packages", false), ("dev-packages", true)] {
        for (name, node) in root.entries_at(table) {
            packages.push(table_entry(name, node).dev(dev));
        }
    }
    Document { packages, ..Document::default() }
}

pub(super) fn pipfile_lock(root: &Node) -> Document {
    let mut packages = Vec::new();
    for (table, dev) in [("default", false), ("develop", true)] {
        for (name, node) in root.entries_at(table) {
            let line = node.get("version").map_or(node.line, |version| version.line);
            let mut package = Package::new(PyPi, name, line).dev(dev);
            package.version = node.text_at("version").and_then(pinned).map(str::to_owned);
            if let Some(url) = node.text_at("git") {
                let pinned = node.text_at("ref").is_some_and(is_commit);
                package.origin = Origin::Git { url: url.to_owned(), pinned };
            }
            package.source = match (&package.origin, node.text_at("index")) {
                (Origin::Git { url, .. }, _) => source::address(url),
                (_, Some(index)) => index_address(root, index),
                _ => None,
            };
            if package.origin == Origin::Registry {
                let hashes = node.items_at("hashes").iter().filter_map(Node::text);
                package = package.hashes(hashes);
            }
            if package.version.is_some() || package.origin != Origin::Registry {
                packages.push(package);
            }
        }
    }
    Document { packages, ..Document::default() }
}

/// The address of an index that the file names.
fn index_address(root: &Node, index: &str) -> Option<String> {
    let indexes = root.at(&["_meta", "sources"]).map(Node::items).unwrap_or_default();
    let named = indexes.iter().find(|node| node.text_at("name") == Some(index))?;
    source::address(named.text_at("url")?)
}
