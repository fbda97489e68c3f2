//! The lock file of `NuGet` and the package references of project files.

use super::tree::Node;
use super::xml::Element;
use super::{Document, Located, Package, Relation, exact};
use crate::Ecosystem::NuGet;

pub(super) fn lock(root: &Node) -> Document {
    let mut packages: Vec<Package> = Vec::new();
    for (_, framework) in root.entries_at("dependencies") {
        for (name, node) in framework.entries() {
            let Some(version) = node.get("resolved") else { continue };
            let relation = match node.text_at("type") {
                Some("Direct" | "CentralTransitive") => Relation::Direct,
                Some("Project") => continue,
                _ => Relation::Transitive,
            };
            let package = Package::new(NuGet, name, version.line)
                .version(version.text().unwrap_or_default())
                .relation(relation)
                .hashes(node.text_at("contentHash"));
            // The same package stands once for every framework.
            let same =
                |other: &Package| other.name == package.name && other.version == package.version;
            if !packages.iter().any(same) {
                packages.push(package);
            }
        }
    }
    Document { packages, ..Document::default() }
}

pub(super) fn config(root: &Element) -> Document {
    let mut found = Vec::new();
    root.all("package", &mut found);
    let entry = |element: &&Element| {
        let version = element.attribute("version")?;
        let package = Package::new(NuGet, element.attribute("id")?, element.line).version(version);
        Some(package.dev(element.attribute("developmentDependency") == Some("true")).direct())
    };
    Document { packages: found.iter().filter_map(entry).collect(), ..Document::default() }
}

pub(super) fn project(root: &Element) -> Document {
    let mut found = Vec::new();
    for name in ["PackageReference", "PackageVersion", "GlobalPackageReference"] {
        root.all(name, &mut found);
    }
    let mut packages = Vec::new();
    for element in found {
        let Some(name) = element.attribute("Include").or_else(|| element.attribute("Update"))
        else {
            continue;
        };
        let version = element
            .attribute("VersionOverride")
            .or_else(|| element.attribute("Version"))
            .or_else(|| element.text_of("Version"));
        let mut package = Package::new(NuGet, name, element.line).direct();
        if let Some(version) = version {
            package.version = concrete(version);
            package.requirement = Some(version.to_owned());
        }
        packages.push(package);
    }
    let mut licenses = Vec::new();
    root.all("PackageLicenseExpression", &mut licenses);
    let license =
        licenses.first().map(|element| Located { text: element.text.clone(), line: element.line });
    Document { packages, license, ..Document::default() }
}

/// `NuGet` takes the lowest version that a requirement allows, so `1.0` and `[1.0]` are 1.0.
fn concrete(version: &str) -> Option<String> {
    let inner = version.trim().trim_start_matches('[').trim_end_matches([']', ')', ',']);
    exact(inner).map(str::to_owned)
}
