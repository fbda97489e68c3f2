//! Rules as pages.

use std::fmt::Write as _;

use quorum_rules::rule::CaseReport;
use quorum_rules::{Rule, RuleSet};

use super::style::{count, heading, table, title};

/// All rules, `width` columns wide.
pub(crate) fn list(set: &RuleSet, width: usize) -> String {
    let rows = set.rules().map(|rule| {
        vec![
            rule.id.clone(),
            rule.severity_range(),
            rule.cwe.clone().unwrap_or_default(),
            languages(rule),
            rule.title.clone(),
            if set.is_team(&rule.id) { "team" } else { "embedded" }.to_owned(),
        ]
    });
    let head = ["Rule", "Severity", "CWE", "Languages", "Finds", "From"];
    table(&head, rows.collect(), &[], width)
}

/// One rule in full.
pub(crate) fn one(rule: &Rule, team: bool) -> String {
    let mut page = title(&rule.id);
    let mut line = |name: &str, text: &str| {
        // Writing to a string cannot fail.
        _ = writeln!(page, "{}{}{text}", heading(name), " ".repeat(12 - name.len()));
    };
    line("Finds", &rule.title);
    if !rule.why.is_empty() {
        line("Why", rule.why.trim());
    }
    line("Fix", rule.fix.trim());
    line("Severity", &rule.severity_range());
    line("Confidence", &rule.confidence.to_string());
    line("Agent", &rule.agent);
    line("Category", &rule.category);
    if let Some(cwe) = &rule.cwe {
        line("CWE", cwe);
    }
    line("Languages", &languages(rule));
    for reference in &rule.references {
        line("Read", reference);
    }
    line("From", if team { "the team" } else { "embedded" });
    for case in &rule.tests {
        let lang = case.language.map_or("", |lang| lang.name());
        for (what, code) in [("finds", &case.find), ("leaves alone", &case.pass)] {
            if let Some(code) = code {
                _ = write!(page, "\n{}\n", heading(format!("{lang} {what}").trim_start()));
                for text in code.trim_matches('\n').lines() {
                    _ = writeln!(page, "    {text}");
                }
            }
        }
    }
    page
}

/// What running the cases gave.
pub(crate) fn cases(report: &CaseReport) -> String {
    let mut page = String::new();
    for failure in &report.failures {
        // Writing to a string cannot fail.
        _ = writeln!(page, "{} #{}: {}", failure.rule, failure.case, failure.message);
    }
    let cases = count(report.cases, "case", "cases");
    let rules = count(report.rules, "rule", "rules");
    _ = match report.failures.len() {
        0 => writeln!(page, "{cases} of {rules}, all as they should be"),
        wrong => writeln!(page, "{cases} of {rules}, {wrong} not as they should be"),
    };
    page
}

fn languages(rule: &Rule) -> String {
    let names: Vec<&str> = rule.languages.iter().map(|lang| lang.name()).collect();
    names.join(", ")
}
