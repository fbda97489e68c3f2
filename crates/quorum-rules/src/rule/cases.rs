//! The tests that a rule file carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorum_model::scope::{Change, FileEntry, FileKind};
use quorum_syntax::Lang;
use serde::Serialize;

use super::{Case, Rule, RuleSet};
use crate::review::examine;
use crate::source::{LineSet, ParsedFile, SourceFile};

/// A case that went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseFailure {
    /// The rule.
    pub rule: String,
    /// Which of its cases, from 1.
    pub case: usize,
    /// What was expected and what came.
    pub message: String,
}

/// What running the cases of some rules gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaseReport {
    /// How many rules have cases.
    pub rules: usize,
    /// How many cases there are.
    pub cases: usize,
    /// Those that went wrong.
    pub failures: Vec<CaseFailure>,
}

/// Runs the cases of a rule, with this rule alone.
pub fn run_cases<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> CaseReport {
    let mut report = CaseReport::default();
    for rule in rules {
        let set = RuleSet::single(rule);
        report.rules += 1;
        for (index, case) in rule.tests.iter().enumerate() {
            report.cases += 1;
            for &lang in &languages(rule, case) {
                if let Err(message) = run(&set, case, lang) {
                    let failure = CaseFailure { rule: rule.id.clone(), case: index + 1, message };
                    report.failures.push(failure);
                }
            }
        }
    }
    report
}

/// A case without a language is for each language of its rule.
fn languages(rule: &Rule, case: &Case) -> Vec<Lang> {
    case.language.map_or_else(|| rule.languages.clone(), |lang| vec![lang])
}

fn run(set: &RuleSet, case: &Case, lang: Lang) -> Result<(), String> {
    let code = case.find.as_deref().or(case.pass.as_deref()).unwrap_or_default();
    let path = case.path.clone().unwrap_or_else(|| format!("src/sample.{}", ending(lang)));
    let mut file = ParsedFile::new(source(&path, lang, code));
    file.lang = Some(lang);
    if let Some(tree) = &file.tree
        && tree.root_node().has_error()
        && case.path.is_none()
    {
        return Err(format!("the {lang} code of the case does not parse"));
    }
    let (found, _) = examine(set, &file);
    let lines: Vec<u64> = found.iter().map(|finding| finding.line).collect();
    if case.pass.is_some() {
        return if lines.is_empty() {
            Ok(())
        } else {
            Err(format!("{lang}: found something on line {lines:?}, nothing was expected"))
        };
    }
    let marked: Vec<u64> = (1..)
        .zip(code.lines())
        .filter(|(_, line)| line.contains("FIND"))
        .map(|(number, _)| number)
        .collect();
    if marked.is_empty() {
        return if lines.is_empty() { Err(format!("{lang}: found nothing")) } else { Ok(()) };
    }
    let mut unique = lines;
    unique.sort_unstable();
    unique.dedup();
    if unique == marked {
        Ok(())
    } else {
        Err(format!("{lang}: expected lines {marked:?}, found {unique:?}"))
    }
}

fn ending(lang: Lang) -> &'static str {
    match lang {
        Lang::Bash => "sh",
        Lang::C => "c",
        Lang::Cpp => "cpp",
        Lang::CSharp => "cs",
        Lang::Go => "go",
        Lang::Hcl => "tf",
        Lang::Java => "java",
        Lang::JavaScript => "js",
        Lang::Json => "json",
        Lang::Kotlin => "kt",
        Lang::Php => "php",
        Lang::Python => "py",
        Lang::Ruby => "rb",
        Lang::Rust => "rs",
        Lang::Tsx => "tsx",
        Lang::TypeScript => "ts",
        Lang::Yaml => "yaml",
    }
}

fn source(path: &str, lang: Lang, code: &str) -> SourceFile {
    SourceFile {
        entry: FileEntry {
            path: Arc::from(path),
            old_path: None,
            change: Change::Added,
            language: Some(lang.name().to_owned()),
            kind: FileKind::Code,
            tokens: 0,
            flags: Vec::new(),
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
        },
        head: Some(Arc::from(code)),
        base: None,
        added: None,
        removed: LineSet::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_rule_keeps_its_promises() {
        let report = run_cases(RuleSet::embedded().rules().map(AsRef::as_ref));
        let failures: Vec<String> = report
            .failures
            .iter()
            .map(|failure| format!("{} #{}: {}", failure.rule, failure.case, failure.message))
            .collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(report.cases > 0);
    }
}
