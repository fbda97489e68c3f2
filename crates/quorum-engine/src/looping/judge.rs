//! What a round's review means for the next one.

use std::fmt::Write as _;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use quorum_model::looping::{LoopOutcome, Rejection};
use quorum_model::report::CutoffReason;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;
use quorum_model::verdict::Verdict;
use quorum_model::wording;
use serde::Deserialize;

use super::End;
use crate::error::EngineError;

/// What is to be done.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Task {
    pub(super) description: String,
    pub(super) acceptance_criteria: Vec<String>,
    /// Files and globs that belong to it; where none is named, all do.
    files: Vec<String>,
    #[serde(skip)]
    wanted: Option<GlobSet>,
}

/// The keys of a task, for whoever made a mistake in one.
const KEYS: &str = "description (text), acceptance_criteria (list of texts, default: none), files (list of \
                    files and globs, default: all)";

impl Task {
    pub(super) fn read(path: &Path) -> Result<Self, EngineError> {
        let failed = |cause: &dyn std::fmt::Display| {
            EngineError::failed(format!("{}: {cause}", path.display()))
                .with_hint("a task is a text, or JSON with description and files")
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        if path.extension().is_none_or(|ending| ending != "json") {
            return Ok(Self { description: text, ..Self::default() });
        }
        let mut task: Self = serde_json::from_str(&text)
            .map_err(|error| failed(&wording::with_keys(&error.to_string(), KEYS)))?;
        if !task.files.is_empty() {
            let mut globs = GlobSetBuilder::new();
            for file in &task.files {
                // A folder means all that is in it.
                for pattern in [file.clone(), format!("{}/**", file.trim_end_matches('/'))] {
                    let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
                    globs.add(glob.map_err(|error| failed(&error))?);
                }
            }
            task.wanted = Some(globs.build().map_err(|error| failed(&error))?);
        }
        Ok(task)
    }

    /// What the developer is told at the start.
    pub(super) fn prompt(&self) -> String {
        let mut text = self.description.trim_end().to_owned();
        if !self.acceptance_criteria.is_empty() {
            text.push_str("\n\n## Acceptance criteria\n");
            for criterion in &self.acceptance_criteria {
                _ = write!(text, "\n- {criterion}");
            }
        }
        if !self.files.is_empty() {
            _ = write!(text, "\n\nChange only: {}", self.files.join(", "));
        }
        text.push('\n');
        text
    }

    fn strays<'a>(&self, result: &'a ReviewResult) -> Vec<&'a str> {
        let Some(wanted) = &self.wanted else { return Vec::new() };
        let files = result.coverage.files.iter().map(|file| &*file.path);
        files.filter(|path| !wanted.is_match(path)).collect()
    }
}

/// Categories of findings that are about the design and not about a place.
const DESIGN: [&str; 3] = ["architecture", "design", "patterns"];

/// Why a round's work is not taken, where it is not.
pub(super) fn rejection(result: &ReviewResult, task: &Task) -> Option<Rejection> {
    if !task.strays(result).is_empty() {
        return Some(Rejection::Misscoped);
    }
    let blocked = result.gates.iter().any(quorum_model::gate::GateResult::blocks);
    match result.verdict {
        Verdict::Approved | Verdict::Advisory | Verdict::NothingToReview => None,
        _ if blocked => Some(Rejection::Fixable),
        Verdict::Incomplete => {
            let cut = result.execution.agents.iter().filter_map(|agent| agent.cutoff_reason);
            let mut cut =
                cut.filter(|why| matches!(why, CutoffReason::Budget | CutoffReason::Ceiling));
            cut.next().map(|_| Rejection::TooBig)
        }
        Verdict::Blocked | Verdict::ChangesRequested => {
            let grave = result.findings.iter().filter(|finding| finding.severity >= Severity::High);
            let design = |category: &str| DESIGN.contains(&category);
            let architectural = grave.into_iter().any(|finding| design(&finding.category));
            Some(if architectural { Rejection::Architectural } else { Rejection::Fixable })
        }
    }
}

