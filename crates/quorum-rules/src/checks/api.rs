//! What users of the software rely on, and what a change takes from them.

mod compare;
mod go;
pub(crate) mod item;
mod java;
mod openapi;
mod proto;
mod python;
mod report;
mod rust;
mod script;
pub(crate) mod surface;

use quorum_model::scope::{FileEntry, Flag};
use quorum_syntax::{Lang, Node};

pub(crate) use report::conclude;

use crate::source::{ParsedFile, lang_of};
use item::{Break, Item};
use surface::Surface;

/// The agent that reports what this module finds.
pub(super) const AGENT: &str = "user-persona-reviewer";

/// Whether the file describes an interface in a form of its own.
pub(super) fn takes(entry: &FileEntry, text: Option<&str>) -> bool {
    let path = &*entry.path;
    let described =
        || text.is_some_and(|text| text.contains("openapi") || text.contains("swagger"));
    path.ends_with(".proto")
        || path.ends_with("Cargo.toml")
        || (matches!(lang_of(entry), Some(Lang::Yaml | Lang::Json)) && described())
}

/// What a file gives to users, before and after the change.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiFacts {
    /// Public items that were there before and are not any more.
    pub(crate) removed: Vec<Item>,
    /// Names of public items that are new in this file.
    pub(crate) added: Vec<Item>,
    /// Public items that changed so that callers may break.
    pub(crate) broken: Vec<(Item, Break)>,
    /// Flags, variables, routes and keys that are gone from this file.
    pub(crate) lost: Vec<Surface>,
    /// Those that are there after the change.
    pub(crate) kept: Vec<Surface>,
    /// Those that are new.
    pub(crate) gained: Vec<Surface>,
}

impl ApiFacts {
    pub(crate) fn of(file: &ParsedFile) -> Self {
        if super::is_foreign(file)
            || file.source.entry.has(Flag::Test)
            || file.source.added.is_none()
        {
            return Self::default();
        }
        let mut facts = Self::default();
        let path = file.path();
        let old_path = file.source.entry.old_path.as_deref().unwrap_or(path);
        if path.ends_with(".proto") || old_path.ends_with(".proto") {
            facts.broken = proto::breaks(file);
        } else if matches!(file.lang, Some(Lang::Yaml | Lang::Json)) {
            facts.broken = openapi::breaks(file);
        }
        if path.ends_with("Cargo.toml") {
            facts.kept = surface::features(file.text());
            let before = surface::features(file.source.base.as_deref().unwrap_or_default());
            facts.lost = before
                .into_iter()
                .filter(|old| !facts.kept.iter().any(|new| new.names(old)))
                .collect();
            for lost in &mut facts.lost {
                lost.line = super::place_of_removed(file, lost.line, &lost.quote);
                lost.quote = super::quoted_as_removed(&lost.quote);
            }
            return facts;
        }
        let Some(lang) = file.lang else { return facts };
        let base_text = file.source.base.as_deref().unwrap_or_default();
        let before = file
            .base_tree
            .as_ref()
            .map(|tree| items(tree.root_node(), lang, base_text, old_path))
            .unwrap_or_default();
        let after = file
            .tree
            .as_ref()
            .map(|tree| items(tree.root_node(), lang, file.text(), path))
            .unwrap_or_default();
        compare::compare(file, lang, &before, &after, &mut facts);
        if is_internal(path) {
            return facts;
        }
        let before = file
            .base_tree
            .as_ref()
            .map(|tree| surface::surfaces(tree.root_node(), lang, base_text))
            .unwrap_or_default();
        facts.kept = file
            .tree
            .as_ref()
            .map(|tree| surface::surfaces(tree.root_node(), lang, file.text()))
            .unwrap_or_default();
        facts.lost = before
            .iter()
            .filter(|old| !facts.kept.iter().any(|new| new.names(old)))
            .cloned()
            .collect();
        facts.gained = facts
            .kept
            .iter()
            .filter(|new| !before.iter().any(|old| old.names(new)))
            .cloned()
            .collect();
        for lost in &mut facts.lost {
            lost.line = super::place_of_removed(file, lost.line, &lost.quote);
            lost.quote = super::quoted_as_removed(&lost.quote);
        }
        facts
    }
}

/// The public items of a file.
pub(crate) fn items(root: Node<'_>, lang: Lang, source: &str, path: &str) -> Vec<Item> {
    if is_internal(path) {
        return Vec::new();
    }
    match lang {
        Lang::Go => go::items(root, source),
        Lang::Rust => rust::items(root, source),
        Lang::Python => python::items(root, source, path),
        Lang::JavaScript | Lang::TypeScript | Lang::Tsx => script::items(root, source),
        Lang::Java => java::items(root, source),
        _ => Vec::new(),
    }
}

/// Whether a path says that it is not for others.
fn is_internal(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.to_ascii_lowercase();
        matches!(
            part.as_str(),
            "internal"
                | "examples"
                | "example"
                | "_examples"
                | "benches"
                | "benchmarks"
                | "tests"
                | "test"
                | "testdata"
                | "fixtures"
                | "scripts"
                | "tools"
                | "docs"
                | "doc"
                | "demo"
                | "demos"
                | "playground"
                | "samples"
                | "fuzz"
                | "xtask"
                | "setup.py"
                | "conftest.py"
                | "build.rs"
                | "vendor"
                | "third_party"
                | "packages-private"
                | "e2e"
                | "__tests__"
                | "cmd"
        )
    })
}
