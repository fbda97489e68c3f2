//! Names of findings on a page.

use std::collections::HashMap;

use quorum_model::finding::{AgentFinding, Finding, Position};
use quorum_model::outcome::AgentOutcome;
use quorum_model::result::ReviewResult;

/// Ids for an agent's findings in their order, until the review has given them its own.
pub fn draft_ids(outcome: &AgentOutcome) -> Vec<String> {
    let prefix = prefix(&outcome.agent);
    (1..=outcome.findings.len()).map(|number| format!("{prefix}-{number:03}")).collect()
}

/// The ids that the review gave to an agent's findings. What it did not publish is numbered after
/// what it did, so that no id means two things.
pub fn ids(outcome: &AgentOutcome, result: &ReviewResult) -> Vec<String> {
    let all = || result.findings.iter().chain(&result.not_agreed);
    let prefix = prefix(&outcome.agent);
    let taken =
        all().filter_map(|finding| finding.id.strip_prefix(&prefix)?.get(1..)?.parse().ok());
    let mut next: u64 = taken.max().unwrap_or(0);
    // By file and text, and by line where one is known: the first that says it stands for it.
    let mut said: HashMap<(&str, &str, Option<u64>), &Finding> = HashMap::new();
    for published in all().filter(|finding| finding.agents.contains(&outcome.agent)) {
        for position in published.positions.iter().filter(|at| at.agent == outcome.agent) {
            for line in [Some(position.line), None] {
                said.entry((&published.file, &position.issue, line)).or_insert(published);
            }
        }
    }
    let mut id = |finding: &AgentFinding| {
        let place = finding.place();
        let published = place.and_then(|(file, line)| said.get(&(file, &finding.issue, line)));
        published.map_or_else(
            || {
                next += 1;
                format!("{prefix}-{next:03}")
            },
            |published| published.id.clone(),
        )
    };
    outcome.findings.iter().map(&mut id).collect()
}

/// Whether an agent's finding went into a finding of the review.
pub fn is_part_of(finding: &AgentFinding, agent: &str, published: &Finding) -> bool {
    let Some((file, line)) = finding.place() else { return false };
    let says = |position: &Position| {
        position.agent == agent
            && position.issue == finding.issue
            && line.is_none_or(|line| line == position.line)
    };
    file == published.file && published.positions.iter().any(says)
}

/// `SEC` for `security-reviewer`, `CQ` for `code-quality-reviewer`.
fn prefix(agent: &str) -> String {
    let name = agent.strip_suffix("-reviewer").unwrap_or(agent);
    let letters = |word: &str| word.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let words: Vec<String> = name.split('-').map(letters).filter(|word| !word.is_empty()).collect();
    let prefix: String = match words.as_slice() {
        [] => "F".to_owned(),
        [word] => word.chars().take(3).collect(),
        words => words.iter().filter_map(|word| word.chars().next()).collect(),
    };
    prefix.to_uppercase()
}
