//! Gradle's lock file, version catalogue, and the plain dependencies of its build files.

use super::tree::Node;
use super::{Document, Package, Relation, exact};
use crate::Ecosystem::Maven;

/// `group:artifact:version=configurations`.
pub(super) fn lock(text: &str) -> Document {
    let mut packages = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("empty=") {
            continue;
        }
        let (coordinates, configurations) = line.split_once('=').unwrap_or((line, ""));
        if let [group, artifact, version] = coordinates.split(':').collect::<Vec<_>>()[..] {
            let dev = !configurations.is_empty()
                && configurations.split(',').all(|name| name.to_ascii_lowercase().contains("test"));
            let package =
                Package::new(Maven, format!("{group}:{artifact}"), number).version(version);
            packages.push(package.relation(Relation::Unknown).dev(dev));
        }
    }
    Document { packages, ..Document::default() }
}

/// The configurations whose dependencies end up in what is built or tested.
const CONFIGURATIONS: &[&str] = &[
    "implementation",
    "api",
    "compile",
    "compileonly",
    "runtimeonly",
    "runtime",
    "testimplementation",
    "testcompile",
    "testruntimeonly",
    "annotationprocessor",
    "kapt",
    "ksp",
    "classpath",
    "androidtestimplementation",
    "debugimplementation",
    "releaseimplementation",
    "testcompileonly",
    "compileonlyapi",
    "providedcompile",
];

/// Dependencies that stand as text: `implementation "group:artifact:version"`, or with names.
pub(super) fn build(text: &str) -> Document {
    let mut packages = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim();
        if code.starts_with("//") || code.starts_with('*') {
            continue;
        }
        let end = code.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(code.len());
        let configuration = code[..end].to_ascii_lowercase();
        if !CONFIGURATIONS.contains(&configuration.as_str()) {
            continue;
        }
        let dev = configuration.contains("test");
        let strings = strings(code);
        let named = |key: &str| {
            let at = code.find(&format!("{key}:")).or_else(|| code.find(&format!("{key} =")))?;
            strings.iter().find(|(start, _)| *start > at).map(|(_, text)| *text)
        };
        let coordinates = strings.iter().map(|(_, text)| *text).find(|text| text.contains(':'));
        let (name, version) = match (coordinates, named("group"), named("name")) {
            (Some(coordinates), _, _) => {
                let parts: Vec<&str> =
                    coordinates.split(['@']).next().unwrap_or("").split(':').collect();
                match parts[..] {
                    [group, artifact] => (format!("{group}:{artifact}"), None),
                    [group, artifact, version, ..] => {
                        (format!("{group}:{artifact}"), Some(version.to_owned()))
                    }
                    _ => continue,
                }
            }
            (None, Some(group), Some(artifact)) => {
                (format!("{group}:{artifact}"), named("version").map(str::to_owned))
            }
            _ => continue,
        };
        let mut package = Package::new(Maven, name, number).direct().dev(dev);
        package.version = version.as_deref().and_then(exact).map(str::to_owned);
        package.requirement = version;
        packages.push(package);
    }
    Document { packages, ..Document::default() }
}

/// The texts in quotes of a line, with their places.
fn strings(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(['"', '\'']).map(|start| at + start) {
        let quote = line.as_bytes()[start];
        let Some(length) = line.as_bytes()[start + 1..].iter().position(|&byte| byte == quote)
        else {
            break;
        };
        found.push((start, &line[start + 1..start + 1 + length]));
        at = start + length + 2;
    }
    found
}

/// `[libraries]` with versions of their own or by reference to `[versions]`.
pub(super) fn catalog(root: &Node) -> Document {
    let version = |node: &Node| -> Option<(String, u64)> {
        let stated = node.get("version")?;
        if let Some(text) = stated.text() {
            return Some((text.to_owned(), node.line));
        }
        let reference = stated.text_at("ref")?;
        let referred = root.at(&["versions", reference])?;
        let text = referred.text().or_else(|| referred.text_at("strictly"))?;
        Some((text.to_owned(), referred.line))
    };
    let mut packages = Vec::new();
    for (_, node) in root.entries_at("libraries") {
        let parts: Option<Vec<&str>> = node.text().map(|text| text.split(':').collect());
        let (name, stated) = match parts.as_deref() {
            Some([group, artifact, version]) => {
                (format!("{group}:{artifact}"), Some(((*version).to_owned(), node.line)))
            }
            Some(_) => continue,
            None => {
                let module = node.text_at("module").map(str::to_owned).or_else(|| {
                    Some(format!("{}:{}", node.text_at("group")?, node.text_at("name")?))
                });
                match module {
                    Some(module) => (module, version(node)),
                    None => continue,
                }
            }
        };
        let line = stated.as_ref().map_or(node.line, |(_, line)| *line);
        let mut package = Package::new(Maven, name, line).direct();
        package.version = stated.as_ref().and_then(|(text, _)| exact(text)).map(str::to_owned);
        package.requirement = stated.map(|(text, _)| text);
        packages.push(package);
    }
    Document { packages, ..Document::default() }
}
