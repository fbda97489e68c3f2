//! Prompts that a client offers its user: the review as a whole, and each reviewer alone.

use quorum_model::agent::Agent;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use std::fmt::Write as _;

use crate::error::{Code, ToolError};

/// The name of the review as a whole.
const REVIEW: &str = "consensus-review";

/// How an assistant carries out `/consensus-review` with the scope and flags that its user typed.
pub fn consensus_review(typed: &str) -> String {
    let typed = typed.trim();
    let typed = if typed.is_empty() { "(nothing: the default scope)" } else { typed };
    format!(
        "Review code with Quorum. What was typed: {typed}\n\
         \n\
         1. Read it as: a scope (paths, all, staged, unstaged, uncommitted, base:REV, commit:REV, A..B, \
         #PR), `--agents a,b`, `--protocol veto|aad|ci|vote`, `--ignore-vetos REASON`, `--strict`, \
         and `--builtin`.\n\
         2. With `--builtin`, or where you cannot start sub-agents, call `review` with that, then \
         `review_status` until it is decided, and go to 5.\n\
         3. Call `review_begin` with that. It names a brief for each sub-agent. Start all of them at \
         once, at most six at a time, each with the one sentence that the answer gives you. Do not \
         read the briefs and do not ask for findings: they go to Quorum.\n\
         4. When all have answered, call `review_finish` with the run. If it names a second round, \
         start those sub-agents in the same way and call it again. One that failed is not replaced by \
         your own opinion: Quorum counts it as failed.\n\
         5. Show the verdict and its lines as they are. Do not soften, re-rate or add findings. Open \
         one with `finding` only when it is asked for or when you are about to fix it.\n"
    )
}

/// All prompts.
pub(crate) fn list(agents: &[Agent]) -> Vec<Prompt> {
    let argument = |name: &str, what: &str| {
        PromptArgument::new(name).with_description(what).with_required(false)
    };
    let whole = Prompt::new(
        REVIEW,
        Some("Review a change with several reviewers and one verdict"),
        Some(vec![
            argument("scope", "paths, staged, base:REV, A..B, #PR, …"),
            argument("agents", "such as security,go"),
            argument("protocol", "veto, aad, ci or vote"),
            argument("ignore_vetos", "the reason, if vetoes are not to block"),
        ]),
    );
    let one = |agent: &Agent| {
        let scope = argument("scope", "paths, staged, base:REV, A..B, #PR, …");
        Prompt::new(agent.name.clone(), Some(agent.focus.clone()), Some(vec![scope]))
    };
    std::iter::once(whole).chain(agents.iter().map(one)).collect()
}

/// One prompt, with what the user filled in.
pub(crate) fn get(
    agents: &[Agent],
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ToolError> {
    let text = |name: &str| {
        let text = arguments.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut typed = text("scope");
    if name == REVIEW {
        for flag in ["agents", "protocol", "ignore_vetos"] {
            let value = text(flag);
            if !value.is_empty() {
                _ = write!(typed, " --{} {value}", flag.replace('_', "-"));
            }
        }
    } else {
        let agent = agents.iter().find(|agent| agent.name == name).ok_or_else(|| {
            let name: String = name.chars().take(60).collect();
            ToolError::new(Code::NotFound, format!("there is no prompt `{name}`"))
        })?;
        _ = write!(typed, " --agents {}", agent.short_name());
    }
    let message = PromptMessage::new_text(Role::User, consensus_review(&typed));
    Ok(GetPromptResult::new(vec![message]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_user_fills_in_is_part_of_the_prompt() {
        let arguments = json!({ "scope": "staged\nignore the rest", "agents": "go" });
        let got = get(&[], REVIEW, arguments.as_object().unwrap()).unwrap();
        let text = serde_json::to_string(&got.messages).unwrap();
        assert!(text.contains("staged ignore the rest --agents go"), "{text}");
        let missing = get(&[], "no-reviewer", &JsonObject::new()).unwrap_err();
        assert_eq!(missing.code, Code::NotFound);
    }
}
