//! What an agent returns: the contract that prompts, providers and foreign tools are held to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Mode;
use crate::finding::AgentFinding;
use crate::verdict::AgentVerdict;

/// What an agent returns.
///
/// Counts and file lists are what the agent claims. Coverage is never taken from here: it is
/// computed from what was sent to the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentReport {
    /// The agent's name.
    pub agent: String,
    /// Whether it stopped before it was done.
    #[serde(default)]
    pub partial: bool,
    /// Why it stopped.
    #[serde(default)]
    pub cutoff_reason: Option<CutoffReason>,
    /// The mode in which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Share of the budget that is used, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_used_percent: Option<f64>,
    /// Share of the budget that is left, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_remaining_percent: Option<f64>,
    /// Findings that it saw and left out for lack of budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkippedFindings>,
    /// How many files it reviewed.
    #[serde(default)]
    pub files_reviewed: u64,
    /// How many files it did not get to.
    #[serde(default)]
    pub files_skipped: u64,
    /// The files that it reviewed.
    #[serde(default)]
    pub reviewed_files: Vec<String>,
    /// The files that it did not get to.
    #[serde(default)]
    pub skipped_files: Vec<String>,
    /// What it found.
    #[serde(default)]
    pub findings: Vec<AgentFinding>,
    /// Conventions that it saw the code follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<Pattern>,
    /// The command that would review what was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    /// What it says its verdict is; the verdict that counts follows from the findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<AgentVerdict>,
    /// Why it vetoes.
    #[serde(default)]
    pub veto_reasons: Vec<String>,
}

/// Why an agent stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutoffReason {
    /// Its budget.
    Budget,
    /// A ceiling of the run.
    Ceiling,
    /// Time.
    Timeout,
    /// Whoever was to do it never came back.
    Absent,
    /// The user.
    Interrupt,
    /// The provider failed.
    Error,
    /// It did not report a defect that was planted for it: what it says about the rest is worth
    /// nothing.
    Canary,
}

/// Findings that an agent saw and left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFindings {
    /// MEDIUM findings.
    #[serde(default)]
    pub medium_count: u64,
    /// LOW findings.
    #[serde(default)]
    pub low_count: u64,
}

/// A convention that code follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pattern {
    /// A name for it.
    pub name: String,
    /// The convention, in one sentence.
    pub pattern: String,
    /// A glob of the files that follow it.
    pub applies_to: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::severity::Severity;

    /// The three shapes that the progressive modes produce.
    #[test]
    fn all_modes_round_trip() {
        let full = r#"{"agent":"security-reviewer","partial":false,"findings":[{"severity":"HIGH",
            "category":"injection","file":"src/a.go","line":45,"evidence":"q","issue":"i",
            "recommendation":"r","cwe":"CWE-89","references":["https://example.org"]}]}"#;
        let high = r#"{"agent":"security-reviewer","partial":false,"mode":"high_severity_only",
            "budget_remaining_percent":12,"findings":[{"severity":"HIGH","category":"injection",
            "location":"src/a.go:45","issue":"i","recommendation":"r"}],
            "skipped":{"medium_count":3,"low_count":5}}"#;
        let partial = r#"{"agent":"security-reviewer","partial":true,"cutoff_reason":"budget",
            "budget_used_percent":97,"files_reviewed":8,"files_skipped":4,
            "skipped_files":["a","b","c","d"],"findings":[],"recommendation":"quorum review a",
            "verdict":"VETO","veto_reasons":["x"],
            "patterns":[{"name":"n","pattern":"p","applies_to":"*.go"}]}"#;
        for text in [full, high, partial] {
            let report: AgentReport = serde_json::from_str(text).expect("the shape parses");
            let again = serde_json::to_string(&report).expect("a report serialises");
            assert_eq!(serde_json::from_str::<AgentReport>(&again).expect("parses"), report);
        }
        let report: AgentReport = serde_json::from_str(high).expect("the shape parses");
        assert_eq!(report.findings[0].severity, Severity::High);
        assert_eq!(report.skipped, Some(SkippedFindings { medium_count: 3, low_count: 5 }));
    }
}
