//! The tests that a rule file carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorum_model::scope::{Change, FileEntry, FileKind, Flag};
use quorum_syntax::Lang;
use serde::Serialize;

use super::{Case, Rule, RuleSet};
use crate::finding::RuleFinding;
use crate::review::{examine, looks_like_test, review_with};
use crate::source::{LineSet, ParsedFile, Side, SourceFile, Sources};

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
            for lang in languages(rule, case) {
                if let Err(message) = run(rule, &set, case, lang) {
                    let failure = CaseFailure { rule: rule.id.clone(), case: index + 1, message };
                    report.failures.push(failure);
                }
            }
        }
    }
    report
}

/// A case without a language is for each language of its rule, or for what its path says.
fn languages(rule: &Rule, case: &Case) -> Vec<Option<Lang>> {
    let by_path = case.path.as_deref().map(Lang::from_path);
    match (case.language, by_path) {
        (Some(lang), _) => vec![Some(lang)],
        (None, Some(lang)) if rule.code => vec![lang],
        _ if rule.languages.is_empty() => vec![None],
        _ => rule.languages.iter().copied().map(Some).collect(),
    }
}

fn run(rule: &Rule, set: &RuleSet, case: &Case, lang: Option<Lang>) -> Result<(), String> {
    let code = case.find.as_deref().or(case.pass.as_deref()).unwrap_or_default();
    let name = lang.map_or("text", Lang::name);
    let usual = || format!("src/sample.{}", lang.map_or("txt", ending));
    let path = case.path.clone().unwrap_or_else(usual);
    let mut file = ParsedFile::new(source(&path, lang, code));
    file.lang = lang;
    if let Some(tree) = &file.tree
        && tree.root_node().has_error()
        && case.path.is_none()
    {
        return Err(format!("the {name} code of the case does not parse"));
    }
    let mut lines = if rule.code {
        by_code(rule, set, case, file.source)?
    } else {
        let found = examine(set, &file).0;
        as_listed(rule, &found)?;
        lines(&found)
    };
    if case.pass.is_some() {
        return if lines.is_empty() {
            Ok(())
        } else {
            Err(format!("{name}: found something on line {lines:?}, nothing was expected"))
        };
    }
    let marked: Vec<u64> = (1..)
        .zip(code.lines())
        .filter(|(_, line)| line.contains("FIND"))
        .map(|(number, _)| number)
        .collect();
    if marked.is_empty() {
        return if lines.is_empty() { Err(format!("{name}: found nothing")) } else { Ok(()) };
    }
    lines.sort_unstable();
    lines.dedup();
    if lines == marked {
        Ok(())
    } else {
        Err(format!("{name}: expected lines {marked:?}, found {lines:?}"))
    }
}

fn lines(found: &[RuleFinding]) -> Vec<u64> {
    found.iter().map(|finding| finding.line).collect()
}

/// What the checks in code report under the rule's id about a change of one file.
fn by_code(
    rule: &Rule,
    set: &RuleSet,
    case: &Case,
    mut source: SourceFile,
) -> Result<Vec<u64>, String> {
    if let Some(before) = &case.before {
        let (added, removed) = changed_lines(before, source.head.as_deref().unwrap_or_default());
        source.entry.change = Change::Modified;
        source.base = Some(Arc::from(before.as_str()));
        source.added = Some(added);
        source.removed = removed;
    }
    let mut paths: Vec<String> = case.around.keys().cloned().collect();
    paths.push(source.entry.path.to_string());
    paths.sort();
    let around = Around { files: &case.around, source: &source, paths };
    let review = review_with(set, 1, &|_| Some(source.clone()), &around);
    let all = review.findings.into_iter().chain(review.hints);
    let found: Vec<RuleFinding> = all.filter(|found| found.rule == rule.id).collect();
    as_listed(rule, &found)?;
    Ok(lines(&found))
}

/// What people read about a rule is what it reports.
fn as_listed(rule: &Rule, found: &[RuleFinding]) -> Result<(), String> {
    let severities = rule.severities();
    for found in found {
        if found.agent != rule.agent || found.category != rule.category {
            return Err(format!("it reports as {} under {}", found.agent, found.category));
        }
        if !severities.contains(&found.severity) && !found.issue.contains("It weighs less here") {
            return Err(format!("it reports {}, the list does not", found.severity.as_str()));
        }
    }
    Ok(())
}

