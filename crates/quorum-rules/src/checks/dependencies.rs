//! What a change does to the packages that a project uses.
//!
//! Known flaws come from the database of advisories that the user imported. What needs none is
//! looked at in any case: where packages come from, what runs when they are installed, whether the
//! lock file follows the manifest and keeps to known sources and hashes, names that are nearly those of others, licences.

mod advisories;
mod hygiene;
mod lock;
mod look_alike;
mod usage;

use std::collections::BTreeSet;

use quorum_advisories::packages::Format;
use quorum_advisories::{Document, Package, Relation, packages};

use crate::finding::RuleFinding;
use crate::review::Note;
use crate::source::{ParsedFile, Sources};

pub(super) const AGENT: &str = "vulnerability-reviewer";

/// Whether the file names packages.
pub(super) fn takes(entry: &quorum_model::scope::FileEntry, _: Option<&str>) -> bool {
    Format::of(&entry.path).is_some()
}

/// A manifest or lock file with what the change does to it.
struct Change<'a> {
    file: &'a ParsedFile,
    format: Format,
    head: Document,
    base: Option<Document>,
}

impl<'a> Change<'a> {
    fn of(file: &'a ParsedFile) -> Option<Result<Self, String>> {
        let format = Format::of(file.path())?;
        let text = file.source.head.as_deref()?;
        // A bare diff shows parts of the file at most; what can be read of it is read.
        let head = match packages::read_as(format, text) {
            Ok(head) => head,
            Err(error) => return Some(Err(error.to_string())),
        };
        let base =
            file.source.base.as_deref().and_then(|base| packages::read_as(format, base).ok());
        Some(Ok(Self { file, format, head, base }))
    }

    /// The packages that the change adds or gives another version; all of them in a whole file.
    fn changed(&self) -> Vec<&Package> {
        let key = |package: &Package| {
            let version = package.version.clone().or_else(|| package.requirement.clone());
            (package.name.clone(), version, package.origin != quorum_advisories::Origin::Registry)
        };
        let known: BTreeSet<_> =
            self.base.iter().flat_map(|base| &base.packages).map(key).collect();
        self.head.packages.iter().filter(|package| !known.contains(&key(package))).collect()
    }

    /// The packages whose name is new.
    fn added(&self) -> Vec<&Package> {
        let Some(base) = &self.base else { return self.head.packages.iter().collect() };
        let known: BTreeSet<&str> =
            base.packages.iter().map(|package| package.name.as_str()).collect();
        let new = self.head.packages.iter();
        new.filter(|package| !known.contains(package.name.as_str())).collect()
    }

    /// The line of the file, trimmed.
    fn quote(&self, line: u64) -> &'a str {
        let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        self.file.line(at).unwrap_or_default().trim()
    }

    /// A file beside this one, or in a folder above it.
    fn beside(
        &self,
        names: &[&str],
        sources: &dyn Sources,
    ) -> Option<(String, std::sync::Arc<str>)> {
        let mut folder = self.file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        loop {
            for name in names {
                let path =
                    if folder.is_empty() { (*name).to_owned() } else { format!("{folder}/{name}") };
                if let Some(text) = sources.read(&path, crate::source::Side::Head) {
                    return Some((path, text));
                }
            }
            if folder.is_empty() {
                return None;
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
}

/// Looks at a manifest or lock file.
pub(crate) fn check(file: &ParsedFile, sources: &dyn Sources, findings: &mut Vec<RuleFinding>) {
    if let Some(Ok(change)) = Change::of(file) {
        advisories::check(&change, sources, findings);
        hygiene::check(&change, sources, findings);
        lock::check(&change, sources, findings);
        look_alike::check(&change, findings);
    }
}

/// What a reader should know about how this file was looked at.
pub(crate) fn notes(file: &ParsedFile, sources: &dyn Sources) -> Vec<Note> {
    let note = |cause: String| Note { file: file.path().to_owned(), agent: Some(AGENT), cause };
    match Change::of(file) {
        Some(Err(error)) => vec![note(format!("its packages were not checked: {error}"))],
        Some(Ok(change)) if sources.advisories().is_none() && !change.changed().is_empty() => {
            vec![note(NOT_COMPARED.to_owned())]
        }
        Some(Ok(_)) | None => Vec::new(),
    }
}

/// What is said of packages that a change brings and that were not compared with advisories.
pub(crate) const NOT_COMPARED: &str = "not compared with known vulnerabilities: there is no \
     advisory database (`quorum advisories import` makes one)";

fn relation(package: &Package) -> &'static str {
    match (package.relation, package.dev) {
        (Relation::Direct, false) => "a direct dependency",
        (Relation::Direct, true) => "a direct dependency for development",
        (Relation::Transitive, false) => "a transitive dependency",
        (Relation::Transitive, true) => "a transitive dependency for development",
        (Relation::Unknown, false) => "a dependency",
        (Relation::Unknown, true) => "a dependency for development",
    }
}

#[cfg(test)]
mod tests;
