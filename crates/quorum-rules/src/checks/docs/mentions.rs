//! Guides that still name what the change takes away.

use quorum_model::severity::Severity;

use super::AGENT;
use crate::checks::facts::FileFacts;
use crate::checks::rule::CodeRule;
use crate::checks::search::{find_word, in_code};
use crate::finding::RuleFinding;
use crate::source::{Side, Sources};

pub(crate) const RULE: CodeRule = CodeRule {
    id: "docs.stale-mention",
    agent: AGENT,
    category: "outdated",
    severity: Severity::Medium,
    confidence: 0.7,
};

/// No more guides are read for one change, and no more names are looked for.
const MOST_GUIDES: usize = 200;
const MOST_NAMES: usize = 40;

pub(super) fn conclude(
    files: &[FileFacts],
    sources: &dyn Sources,
    findings: &mut Vec<RuleFinding>,
) {
    let names = gone(files, sources);
    if names.is_empty() {
        return;
    }
    for path in sources.paths().iter().filter(|path| super::is_guide(path)).take(MOST_GUIDES) {
        let Some(text) = sources.read(path, Side::Head) else { continue };
        for name in &names {
            let Some((line, quote)) = mention(&text, name) else { continue };
            let issue =
                format!("This still speaks of `{name}`, which the change removes or renames.");
            let mut found = RULE.on(
                path,
                (line, line),
                quote,
                issue,
                "Say what takes its place, or remove the passage.",
            );
            found.caused = true;
            findings.push(found);
            // One remark for each page is enough to open it.
            break;
        }
    }
}

/// Names that are gone from the code: public items, flags, variables, routes, keys, files.
fn gone(files: &[FileFacts], sources: &dyn Sources) -> Vec<String> {
    let mut names: Vec<(String, &FileFacts)> = Vec::new();
    for file in files {
        for item in &file.api.removed {
            let returns = files
                .iter()
                .flat_map(|other| &other.api.added)
                .any(|added| added.own_name_plain() == item.own_name_plain());
            if !returns && is_telling(item.own_name_plain()) {
                names.push((item.own_name_plain().to_owned(), file));
            }
        }
        for lost in &file.api.lost {
            let name = lost.name.rsplit(' ').next().unwrap_or_default();
            let stays =
                files.iter().flat_map(|other| &other.api.kept).any(|kept| kept.name == lost.name);
            if !stays && (name.starts_with("--") || is_telling(name)) {
                names.push((name.to_owned(), file));
            }
        }
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    names.dedup_by(|a, b| a.0 == b.0);
    names.truncate(MOST_NAMES);
    names
        .into_iter()
        .filter(|(name, file)| !in_code(sources, file.lang, name, files))
        .map(|(name, _)| name)
        .collect()
}

/// Whether a name is odd enough to be nothing else in prose.
fn is_telling(name: &str) -> bool {
    let inner_capital =
        name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    name.len() >= 5
        && (inner_capital
            || name.contains('_')
            || name.contains('/')
            || name.contains('-') && name.starts_with("--"))
}

fn mention<'s>(text: &'s str, name: &str) -> Option<(u64, &'s str)> {
    find_word(text, name)?;
    (1u64..)
        .zip(text.lines())
        .find(|(_, line)| {
            let says_gone = [
                "deprecated",
                "removed",
                "no longer",
                "renamed",
                "formerly",
                "used to",
                "previously",
            ]
            .iter()
            .any(|word| line.to_ascii_lowercase().contains(word));
            find_word(line, name).is_some() && !says_gone
        })
        .map(|(number, line)| (number, line.trim()))
}
