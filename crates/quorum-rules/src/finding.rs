//! What a rule reports.

use quorum_model::finding::{AgentFinding, DependencyFacts, Effort, Replacement, TraceStep};
use quorum_model::severity::Severity;

/// What a rule reports about one place.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleFinding {
    /// The rule's id, such as `go.sql-injection`.
    pub rule: String,
    /// The agent that reports it, such as `security-reviewer`.
    pub agent: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// How sure the rule is, 0 to 1. Below [`SHOWN`] a finding is a hint for other reviewers.
    pub confidence: f64,
    /// One of the agent's categories.
    pub category: String,
    /// The weakness class, such as `CWE-89`.
    pub cwe: Option<String>,
    /// The file.
    pub file: String,
    /// First line.
    pub line: u64,
    /// Last line.
    pub end_line: u64,
    /// The code that proves it, as it stands in the file.
    pub evidence: String,
    /// What is wrong: one sentence that can stand as a title, then the rest.
    pub issue: String,
    /// What to do.
    pub recommendation: String,
    /// Where to read more.
    pub references: Vec<String>,
    /// How much work the fix is.
    pub effort: Option<Effort>,
    /// How the value gets here.
    pub trace: Vec<TraceStep>,
    /// Facts about a vulnerable dependency.
    pub dependency: Option<DependencyFacts>,
    /// What to put in the place of which lines, where that alone is the fix.
    pub replacement: Option<Replacement>,
    /// Reported though no line of it is added: the change elsewhere causes it.
    pub caused: bool,
}

/// Lines of code without the indentation that all of them have, and without empty lines around them.
///
/// A quote that loses the indentation of its first line alone shows another structure.
pub fn dedent(code: &str) -> String {
    let blank = |line: &&str| line.trim().is_empty();
    let lines: Vec<&str> = code.lines().map(str::trim_end).skip_while(blank).collect();
    let mut common: Option<&str> = None;
    for line in lines.iter().filter(|line| !blank(line)) {
        let here = &line[..line.len() - line.trim_start().len()];
        common = Some(common.map_or(here, |common| {
            let same = common.bytes().zip(here.bytes()).take_while(|(a, b)| a == b).count();
            common.get(..same).unwrap_or_default()
        }));
    }
    let common = common.unwrap_or_default().len();
    let cut: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or_default()).collect();
    cut.join("\n").trim_end().to_owned()
}

/// The confidence from which a finding is shown to people.
pub const SHOWN: f64 = 0.5;

impl From<RuleFinding> for AgentFinding {
    fn from(found: RuleFinding) -> Self {
        Self {
            severity: found.severity,
            category: found.category,
            file: Some(found.file),
            line: Some(found.line),
            end_line: Some(found.end_line),
            location: None,
            evidence: Some(found.evidence),
            issue: found.issue,
            recommendation: found.recommendation,
            cwe: found.cwe,
            references: found.references,
            rule: Some(found.rule),
            effort: found.effort,
            confidence: Some(found.confidence),
            dependency: found.dependency,
            user_impact: None,
            trace: found.trace,
            replacement: found.replacement,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_keeps_its_shape() {
        let cases = [
            ("    except Exception:\n        pass", "except Exception:\n    pass"),
            ("\n\tif a {\n\t\tb()\n\t}\n", "if a {\n\tb()\n}"),
            ("a\n  b", "a\n  b"),
            ("  a\n\n  b  ", "a\n\nb"),
            ("\ta\n    b", "\ta\n    b"),
            ("", ""),
        ];
        for (code, expected) in cases {
            assert_eq!(dedent(code), expected, "{code:?}");
        }
    }
}
