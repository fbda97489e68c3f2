//! One finding for each file about what it takes from its users.

use std::collections::{BTreeMap, HashSet};

use quorum_model::severity::Severity;
use quorum_syntax::Lang;

use super::AGENT;
use super::item::{Item, Kind};
use super::surface::{Surface, SurfaceKind};
use crate::checks::facts::FileFacts;
use crate::checks::rule::CodeRule;
use crate::checks::search;
use crate::finding::RuleFinding;
use crate::source::{Side, Sources};

pub(crate) const REMOVED: CodeRule = CodeRule {
    id: "api.removed",
    agent: AGENT,
    category: "breaking-change",
    severity: Severity::Medium,
    confidence: 0.7,
};
pub(crate) const CHANGED: CodeRule = CodeRule {
    id: "api.changed",
    agent: AGENT,
    category: "breaking-change",
    severity: Severity::Medium,
    confidence: 0.7,
};
pub(crate) const SURFACE: CodeRule = CodeRule {
    id: "api.setting-removed",
    agent: AGENT,
    category: "breaking-change",
    severity: Severity::Medium,
    confidence: 0.7,
};

/// This many names are spelt out; the rest is counted.
const NAMED: usize = 4;

/// What the whole change takes from users.
pub(crate) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    let announced = |name: &str| files.iter().any(|file| file.docs.announces(name));
    for file in files {
        let public = Public::new(file, sources);
        removed(file, files, &public, &announced, findings);
        changed(file, &public, &announced, findings);
    }
    surfaces(files, sources, &announced, findings);
}

/// Whether others can reach the items of a file.
struct Public<'a> {
    file: &'a FileFacts,
    sources: &'a dyn Sources,
}

impl<'a> Public<'a> {
    fn new(file: &'a FileFacts, sources: &'a dyn Sources) -> Self {
        Self { file, sources }
    }

    fn reaches(&self, item: &Item) -> bool {
        match self.file.lang {
            Some(Lang::Rust) => self.rust_module_is_public(item),
            Some(Lang::JavaScript | Lang::TypeScript | Lang::Tsx) => self.entry_exports(item),
            Some(Lang::Python) => self.is_packaged(),
            _ => true,
        }
    }

    /// A Python file that is a module of a package, not a program's own.
    fn is_packaged(&self) -> bool {
        let path = self.file.path();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let init = if folder.is_empty() {
            "__init__.py".to_owned()
        } else {
            format!("{folder}/__init__.py")
        };
        self.sources.paths().is_empty() || self.sources.paths().binary_search(&init).is_ok()
    }

    /// Every module on the way from `lib.rs` is public, or the item is exported again.
    fn rust_module_is_public(&self, item: &Item) -> bool {
        let path = self.file.path();
        let Some((root, inner)) = path.rsplit_once("src/").filter(|_| path.ends_with(".rs")) else {
            return false;
        };
        let lib = format!("{root}src/lib.rs");
        if !self.sources.paths().is_empty() && self.sources.paths().binary_search(&lib).is_err() {
            return false;
        }
        if inner == "lib.rs" {
            return true;
        }
        if inner == "main.rs" || inner.starts_with("bin/") {
            return false;
        }
        let inner = inner.trim_end_matches(".rs").trim_end_matches("/mod");
        let name = item.name.split("::").next().unwrap_or_default();
        let mut parent = lib;
        let mut folder = format!("{root}src");
        let mut public = true;
        for module in inner.split('/') {
            let text = self
                .sources
                .read(&parent, Side::Base)
                .or_else(|| self.sources.read(&parent, Side::Head))
                .unwrap_or_default();
            let words: HashSet<&str> =
                text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let reexported = text.contains("pub use")
                && (words.contains(name)
                    || text.contains(&format!("pub use {module}::*"))
                    || text.contains(&format!("{module}::*")));
            if reexported && public {
                return true;
            }
            public = public && text.contains(&format!("pub mod {module}"));
            folder = format!("{folder}/{module}");
            let as_file = format!("{folder}.rs");
            parent = if self.sources.paths().binary_search(&as_file).is_ok() {
                as_file
            } else {
                format!("{folder}/mod.rs")
            };
        }
        public
    }

