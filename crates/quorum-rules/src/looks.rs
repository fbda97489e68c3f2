//! Which reviewers have something to look for in which files.
//!
//! A file that nobody has rules for is still searched for secrets, hidden characters and words to
//! reviewers. That is reading, not reviewing, and a report must be able to tell the two apart.

use quorum_model::scope::FileEntry;
use quorum_syntax::Lang;

use crate::checks;
use crate::parts;
use crate::rule::{RuleSet, applies};
use crate::source::lang_of;

/// Whether the rules of `agent` look at such a file.
///
/// `text` is the reviewed version, where it is at hand: some files say only inside what they are.
pub fn has_rules_for(rules: &RuleSet, agent: &str, entry: &FileEntry, text: Option<&str>) -> bool {
    let has = |lang: Lang| {
        rules.rules().any(|rule| rule.agent == agent && applies(&rule.languages, lang))
    };
    let inside = || text.map(|text| parts::languages(&entry.path, text)).unwrap_or_default();
    lang_of(entry).is_some_and(has)
        || checks::LOOKS.iter().any(|look| look.agent == agent && (look.takes)(entry, text))
        || inside().into_iter().any(has)
}

/// What checks in code look at beyond the languages that rules name.
pub(crate) struct Look {
    /// The reviewer.
    pub(crate) agent: &'static str,
    /// Whether a file is their business.
    pub(crate) takes: fn(&FileEntry, Option<&str>) -> bool,
}

#[cfg(test)]
mod tests {
    use quorum_model::scope::FileKind;

    use super::*;
    use crate::rule::case_files;

    fn entry(path: &str, language: Option<&str>, kind: FileKind) -> FileEntry {
        FileEntry {
            path: path.into(),
            old_path: None,
            change: quorum_model::scope::Change::Added,
            language: language.map(str::to_owned),
            kind,
            tokens: 0,
            flags: Vec::new(),
            flag_reasons: std::collections::BTreeMap::new(),
            hunks: Vec::new(),
            digest: None,
        }
    }

    #[test]
    fn whoever_reports_about_a_file_says_that_it_looks_at_such_files() {
        for (rule, source) in case_files() {
            let text = source.head.as_deref();
            assert!(
                has_rules_for(RuleSet::embedded(), &rule.agent, &source.entry, text),
                "{} looks at {}",
                rule.id,
                source.entry.path
            );
        }
    }

    #[test]
    fn what_nobody_has_rules_for_is_not_reviewed() {
        let rules = RuleSet::embedded();
        let cases = [
            ("security-reviewer", "a.py", Some("Python"), FileKind::Code, None, true),
            ("go-reviewer", "a.py", Some("Python"), FileKind::Code, None, false),
            ("security-reviewer", "a.jl", Some("Julia"), FileKind::Code, None, false),
            ("security-reviewer", "a.sql", Some("SQL"), FileKind::Code, None, false),
            ("security-reviewer", "Dockerfile", Some("Dockerfile"), FileKind::Config, None, true),
            (
                "security-reviewer",
                ".github/workflows/a.yml",
                Some("YAML"),
                FileKind::Config,
                None,
                true,
            ),
            (
                "security-reviewer",
                "k8s/pod.yaml",
                Some("YAML"),
                FileKind::Config,
                Some("apiVersion: v1\nkind: Pod\n"),
                true,
            ),
            ("security-reviewer", "a.yaml", Some("YAML"), FileKind::Config, Some("a: 1\n"), false),
            (
                "vulnerability-reviewer",
                "package-lock.json",
                Some("JSON"),
                FileKind::Config,
                None,
                true,
            ),
            ("documentation-reviewer", "README.md", Some("Markdown"), FileKind::Prose, None, true),
            ("security-reviewer", "README.md", Some("Markdown"), FileKind::Prose, None, false),
            (
                "user-persona-reviewer",
                "api.proto",
                Some("Protocol Buffer"),
                FileKind::Data,
                None,
                true,
            ),
            ("security-reviewer", "a.html", Some("HTML"), FileKind::Markup, None, true),
            ("code-quality-reviewer", "a.html", Some("HTML"), FileKind::Markup, Some("<p>"), false),
            (
                "code-quality-reviewer",
                "a.html",
                Some("HTML"),
                FileKind::Markup,
                Some("<script>let a = 1;</script>"),
                true,
            ),
        ];
        for (agent, path, language, kind, text, expected) in cases {
            let file = entry(path, language, kind);
            assert_eq!(has_rules_for(rules, agent, &file, text), expected, "{agent} {path}");
        }
    }
}
