//! What a branch returns is searched for secrets once more; where that fails, nothing is returned.

use quorum_model::finding::AgentFinding;

use super::shown::Library;

/// `finding` without secrets in any of its texts.
pub(crate) fn finding(
    library: &Library<'_>,
    mut finding: AgentFinding,
) -> Result<AgentFinding, String> {
    finding.issue = library.clean(&finding.issue)?;
    finding.recommendation = library.clean(&finding.recommendation)?;
    finding.evidence = finding.evidence.map(|evidence| library.clean(&evidence)).transpose()?;
    Ok(finding)
}

/// `answer` without secrets in what the model wrote.
pub(crate) fn answer(
    library: &Library<'_>,
    mut answer: quorum_llm::Answer,
) -> Result<quorum_llm::Answer, String> {
    answer.text = library.clean(&answer.text)?;
    for call in &mut answer.calls {
        let written = call.arguments.to_string();
        let cleaned = library.clean(&written)?;
        if cleaned != written {
            // A placeholder in a string leaves it a string.
            call.arguments =
                serde_json::from_str(&cleaned).unwrap_or(serde_json::Value::String(cleaned));
        }
    }
    Ok(answer)
}
