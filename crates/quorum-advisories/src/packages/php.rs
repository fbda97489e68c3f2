//! Composer's files.

use super::tree::Node;
use super::{Document, Located, Origin, Package, Relation, Script, exact, source};
use crate::Ecosystem::Packagist;

const ON_INSTALL: &[&str] = &[
    "pre-install-cmd",
    "post-install-cmd",
    "pre-update-cmd",
    "post-update-cmd",
    "post-autoload-dump",
    "post-root-package-install",
    "post-create-project-cmd",
];

pub(super) fn manifest(root: &Node) -> Document {
    let mut packages = Vec::new();
    for (table, dev) in [("require", false), ("require-dev", true)] {
        for (name, node) in root.entries_at(table) {
            // `php`, `ext-json` and their like are the platform, not packages.
            if let Some(requirement) = node.text().filter(|_| name.contains('/')) {
                let mut package = Package::new(Packagist, name, node.line)
                    .requirement(requirement)
                    .direct()
                    .dev(dev);
                package.version = exact(requirement).map(str::to_owned);
                packages.push(package);
            }
        }
    }
    let hooks =
        root.entries_at("scripts").iter().filter(|(name, _)| ON_INSTALL.contains(&name.as_str()));
    let scripts = hooks.map(|(name, node)| {
        let commands = node.items().iter().filter_map(Node::text);
        let command =
            node.text().map_or_else(|| commands.collect::<Vec<_>>().join("; "), str::to_owned);
        Script { name: name.clone(), command, line: node.line }
    });
    let license = root.get("license").and_then(|node| {
        let text = node.text().or_else(|| node.items().first()?.text())?;
        Some(Located { text: text.to_owned(), line: node.line })
    });
    Document { packages, scripts: scripts.collect(), license }
}

pub(super) fn lock(root: &Node) -> Document {
    let mut packages = Vec::new();
    for (table, dev) in [("packages", false), ("packages-dev", true)] {
        for node in root.items_at(table) {
            let (Some(name), Some(version)) = (node.text_at("name"), node.get("version")) else {
                continue;
            };
            let Some(text) = version.text() else { continue };
            let mut package = Package::new(Packagist, name, version.line).version(text).dev(dev);
            package.relation = Relation::Unknown;
            if node.get("dist").is_none()
                && let Some(source) =
                    node.get("source").filter(|source| source.text_at("type") == Some("git"))
            {
                let url = source.text_at("url").unwrap_or_default().to_owned();
                package.origin = Origin::Git { url, pinned: source.get("reference").is_some() };
            }
            let from = node.at(&["dist", "url"]).or_else(|| node.at(&["source", "url"]));
            package.source = from.and_then(Node::text).and_then(source::host);
            packages.push(package);
        }
    }
    Document { packages, ..Document::default() }
}
