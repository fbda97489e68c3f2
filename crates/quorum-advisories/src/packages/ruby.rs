//! Bundler's files.

use super::{Document, Origin, Package, ReadError, Relation, is_commit, source};
use crate::Ecosystem::RubyGems;

/// `gem 'name', '~> 1.0'`, one to a line; what Ruby computes is not followed.
pub(super) fn gemfile(text: &str) -> Document {
    let mut packages = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split('#').next().unwrap_or(line).trim();
        let Some(rest) = code.strip_prefix("gem ").or_else(|| code.strip_prefix("gem(")) else {
            continue;
        };
        let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
        let Some(name) = parts.first().and_then(|part| quoted(part)) else { continue };
        let requirement: Vec<&str> = parts[1..].iter().filter_map(|part| quoted(part)).collect();
        let mut package = Package::new(RubyGems, name, number).direct();
        package.requirement = Some(requirement.join(", "));
        let exact = requirement.first().map(|text| text.trim_start_matches(['=', ' ']));
        package.version = exact
            .filter(|text| text.starts_with(|c: char| c.is_ascii_digit()) && requirement.len() == 1)
            .map(str::to_owned);
        if let Some(url) = option(&parts, &["git", "github", "gitlab", "bitbucket"]) {
            let pinned = option(&parts, &["ref"]).is_some_and(is_commit);
            package.origin = Origin::Git { url: url.to_owned(), pinned };
        } else if option(&parts, &["path"]).is_some() {
            package.origin = Origin::Path;
        }
        packages.push(package);
    }
    Document { packages, ..Document::default() }
}

fn quoted(part: &str) -> Option<&str> {
    let part = part.trim_end_matches(')');
    let quote = part.chars().next().filter(|quote| "'\"".contains(*quote))?;
    part[1..].strip_suffix(quote)
}

/// The value of `key: 'value'` or `:key => 'value'`.
fn option<'a>(parts: &[&'a str], keys: &[&str]) -> Option<&'a str> {
    parts.iter().find_map(|part| {
        let (key, value) = part.split_once("=>").or_else(|| part.split_once(": "))?;
        let key = key.trim().trim_start_matches(':');
        keys.contains(&key).then(|| quoted(value.trim()))?
    })
}

pub(super) fn lock(text: &str) -> Result<Document, ReadError> {
    let mut packages: Vec<Package> = Vec::new();
    let mut direct: Vec<String> = Vec::new();
    let mut sums: Vec<(String, Vec<String>)> = Vec::new();
    let (mut section, mut remote, mut revision) = ("", String::new(), String::new());
    let mut known = text.trim().is_empty();
    for (number, line) in (1..).zip(text.lines()) {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if indent == 0 {
            section = trimmed;
            known |= matches!(
                section,
                "GEM" | "GIT" | "PATH" | "DEPENDENCIES" | "PLATFORMS" | "BUNDLED WITH"
            );
            continue;
        }
        match (section, indent) {
            ("GIT" | "GEM" | "PATH", 2) => {
                let (key, value) = trimmed.split_once(": ").unwrap_or((trimmed, ""));
                match key {
                    "remote" => value.clone_into(&mut remote),
                    "revision" => value.clone_into(&mut revision),
                    _ => {}
                }
            }
            ("GIT" | "GEM" | "PATH", 4) => {
                if let Some((name, rest)) = trimmed.split_once(" (") {
                    let version = without_platform(rest.trim_end_matches(')'));
                    let origin = match section {
                        "GIT" => Origin::Git { url: remote.clone(), pinned: is_commit(&revision) },
                        "PATH" => Origin::Path,
                        _ => Origin::Registry,
                    };
                    let from = Some(&remote).filter(|_| origin != Origin::Path);
                    let package = Package::new(RubyGems, name, number).version(version);
                    let from = from.and_then(|remote| source::address(remote));
                    packages.push(package.origin(origin).source(from));
                }
            }
            ("CHECKSUMS", 2) => sums.extend(checksum(trimmed)),
            ("DEPENDENCIES", 2) => {
                let name = trimmed.split([' ', '!']).next().unwrap_or(trimmed);
                direct.push(name.to_owned());
            }
            _ => {}
        }
    }
    if !known {
        return Err(ReadError { format: "Gemfile.lock", cause: "no section in it".to_owned() });
    }
    for package in &mut packages {
        let asked = direct.contains(&package.name);
        package.relation = if asked { Relation::Direct } else { Relation::Transitive };
        if !sums.is_empty() && package.origin == Origin::Registry {
            let own = sums.iter().filter(|(name, _)| *name == package.name);
            package.hashes = Some(own.flat_map(|(_, hashes)| hashes.clone()).collect());
        }
    }
    Ok(Document { packages, ..Document::default() })
}

/// `name (1.2.3) sha256=…`; a package that was not fetched yet has no hash.
fn checksum(line: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = line.split_once(" (")?;
    let hashes = rest.split_once(')')?.1.split(',').map(str::trim);
    let hashes = hashes.filter(|hash| !hash.is_empty()).map(str::to_owned);
    Some((name.to_owned(), hashes.collect()))
}

/// `1.2.3-x86_64-linux` is version `1.2.3`.
fn without_platform(version: &str) -> &str {
    version.split_once('-').map_or(version, |(version, _)| version)
}