    /// The package's entry names the item, or exports all of its module.
    fn entry_exports(&self, item: &Item) -> bool {
        let path = self.file.path();
        let stem =
            path.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        let mut folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = item.name.split('.').next().unwrap_or_default();
        loop {
            for entry in ["index.ts", "index.js", "index.tsx", "index.mjs", "main.ts", "mod.ts"] {
                let candidate =
                    if folder.is_empty() { entry.to_owned() } else { format!("{folder}/{entry}") };
                if candidate == path {
                    return name != "default" || folder.is_empty() || folder.ends_with("src");
                }
                if let Some(text) = self.sources.read(&candidate, Side::Base) {
                    let words: HashSet<&str> = text
                        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
                        .collect();
                    return words.contains(name)
                        || (text.contains("export * from")
                            && (text.contains(&format!("/{stem}'"))
                                || text.contains(&format!("/{stem}\""))));
                }
            }
            if folder.is_empty() {
                return false;
            }
            folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
    }
}

fn removed(
    file: &FileFacts,
    files: &[FileFacts],
    public: &Public<'_>,
    announced: &dyn Fn(&str) -> bool,
    findings: &mut Vec<RuleFinding>,
) {
    let moved = |item: &Item| {
        files.iter().flat_map(|other| &other.api.added).any(|added| {
            added.own_name() == item.own_name()
                && added.kind == item.kind
                && added.line != 0
                && !std::ptr::eq(added, item)
        })
    };
    let gone: Vec<&Item> = file
        .api
        .removed
        .iter()
        .filter(|item| {
            item.kind != Kind::Required
                && !moved(item)
                && !announced(item.own_name_plain())
                && public.reaches(item)
        })
        .collect();
    let Some(first) = gone.first() else { return };
    let names = listed(gone.iter().map(|item| item.name.as_str()));
    let plural = gone.len() > 1;
    let kind = if plural { String::new() } else { format!("The {} ", first.kind.as_str()) };
    let issue = format!(
        "{kind}{names} {} no longer part of the public interface. Code outside this repository that uses {} breaks when it upgrades.",
        if plural { "are" } else { "is" },
        if plural { "them" } else { "it" }
    );
    let fix = if gone.iter().all(|item| item.deprecated) {
        "It was marked as deprecated. Name the removal and the replacement in the release notes."
    } else {
        "Keep the former name for one release, deprecated and forwarding to the new one, or name the removal and the replacement in the changelog."
    };
    let mut found =
        REMOVED.on(file.path(), (first.line, first.line), first.quote.clone(), issue, fix);
    if gone.iter().all(|item| item.deprecated) {
        found.severity = Severity::Low;
    }
    found.caused = true;
    findings.push(found);
}

fn changed(
    file: &FileFacts,
    public: &Public<'_>,
    announced: &dyn Fn(&str) -> bool,
    findings: &mut Vec<RuleFinding>,
) {
    let broken: Vec<_> = file
        .api
        .broken
        .iter()
        .filter(|(item, _)| {
            !announced(item.own_name_plain()) && (item.kind == Kind::Value || public.reaches(item))
        })
        .collect();
    let Some((first, change)) = broken.first() else { return };
    let others = match broken.len() - 1 {
        0 => String::new(),
        more => format!(
            " The same file changes {} too.",
            listed(broken.iter().skip(1).take(more).map(|(item, _)| item.name.as_str()))
        ),
    };
    let issue = format!("`{}` {}. {}{others}", first.name, change.what, change.impact);
    let fix = "Keep the former form working beside the new one for a release, or mark the change as breaking and give the steps in the changelog.";
    let mut found =
        CHANGED.on(file.path(), (first.line, first.line), first.quote.clone(), issue, fix);
    found.caused = true;
    findings.push(found);
}

/// `a`, `b` and 3 more.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        all if all.len() <= NAMED => {
            format!("{} and {}", all[..all.len() - 1].join(", "), all[all.len() - 1])
        }
        all => format!("{} and {} more", all[..NAMED - 1].join(", "), all.len() - NAMED + 1),
    }
}

fn surfaces(
    files: &[FileFacts],
    sources: &dyn Sources,
    announced: &dyn Fn(&str) -> bool,
    findings: &mut Vec<RuleFinding>,
) {
    let kept =
        |lost: &Surface| files.iter().flat_map(|file| &file.api.kept).any(|kept| kept.names(lost));
    let mut by_kind: BTreeMap<SurfaceKind, Vec<(&FileFacts, &Surface)>> = BTreeMap::new();
    for file in files {
        for lost in &file.api.lost {
            if !kept(lost) && !announced(&lost.name) {
                by_kind.entry(lost.kind).or_default().push((file, lost));
            }
        }
    }
    for (kind, lost) in by_kind {
        let word =
            |surface: &Surface| surface.name.rsplit(' ').next().unwrap_or_default().to_owned();
        let lost: Vec<_> = lost
            .into_iter()
            .filter(|(file, surface)| !search::in_code(sources, file.lang, &word(surface), files))
            .collect();
        let Some((file, first)) = lost.first() else { continue };
        let names = listed(lost.iter().map(|(_, surface)| surface.name.as_str()));
        let many = lost.len() > 1;
        let (what, who) = match kind {
            SurfaceKind::Flag => (
                if many { "command-line flags" } else { "command-line flag" },
                "Scripts and habits that use it fail with an unknown flag.",
            ),
            SurfaceKind::Variable => (
                if many { "environment variables" } else { "environment variable" },
                "Installations that set it are ignored without a word.",
            ),
            SurfaceKind::Route => {
                (if many { "routes" } else { "route" }, "Clients that call it get 404.")
            }
            SurfaceKind::Key => (
                if many { "keys" } else { "key" },
                "Files and messages that have it are read as if it were not there.",
            ),
            SurfaceKind::Feature => (
                if many { "features" } else { "feature" },
                "Packages that turn it on no longer resolve.",
            ),
            SurfaceKind::ExitCode => (
                if many { "exit codes" } else { "exit code" },
                "Scripts that test for it take another branch.",
            ),
        };
        let issue = format!("The {what} {names} {} gone. {who}", if many { "are" } else { "is" });
        let fix = match kind {
            SurfaceKind::ExitCode => {
                "Keep the former code for the former failure, or name the change in the changelog."
            }
            _ => {
                "Accept the former name for a release with a warning that names the new one, or name the removal in the changelog."
            }
        };
        let mut found =
            SURFACE.on(file.path(), (first.line, first.line), first.quote.clone(), issue, fix);
        if kind == SurfaceKind::Key {
            "config".clone_into(&mut found.category);
        }
        if kind == SurfaceKind::ExitCode {
            found.severity = Severity::Low;
            found.confidence = 0.5;
        }
        found.caused = true;
        findings.push(found);
    }
}
