//! Whether a result says nothing that no agent said.

use std::collections::BTreeSet;

use quorum_model::finding::Finding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;

use crate::error::ConsensusError;

/// Checks that every finding that may block names findings that agents made in this run: the
/// agent, the file and the words.
///
/// [`decide`](crate::decide) ends with it, and a result that was written by anything else has to
/// pass it before it counts.
pub fn check_grounded(
    result: &ReviewResult,
    outcomes: &[AgentOutcome],
) -> Result<(), ConsensusError> {
    let said: BTreeSet<(&str, &str, &str)> = outcomes
        .iter()
        .filter(|outcome| outcome.run == result.run)
        .flat_map(|outcome| {
            outcome.findings.iter().map(|finding| {
                let file = finding.place().map_or("", |(file, _)| file);
                (outcome.agent.as_str(), file, finding.issue.as_str())
            })
        })
        .collect();
    let traced = |finding: &Finding| {
        !finding.positions.is_empty()
            && finding
                .positions
                .iter()
                .all(|position| said.contains(&(&position.agent, &finding.file, &position.issue)))
    };
    let untraced =
        result.findings.iter().find(|finding| may_block(finding, result) && !traced(finding));
    match untraced {
        Some(finding) => {
            Err(ConsensusError::Untraceable { id: finding.id.clone(), run: result.run.clone() })
        }
        None => Ok(()),
    }
}

/// A finding that is severe, or that an agent vetoes.
fn may_block(finding: &Finding, result: &ReviewResult) -> bool {
    let vetoes = result.execution.agents.iter().flat_map(|agent| &agent.veto_reasons);
    finding.severity >= Severity::High || vetoes.into_iter().any(|veto| veto.contains(&finding.id))
}