/// How the loop ends after this round, where it does.
pub(super) fn end(result: &ReviewResult, rejection: Option<Rejection>, last: bool) -> Option<End> {
    let first = result.reasons.first().cloned().unwrap_or_default();
    let code = result.exit_code.max(1);
    Some(match (rejection, result.verdict) {
        (None, Verdict::NothingToReview | Verdict::Approved | Verdict::Advisory)
            if result.coverage.files.is_empty() =>
        {
            let reason = "nothing was changed, and there is nothing to mend".to_owned();
            (LoopOutcome::Escalated, None, reason, 1)
        }
        (None, Verdict::Approved | Verdict::Advisory) => (LoopOutcome::Approved, None, first, 0),
        // Nobody can say whether the work is good, and the developer cannot help it.
        (None, _) => (LoopOutcome::Escalated, None, first, code),
        (Some(Rejection::Fixable), _) if !last => return None,
        (Some(Rejection::Fixable), _) => {
            (LoopOutcome::Escalated, rejection, format!("the rounds are used up: {first}"), code)
        }
        (Some(Rejection::Misscoped), _) => {
            let reason = "it touches files that are not part of the task".to_owned();
            (LoopOutcome::Rejected, rejection, reason, 1)
        }
        (Some(Rejection::Architectural | Rejection::TooBig), _) => {
            (LoopOutcome::Rejected, rejection, first, code)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
    fn result(verdict: &str, more: serde_json::Value) -> ReviewResult {
        let mut value = serde_json::json!({
            "run": "r", "verdict": verdict, "exit_code": 1, "reasons": ["because"],
            "execution": {"agents": []}, "findings": [],
            "coverage": {"files": [{"path": "src/a.rs", "agents": {}}], "uncovered": [], "gaps": []},
        });
        if let (Some(value), Some(more)) = (value.as_object_mut(), more.as_object()) {
            value.extend(more.clone());
        }
        serde_json::from_value(value).expect("a result")
    }

    fn ended(
        result: &ReviewResult,
        task: &Task,
        last: bool,
    ) -> Option<(LoopOutcome, Option<Rejection>)> {
        end(result, rejection(result, task), last).map(|(outcome, why, ..)| (outcome, why))
    }

    #[test]
    fn what_can_be_mended_goes_on_until_the_last_round() {
        let task = Task::default();
        let gate = serde_json::json!({"gates": [{"name": "test", "command": "x", "required": true,
            "status": "failed", "exit_code": 1, "output": ""}]});
        for result in [result("BLOCKED", gate), result("CHANGES_REQUESTED", serde_json::json!({}))]
        {
            assert_eq!(ended(&result, &task, false), None);
            let fixable = Some(Rejection::Fixable);
            assert_eq!(ended(&result, &task, true), Some((LoopOutcome::Escalated, fixable)));
        }
    }

    #[test]
    fn what_another_round_would_not_mend_ends_it() {
        let task = Task::default();
        let approved = result("APPROVED", serde_json::json!({}));
        assert_eq!(ended(&approved, &task, false), Some((LoopOutcome::Approved, None)));
        let incomplete = result("INCOMPLETE", serde_json::json!({}));
        assert_eq!(ended(&incomplete, &task, false), Some((LoopOutcome::Escalated, None)));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.json");
        std::fs::write(&path, r#"{"description": "d", "files": ["docs"]}"#).unwrap();
        let narrow = Task::read(&path).unwrap();
        let misscoped = Some((LoopOutcome::Rejected, Some(Rejection::Misscoped)));
        assert_eq!(ended(&approved, &narrow, false), misscoped);
        std::fs::write(&path, r#"{"files": ["src/*.rs"]}"#).unwrap();
        let fitting = Task::read(&path).unwrap();
        assert_eq!(ended(&approved, &fitting, false), Some((LoopOutcome::Approved, None)));
    }
}
