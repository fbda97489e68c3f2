//! The rules behind the results: one for each rule, or for each category where no rule did it.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::Finding;
use quorum_model::severity::Severity;

use super::document::{Configuration, Descriptor, Message, Properties};
use crate::text;

/// GitHub takes twenty.
const MOST_TAGS: usize = 20;

/// What all findings of one rule have in common.
struct Rule {
    id: String,
    worst: Severity,
    security: bool,
    cwes: BTreeSet<u32>,
    categories: BTreeSet<String>,
    help: String,
    help_uri: Option<String>,
}

/// The rules, with their places in the list.
pub(super) struct Rules {
    rules: Vec<Rule>,
    index: BTreeMap<String, usize>,
}

impl Rules {
    /// The rules of `findings`, in the order of their ids.
    pub(super) fn of<'a>(findings: impl Iterator<Item = &'a Finding>) -> Self {
        let mut rules: BTreeMap<String, Rule> = BTreeMap::new();
        for finding in findings {
            let id = text::rule(finding);
            let rule = rules.entry(id.clone()).or_insert_with(|| Rule {
                id,
                worst: finding.severity,
                security: false,
                cwes: BTreeSet::new(),
                categories: BTreeSet::new(),
                help: finding.recommendation.clone(),
                help_uri: finding.references.iter().find(|url| is_url(url)).cloned(),
            });
            rule.worst = rule.worst.max(finding.severity);
            rule.security |= is_security(finding);
            rule.cwes.extend(cwe(finding));
            rule.categories.insert(text::line(&finding.category, 60));
        }
        let rules: Vec<Rule> = rules.into_values().collect();
        let index = rules.iter().map(|rule| rule.id.clone()).zip(0..).collect();
        Self { rules, index }
    }

    /// Where the rule of `finding` stands in the list.
    pub(super) fn index(&self, finding: &Finding) -> usize {
        self.index.get(&text::rule(finding)).copied().unwrap_or_default()
    }

    pub(super) fn into_descriptors(self) -> Vec<Descriptor> {
        self.rules.into_iter().map(Rule::into_descriptor).collect()
    }
}

impl Rule {
    fn into_descriptor(self) -> Descriptor {
        let categories: Vec<&str> = self.categories.iter().map(String::as_str).collect();
        let about = format!("{} ({})", self.id, categories.join(", "));
        let mut tags: Vec<String> = Vec::new();
        if self.security {
            tags.push("security".to_owned());
        }
        tags.extend(self.cwes.iter().map(|number| format!("external/cwe/cwe-{number:03}")));
        tags.extend(self.categories.iter().filter(|category| !category.is_empty()).cloned());
        tags.dedup();
        tags.truncate(MOST_TAGS);
        let mut properties = Properties::from([
            ("tags", tags.into()),
            ("problem.severity", problem(self.worst).into()),
        ]);
        if self.security {
            properties.insert("security-severity", score(self.worst).into());
        }
        Descriptor {
            short_description: Message::foreign(&in_words(&self.id), 250),
            full_description: Message::foreign(&about, 1_000),
            help: Message::foreign(&self.help, 1_000),
            help_uri: self.help_uri,
            default_configuration: Configuration { level: level(self.worst) },
            properties,
            id: self.id,
        }
    }
}

/// `go-sql-format` as a heading: code scanning shows it in place of the id.
fn in_words(id: &str) -> String {
    let words = id.replace(['-', '_', '.', '/'], " ");
    let mut rest = words.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// How SARIF calls a severity.
pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

fn problem(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "recommendation",
    }
}

/// In the middle of the range that GitHub shows under the severity's name.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "2.0",
    }
}

fn is_security(finding: &Finding) -> bool {
    finding.cwe.is_some()
        || finding
            .agents
            .iter()
            .any(|agent| agent == "security-reviewer" || agent == "vulnerability-reviewer")
}

/// The number in `CWE-89`.
fn cwe(finding: &Finding) -> Option<u32> {
    let text = finding.cwe.as_deref()?;
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Whether `text` is a plain web address.
fn is_url(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=%".contains(c);
    text.starts_with("https://") && text.len() < 500 && text.chars().all(allowed)
}