/// A repository of a few files.
struct Around<'a> {
    files: &'a BTreeMap<String, String>,
    source: &'a SourceFile,
    paths: Vec<String>,
}

impl Sources for Around<'_> {
    fn read(&self, path: &str, side: Side) -> Option<Arc<str>> {
        if path == &*self.source.entry.path {
            return match side {
                Side::Head => self.source.head.clone(),
                Side::Base => self.source.base.clone(),
            };
        }
        self.files.get(path).map(|text| Arc::from(text.as_str()))
    }

    fn paths(&self) -> &[String] {
        &self.paths
    }
}

/// The lines between the first and the last difference.
fn changed_lines(before: &str, after: &str) -> (LineSet, LineSet) {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let set = |length: usize| {
        let mut lines = LineSet::default();
        for line in start + 1..=length - end {
            lines.push(line as u64);
        }
        lines
    };
    (set(new.len()), set(old.len()))
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

fn source(path: &str, lang: Option<Lang>, code: &str) -> SourceFile {
    SourceFile {
        entry: FileEntry {
            path: Arc::from(path),
            old_path: None,
            change: Change::Added,
            language: lang.map(|lang| lang.name().to_owned()),
            kind: if lang.is_some() { FileKind::Code } else { FileKind::Prose },
            tokens: 0,
            flags: if looks_like_test(path) { vec![Flag::Test] } else { Vec::new() },
            flag_reasons: BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        },
        head: Some(Arc::from(code)),
        base: None,
        added: None,
        removed: LineSet::default(),
    }
}

/// The file of every case in which an embedded rule finds something, with its rule.
#[cfg(test)]
pub(crate) fn case_files() -> Vec<(Arc<Rule>, SourceFile)> {
    let mut files = Vec::new();
    for rule in RuleSet::embedded().rules() {
        for case in &rule.tests {
            let Some(code) = case.find.as_deref() else { continue };
            for lang in languages(rule, case) {
                let usual = || format!("src/sample.{}", lang.map_or("txt", ending));
                let path = case.path.clone().unwrap_or_else(usual);
                files.push((Arc::clone(rule), source(&path, lang, code)));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// The code of every case of every rule, as the files of one change.
    fn all_code() -> Vec<SourceFile> {
        let rules = RuleSet::embedded().rules();
        let cases = rules.flat_map(|rule| rule.tests.iter().map(move |case| (rule, case)));
        let mut files = Vec::new();
        for (rule, case) in cases {
            let Some(code) = case.find.as_deref().or(case.pass.as_deref()) else { continue };
            for lang in languages(rule, case) {
                let number = files.len();
                let path = format!("src/{number}.{}", lang.map_or("txt", ending));
                files.push(source(&path, lang, code));
            }
        }
        files
    }

    /// What a review of the files gives, taken in this order by so many threads.
    fn reviewed(files: &[SourceFile], order: &[usize], threads: usize) -> String {
        let workers = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("them");
        let nothing = BTreeMap::new();
        let around = Around { files: &nothing, source: &files[0], paths: Vec::new() };
        let load = |number: usize| files.get(order[number]).cloned();
        let review = workers.install(|| crate::review(order.len(), &load, &around));
        format!("{:#?}\n{:#?}\n{:#?}", review.findings, review.hints, review.notes)
    }

    #[test]
    fn neither_the_order_of_files_nor_the_threads_change_what_is_found() {
        let files = all_code();
        let in_order: Vec<usize> = (0..files.len()).collect();
        let expected = reviewed(&files, &in_order, 1);
        assert!(expected.contains("sql-injection"));
        let orders = Just(in_order).prop_shuffle();
        let config = ProptestConfig::with_cases(4);
        let mut runner = proptest::test_runner::TestRunner::new(config);
        let outcome = runner.run(&(orders, 1usize..9), |(order, threads)| {
            prop_assert!(reviewed(&files, &order, threads) == expected, "{threads} threads");
            Ok(())
        });
        outcome.expect("the same findings");
    }
}
