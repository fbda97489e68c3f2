//! Go's module file and its sums.

use std::collections::BTreeMap;

use super::{Document, Package, ReadError, Relation};
use crate::Ecosystem::Go;

/// Which version is replaced, where not all are, and by what: a folder has no name and version.
type Replacement = (Option<String>, Option<(String, String)>);

pub(super) fn module(text: &str) -> Result<Document, ReadError> {
    let mut packages: Vec<Package> = Vec::new();
    let mut replaced: BTreeMap<String, Replacement> = BTreeMap::new();
    let mut block: Option<String> = None;
    let mut known = false;
    for (number, line) in (1..).zip(text.lines()) {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let words: Vec<&str> = code.split_whitespace().collect();
        let (directive, rest) = match (&block, words.as_slice()) {
            (_, []) => continue,
            (Some(_), [")"]) => {
                block = None;
                continue;
            }
            (Some(open), words) => (open.clone(), words.to_vec()),
            (None, [directive, "("]) => {
                block = Some((*directive).to_owned());
                known = true;
                continue;
            }
            (None, [directive, rest @ ..]) => ((*directive).to_owned(), rest.to_vec()),
        };
        match (directive.as_str(), rest.as_slice()) {
            ("module" | "go" | "godebug" | "exclude" | "retract" | "tool" | "ignore", _) => {
                known = true;
            }
            // The version in `go` is the least that will do, not the one that builds.
            ("toolchain", [version]) => {
                known = true;
                let version = version.strip_prefix("go").unwrap_or(version);
                packages.push(Package::new(Go, "stdlib", number).version(version).direct());
            }
            ("require", [name, version, ..]) => {
                known = true;
                let indirect = comment.trim().starts_with("indirect");
                let relation = if indirect { Relation::Transitive } else { Relation::Direct };
                let package = Package::new(Go, unquote(name), number).version(plain(version));
                packages.push(package.relation(relation));
            }
            ("replace", words) => {
                known = true;
                if let Some(arrow) = words.iter().position(|word| *word == "=>") {
                    let (from, to) = (&words[..arrow], &words[arrow + 1..]);
                    let target = match to {
                        [name, version] => Some((unquote(name), plain(version))),
                        _ => None,
                    };
                    if let Some(name) = from.first() {
                        let of = from.get(1).map(|version| plain(version));
                        replaced.insert(unquote(name), (of, target));
                    }
                }
            }
            _ => {}
        }
    }
    if !known && text.lines().any(|line| !line.trim().is_empty()) {
        return Err(ReadError { format: "go.mod", cause: "no directive in it".to_owned() });
    }
    packages.retain_mut(|package| match replaced.get(&package.name) {
        Some((of, target)) if of.is_none() || *of == package.version => match target {
            Some((name, version)) => {
                package.name.clone_from(name);
                package.version = Some(version.clone());
                true
            }
            // Replaced by a folder: no registry has it.
            None => false,
        },
        _ => true,
    });
    Ok(Document { packages, ..Document::default() })
}

fn unquote(word: &str) -> String {
    word.trim_matches(['"', '`']).to_owned()
}

/// Advisories name versions without their `v`.
fn plain(version: &str) -> String {
    let version = version.trim_matches(['"', '`']);
    version.strip_prefix('v').unwrap_or(version).to_owned()
}

/// The sums name more versions than are built; they tell what was looked at.
pub(super) fn sums(text: &str) -> Result<Document, ReadError> {
    let mut packages = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [name, version, hash] if hash.starts_with("h1:") => {
                if !version.ends_with("/go.mod") {
                    let package = Package::new(Go, *name, number).version(plain(version));
                    packages.push(package.hashes([*hash]));
                }
            }
            _ => {
                let cause = format!("line {number} is no name, version and hash");
                return Err(ReadError { format: "go.sum", cause });
            }
        }
    }
    Ok(Document { packages, ..Document::default() })
}
