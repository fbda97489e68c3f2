//! Cargo's manifest and lock file.

use super::tree::Node;
use super::{Document, Located, Origin, Package, Relation, exact, is_commit, source};
use crate::Ecosystem::Cargo;

pub(super) fn manifest(root: &Node) -> Document {
    let mut packages = Vec::new();
    let workspace = root.get("workspace");
    let targets = root.entries_at("target").iter().map(|(_, target)| target);
    for holder in std::iter::once(root).chain(workspace).chain(targets) {
        for (table, dev) in
            [("dependencies", false), ("dev-dependencies", true), ("build-dependencies", false)]
        {
            let entries = holder.entries_at(table).iter();
            packages.extend(entries.filter_map(|(key, node)| dependency(key, node, dev)));
        }
    }
    let license = root
        .at(&["package", "license"])
        .and_then(|node| Some(Located { text: node.text()?.to_owned(), line: node.line }));
    Document { packages, license, ..Document::default() }
}

fn dependency(key: &str, node: &Node, dev: bool) -> Option<Package> {
    if node.is_true("workspace") {
        return None;
    }
    let name = node.text_at("package").unwrap_or(key);
    let requirement = node.text().or_else(|| node.text_at("version"));
    let mut package = Package::new(Cargo, name, node.line).direct().dev(dev);
    package.requirement = requirement.map(str::to_owned);
    package.version =
        requirement.filter(|text| text.starts_with('=')).and_then(exact).map(str::to_owned);
    if let Some(url) = node.text_at("git") {
        let pinned = node.text_at("rev").is_some_and(is_commit);
        package.origin = Origin::Git { url: url.to_owned(), pinned };
    } else if node.get("path").is_some() {
        package.origin = Origin::Path;
    }
    Some(package)
}

pub(super) fn lock(root: &Node) -> Document {
    let entry = |node: &Node| {
        let name = node.text_at("name")?;
        let version = node.get("version")?;
        // The line that a diff changes is that of the version.
        let package = Package::new(Cargo, name, version.line).version(version.text()?);
        let stated = node.text_at("source");
        let package = package.origin(origin(stated)).source(stated.and_then(source::address));
        Some(if package.origin == Origin::Registry {
            package.hashes(node.text_at("checksum"))
        } else {
            package
        })
    };
    let all: Vec<Package> = root.items_at("package").iter().filter_map(entry).collect();
    // Members of the workspace have no source; what they name is asked for directly.
    let direct: Vec<&str> = root
        .items_at("package")
        .iter()
        .filter(|node| node.get("source").is_none())
        .flat_map(|node| node.items_at("dependencies"))
        .filter_map(|name| name.text()?.split(' ').next())
        .collect();
    let packages = all
        .into_iter()
        .map(|package| {
            let known = direct.contains(&package.name.as_str());
            let relation = match (known, direct.is_empty()) {
                (true, _) => Relation::Direct,
                (false, true) => Relation::Unknown,
                (false, false) => Relation::Transitive,
            };
            package.relation(relation)
        })
        .collect();
    Document { packages, ..Document::default() }
}

fn origin(source: Option<&str>) -> Origin {
    match source {
        None => Origin::Path,
        Some(source) if source.starts_with("git+") => {
            Origin::Git { url: source[4..].to_owned(), pinned: source.contains('#') }
        }
        Some(_) => Origin::Registry,
    }
}
