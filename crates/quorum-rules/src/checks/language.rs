//! What the language reviewers see that needs more than one place of a file.

mod async_calls;
mod go;
mod java;
mod leaks;
mod python;
mod rust;

use quorum_model::severity::Severity;
use quorum_syntax::Lang;

use super::rule::CodeRule;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// Looks at one file.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let (Some(lang), Some(tree)) = (file.lang, &file.tree) else { return };
    let root = tree.root_node();
    match lang {
        Lang::Go => go::check(file, root, findings),
        Lang::Rust => rust::check(file, root, findings),
        Lang::Python => python::check(file, root, findings),
        Lang::Java => java::check(file, root, findings),
        _ => {}
    }
    async_calls::check(file, lang, root, findings);
    leaks::check(file, lang, root, findings);
}

/// The reviewer of a language.
fn agent(lang: Lang) -> &'static str {
    match lang {
        Lang::Go => "go-reviewer",
        Lang::Rust => "rust-reviewer",
        Lang::Python => "python-reviewer",
        Lang::Java => "java-reviewer",
        _ => "typescript-reviewer",
    }
}

const fn rule(
    id: &'static str,
    agent: &'static str,
    category: &'static str,
    severity: Severity,
    confidence: f64,
) -> CodeRule {
    CodeRule { id, agent, category, severity, confidence }
}
