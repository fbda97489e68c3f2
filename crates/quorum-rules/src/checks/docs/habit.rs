//! Public items without documentation, where the file documents its others.

use quorum_model::scope::Flag;
use quorum_model::severity::Severity;
use quorum_syntax::Lang;

use super::AGENT;
use crate::checks::api::{
    self,
    item::{Item, Kind},
};
use crate::checks::facts::FileFacts;
use crate::checks::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::{ParsedFile, Side, Sources};

pub(crate) const RULE: CodeRule = CodeRule {
    id: "docs.undocumented",
    agent: AGENT,
    category: "completeness",
    severity: Severity::Low,
    confidence: 0.65,
};

/// A habit needs this many cases.
const CASES: usize = 5;

/// How many public items there were before the change, and how many had documentation.
pub(super) fn of(file: &ParsedFile) -> (usize, usize) {
    let (Some(lang), Some(tree)) = (file.lang, &file.base_tree) else { return (0, 0) };
    if file.source.entry.has(Flag::Test) {
        return (0, 0);
    }
    count(&api::items(
        tree.root_node(),
        lang,
        file.source.base.as_deref().unwrap_or_default(),
        file.path(),
    ))
}

fn count(items: &[Item]) -> (usize, usize) {
    let counted = || items.iter().filter(|item| is_worth_docs(item));
    (counted().count(), counted().filter(|item| item.documented).count())
}

fn is_worth_docs(item: &Item) -> bool {
    matches!(item.kind, Kind::Function | Kind::Method | Kind::Required | Kind::Type)
        && !item.own_name_plain().starts_with("__")
}

/// Nine of ten, and enough of them.
fn is_habit((all, documented): (usize, usize)) -> bool {
    all >= CASES && documented * 10 >= all * 9
}

pub(super) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    for file in files {
        let moved = |item: &Item| {
            files
                .iter()
                .flat_map(|other| &other.api.removed)
                .any(|gone| gone.own_name() == item.own_name())
        };
        let bare: Vec<&Item> = file
            .api
            .added
            .iter()
            .filter(|item| is_worth_docs(item) && !item.documented && !moved(item))
            .collect();
        let Some(first) = bare.first() else { continue };
        let Some(lang) = file.lang else { continue };
        let habit =
            if file.docs.habit.0 == 0 { neighbours(file, lang, sources) } else { file.docs.habit };
        if !is_habit(habit) {
            continue;
        }
        let others = match bare.len() - 1 {
            0 => String::new(),
            1 => format!(", and so is `{}`", bare[1].name),
            more => format!(", and so are {more} more"),
        };
        let issue = format!(
            "`{}` is public and not documented{others}. {} of the {} public items around it are.",
            first.name, habit.1, habit.0
        );
        findings.push(RULE.on(
            file.path(),
            (first.line, first.line),
            first.quote.clone(),
            issue,
            "Say what it does, what it needs, and when it fails.",
        ));
    }
}

/// The habit of a new file's folder, by one file of it.
fn neighbours(file: &FileFacts, lang: Lang, sources: &dyn Sources) -> (usize, usize) {
    let folder = file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let paths = sources.paths();
    let start = paths.partition_point(|path| path.as_str() < prefix.as_str());
    let siblings = paths[start..]
        .iter()
        .take_while(|path| path.starts_with(&prefix))
        .filter(|path| {
            !path[prefix.len()..].contains('/')
                && Lang::from_path(path) == Some(lang)
                && path.as_str() != file.path()
                && !path.contains("test")
        })
        .take(3);
    siblings.fold((0, 0), |(all, documented), path| {
        let Some(text) = sources.read(path, Side::Head) else { return (all, documented) };
        let Ok(tree) = quorum_syntax::parse(text.as_bytes(), lang) else {
            return (all, documented);
        };
        let (more, docs) = count(&api::items(tree.root_node(), lang, &text, path));
        (all + more, documented + docs)
    })
}
