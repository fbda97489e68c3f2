//! What the documentation reviewer sees: docs, comments and changelogs that no longer agree with the code.

mod changelog;
mod comments;
mod fences;
mod habit;
mod links;
mod mentions;
mod parameters;

use std::collections::HashSet;

use quorum_model::scope::{FileEntry, FileKind, Flag};

use super::facts::FileFacts;
use crate::finding::RuleFinding;
use crate::source::{ParsedFile, Sources};
use links::Link;

/// The agent that reports what this module finds.
pub(super) const AGENT: &str = "documentation-reviewer";

/// Whether the file is text for people.
pub(super) fn takes(entry: &FileEntry, _: Option<&str>) -> bool {
    is_markdown(&entry.path)
        || entry.kind == FileKind::Prose
        || entry.has(Flag::Docs)
        || entry.has(Flag::Changelog)
}

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    if super::is_foreign(file) {
        return;
    }
    if is_markdown(file.path()) {
        fences::check(file, findings);
        links::check(file, findings);
    }
    if let (Some(lang), Some(tree)) = (file.lang, &file.tree) {
        parameters::check(file, lang, tree.root_node(), findings);
        comments::check(file, lang, tree.root_node(), findings);
    }
}

/// What the whole change shows.
pub(crate) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    if files.iter().any(|file| file.is_whole) {
        links::conclude(files, sources, findings);
        return;
    }
    habit::conclude(files, sources, findings);
    mentions::conclude(files, sources, findings);
    changelog::conclude(files, sources, findings);
    links::conclude(files, sources, findings);
}

/// What is kept of a file for the documentation of the whole change.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocsFacts {
    /// Words that added lines of prose contain.
    announced: HashSet<String>,
    /// Links on added lines to other files.
    links: Vec<Link>,
    /// Public items before the change, and how many of them were documented.
    habit: (usize, usize),
}

/// No more words of one file are kept.
const MOST_WORDS: usize = 5000;

impl DocsFacts {
    pub(crate) fn of(file: &ParsedFile) -> Self {
        let mut facts = Self::default();
        if super::is_foreign(file) {
            return facts;
        }
        let entry = &file.source.entry;
        let is_prose =
            entry.kind == FileKind::Prose || entry.has(Flag::Docs) || entry.has(Flag::Changelog);
        if is_prose && file.source.added.is_some() {
            for (number, line) in (1u64..).zip(file.text().lines()) {
                if file.source.is_added(number) && facts.announced.len() < MOST_WORDS {
                    let words =
                        line.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$'));
                    facts.announced.extend(
                        words
                            .filter(|word| word.len() > 2)
                            .map(|word| word.trim_matches('-').to_owned()),
                    );
                }
            }
        }
        if is_markdown(file.path()) {
            facts.links = links::outgoing(file);
        }
        facts.habit = habit::of(file);
        facts
    }

    /// Whether the change tells its readers about a name.
    pub(crate) fn announces(&self, name: &str) -> bool {
        let name = name.rsplit(' ').next().unwrap_or_default().trim_matches('-');
        self.announced.contains(name)
    }
}

fn is_markdown(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.ends_with(".md") || lower.ends_with(".markdown")
}

/// Whether a path is documentation for people, rather than a list of what once changed.
fn is_guide(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let is_prose =
        [".md", ".markdown", ".rst", ".adoc", ".txt"].iter().any(|ending| name.ends_with(ending));
    let is_history = [
        "changelog",
        "changes",
        "history",
        "news",
        "release",
        "migrat",
        "upgrad",
        "license",
        "copying",
        "authors",
        "contributors",
        "requirements",
        "cmakelists",
        "todo",
        "roadmap",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let is_foreign = lower.split('/').any(|part| {
        matches!(
            part,
            "node_modules"
                | "vendor"
                | "third_party"
                | "testdata"
                | "fixtures"
                | "test"
                | "tests"
                | "__tests__"
                | "snapshots"
                | ".github"
        )
    });
    is_prose && !is_history && !is_foreign
}
