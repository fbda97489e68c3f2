//! Maven's project file, and the metadata by which Gradle verifies what it fetches.

use std::collections::BTreeMap;

use super::xml::Element;
use super::{Document, Located, Package, ReadError, Relation, exact};
use crate::Ecosystem::Maven;

pub(super) fn pom(root: &Element) -> Result<Document, ReadError> {
    if root.name != "project" {
        let cause = format!("the root element is `{}`", root.name);
        return Err(ReadError { format: "pom.xml", cause });
    }
    let properties = properties(root);
    let mut found = Vec::new();
    root.all("dependency", &mut found);
    root.all("plugin", &mut found);
    root.all("extension", &mut found);
    let mut packages = Vec::new();
    for element in found {
        let artifact = element.text_of("artifactId").unwrap_or_default();
        let group = element.text_of("groupId").unwrap_or(match element.name.as_str() {
            "plugin" => "org.apache.maven.plugins",
            _ => "",
        });
        if artifact.is_empty() || group.is_empty() {
            continue;
        }
        let name = format!("{}:{}", resolve(group, &properties), resolve(artifact, &properties));
        let stated = element.child("version");
        let line = stated.map_or(element.line, |version| version.line);
        let mut package = Package::new(Maven, name, line).direct();
        package.dev = element.text_of("scope") == Some("test") || element.name == "plugin";
        if let Some(version) = stated {
            let version = resolve(&version.text, &properties);
            package.version = concrete(&version);
            package.requirement = Some(version);
        }
        packages.push(package);
    }
    let license =
        root.child("licenses").and_then(|list| list.child("license")).and_then(|license| {
            let name = license.child("name")?;
            Some(Located { text: name.text.clone(), line: name.line })
        });
    Ok(Document { packages, license, ..Document::default() })
}

fn properties(root: &Element) -> BTreeMap<String, String> {
    let stated =
        root.child("properties").map(|element| element.children.as_slice()).unwrap_or_default();
    let mut all: BTreeMap<String, String> =
        stated.iter().map(|property| (property.name.clone(), property.text.clone())).collect();
    let own = |name: &str| {
        root.text_of(name).or_else(|| root.child("parent")?.text_of(name)).map(str::to_owned)
    };
    for name in ["groupId", "version", "artifactId"] {
        if let Some(value) = own(name) {
            all.insert(format!("project.{name}"), value.clone());
            all.insert(format!("pom.{name}"), value);
        }
    }
    all
}

/// Replaces `${name}`, also where its value has such names; a few times, so that it ends.
fn resolve(text: &str, properties: &BTreeMap<String, String>) -> String {
    let mut resolved = text.to_owned();
    for _ in 0..8 {
        let Some(start) = resolved.find("${") else { break };
        let Some(length) = resolved[start..].find('}') else { break };
        let name = &resolved[start + 2..start + length];
        let Some(value) = properties.get(name) else { break };
        resolved.replace_range(start..=start + length, value);
    }
    resolved
}

/// One version, or the one that `[1.0]` asks for.
fn concrete(version: &str) -> Option<String> {
    let inner =
        version.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(version);
    exact(inner).map(str::to_owned)
}

pub(super) fn verification(root: &Element) -> Document {
    let mut found = Vec::new();
    root.all("component", &mut found);
    let entry = |element: &&Element| {
        let name = format!("{}:{}", element.attribute("group")?, element.attribute("name")?);
        let package =
            Package::new(Maven, name, element.line).version(element.attribute("version")?);
        Some(package.relation(Relation::Unknown))
    };
    Document { packages: found.iter().filter_map(entry).collect(), ..Document::default() }
}
