//! What a reviewer reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::severity::Severity;

/// A finding as an agent reports it, before it is checked against the code.
///
/// The place is either `file` and `line`, or, in the compact form of the high-severity mode,
/// `location` alone. [`AgentFinding::place`] reads both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFinding {
    /// How bad it is.
    pub severity: Severity,
    /// One of the agent's categories.
    pub category: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The last line, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// `file:line`, the compact form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The code that proves it, quoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What is wrong.
    pub issue: String,
    /// What to do.
    pub recommendation: String,
    /// The weakness class, such as `CWE-89`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwe: Option<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The rule that found it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How much work the fix is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// How sure the agent is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Facts about a vulnerable dependency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency: Option<DependencyFacts>,
    /// What a user of the software notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_impact: Option<String>,
    /// How a value gets from where it comes in to where it does harm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// What to put in the place of which lines, where that alone is the fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
}

/// Text that takes the place of whole lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// The first line that goes.
    pub start_line: u64,
    /// The last line that goes.
    pub end_line: u64,
    /// The lines that come, without the last line end.
    pub text: String,
}

/// One step on a value's way through the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceStep {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u64,
    /// What happens there.
    pub note: String,
}

impl AgentFinding {
    /// The file and line, from either form.
    pub fn place(&self) -> Option<(&str, Option<u64>)> {
        if let Some(file) = &self.file {
            return Some((file, self.line));
        }
        let location = self.location.as_deref()?;
        match location.rsplit_once(':') {
            Some((file, line)) if !file.is_empty() => match line.parse() {
                Ok(line) => Some((file, Some(line))),
                Err(_) => Some((location, None)),
            },
            _ => Some((location, None)),
        }
    }
}

/// How much work a fix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Minutes.
    Trivial,
    /// An hour or so.
    Small,
    /// A day or so.
    Medium,
    /// More.
    Large,
}

/// What is known about a vulnerable dependency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DependencyFacts {
    /// The package.
    pub name: String,
    /// The advisory, such as `CVE-2024-3094`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cve: Option<String>,
    /// The CVSS score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cvss: Option<f64>,
    /// The versions that are affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub affected_versions: Option<String>,
    /// The first version that is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patched_version: Option<String>,
    /// What helps until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workaround: Option<String>,
}

/// A finding of a review: checked against the code, clustered, and credited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Short and unique within the run, such as `SEC-001`.
    pub id: String,
    /// The same defect has the same fingerprint in every run.
    pub fingerprint: String,
    /// How bad it is.
    pub severity: Severity,
    /// What sort of defect.
    pub category: String,
    /// The rule that found it, where one did.
    pub rule: Option<String>,
    /// The file.
    pub file: String,
    /// The first line.
    pub line: u64,
    /// The last line.
    pub end_line: u64,
    /// The code that proves it, quoted.
    pub evidence: String,
    /// What is wrong.
    pub issue: String,
    /// What to do; several where reviewers differ.
    pub recommendation: String,
    /// The weakness class, such as `CWE-89`.
    pub cwe: Option<String>,
    /// Who saw it.
    pub agents: Vec<String>,
    /// How many agents saw it independently.
    pub corroboration: u64,
    /// How many agents were shown the place, those included that saw the defect.
    #[serde(default)]
    pub covered_by: u64,
    /// How sure the agent with the highest severity is, 0 to 1, weighed by how much of its part of
    /// the change it was shown.
    pub confidence: f64,
    /// Where the finding stands across runs.
    pub state: FindingState,
    /// What each agent that saw it says, the deciding one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Position>,
    /// The agents that confirmed it with evidence of their own when they were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_by: Vec<String>,
    /// The agents that looked when they were asked, and do not see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputed_by: Vec<String>,
    /// The gate that shows it to be wrong, such as a build that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted_by: Option<String>,
    /// What a second look holds against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refutation: Option<Refutation>,
    /// Other findings at the same place, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_place: Vec<String>,
    /// The same defect at other places, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_issue: Vec<String>,
    /// How a value gets from where it comes in to where it does harm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// What to put in the place of which lines, where that alone is the fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// How much work the fix is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Facts about a vulnerable dependency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency: Option<DependencyFacts>,
    /// What a user of the software notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_impact: Option<String>,
    /// Who set it aside, where and why; on a finding that stands, what takes effect after the merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression: Option<Suppression>,
}

/// Who set a finding aside, where and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suppression {
    /// Where it is written.
    pub kind: SuppressionKind,
    /// Whether it holds.
    pub status: SuppressionStatus,
    /// Why, in its author's words; empty where nothing is said.
    pub reason: String,
    /// Who, as far as git or the code host can say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The place that says so: a file and line, a file, or a comment on the pull request.
    pub place: String,
    /// Whether the reviewed change itself brings it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_change: bool,
}

/// Where a suppression is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuppressionKind {
    /// In a comment in the code.
    InSource,
    /// In a file of dismissals, in a clone's ledger, or on the pull request.
    External,
}

/// Whether a suppression holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuppressionStatus {
    /// It holds.
    Accepted,
    /// It takes effect after the merge: the change brings it, and it would lift a veto.
    UnderReview,
}

/// A finding of an agent that a comment in the code suppresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuppressedFinding {
    /// What was found.
    pub finding: AgentFinding,
    /// Who set it aside, where and why.
    pub suppression: Suppression,
}

/// What a second look holds against a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refutation {
    /// The agent that looked.
    pub by: String,
    /// Why the finding is wrong, in its words.
    pub reason: String,
    /// The code that shows it, quoted.
    pub evidence: String,
}

/// What one agent says about a defect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// The agent.
    pub agent: String,
    /// The fingerprint of its own finding.
    pub fingerprint: String,
    /// How bad it finds it.
    pub severity: Severity,
    /// How sure it is, 0 to 1, as it said.
    pub confidence: f64,
    /// The category that it gave.
    pub category: String,
    /// The rule that found it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The first line.
    pub line: u64,
    /// The last line.
    pub end_line: u64,
    /// Its quote, where it is not the finding's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What is wrong, in its words.
    pub issue: String,
    /// What to do, in its words.
    pub recommendation: String,
}

/// Where a finding stands across runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Not seen before.
    New,
    /// Seen before and still there.
    Persisting,
    /// Seen before and gone, in a region that was covered this time.
    Resolved,
    /// Set aside with a reason.
    Dismissed,
    /// Set aside by a comment in the code.
    Suppressed,
    /// Seen before, in a region that was not covered this time.
    NotReviewed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(file: Option<&str>, location: Option<&str>) -> AgentFinding {
        let json = serde_json::json!({
            "severity": "HIGH", "category": "injection", "issue": "i", "recommendation": "r",
            "file": file, "line": file.map(|_| 45), "location": location,
        });
        serde_json::from_value(json).expect("the minimal finding parses")
    }

    #[test]
    fn both_forms_name_the_same_place() {
        let long = finding(Some("src/a.go"), None);
        let compact = finding(None, Some("src/a.go:45"));
        assert_eq!(long.place(), Some(("src/a.go", Some(45))));
        assert_eq!(compact.place(), long.place());
    }

    #[test]
    fn a_location_without_a_line_is_still_a_file() {
        assert_eq!(finding(None, Some("src/a.go")).place(), Some(("src/a.go", None)));
        assert_eq!(finding(None, Some("C:/a.go")).place(), Some(("C:/a.go", None)));
        assert_eq!(finding(None, Some(":7")).place(), Some((":7", None)));
        assert_eq!(finding(None, None).place(), None);
    }
}
