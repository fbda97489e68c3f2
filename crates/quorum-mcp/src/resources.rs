//! What a client can read by address: runs and their reports, reviewers, standing orders.

use std::fs;
use std::path::Path;

use quorum_store::Run;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::json;

use crate::call::{Desk, find_run, is_ours};
use crate::error::{Code, ToolError};
use crate::tools::runs;

/// Runs that are listed.
const RECENT: usize = 10;
/// The longest text that is given, in bytes.
const LONGEST: usize = 256 << 10;

/// What there is.
pub(crate) fn list(desk: &Desk) -> Result<Vec<Resource>, ToolError> {
    let root = desk.root(None)?;
    let named =
        |uri: String, name: String, kind: &str| Resource::new(uri, name).with_mime_type(kind);
    let mut all = vec![named("quorum://runs".to_owned(), "runs".to_owned(), "application/json")];
    let runs = Run::list(&root)?.into_iter().rev().filter(|run| is_ours(run.directory()));
    for run in runs.take(RECENT) {
        let id = run.id();
        all.push(named(format!("quorum://runs/{id}"), format!("run {id}"), "text/plain"));
        if run.directory().join("report.md").is_file() {
            let uri = format!("quorum://runs/{id}/report");
            all.push(named(uri, format!("report {id}"), "text/markdown"));
        }
    }
    for agent in desk.operations.agents(&root)? {
        let uri = format!("quorum://agents/{}", agent.name);
        all.push(named(uri, agent.name, "text/markdown").with_description(agent.focus));
    }
    for (name, _) in quorum_engine::sops::texts(&root)? {
        all.push(named(format!("quorum://sops/{name}"), format!("SOP {name}"), "text/markdown"));
    }
    Ok(all)
}

/// How others are addressed.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        ("quorum://runs/{run}", "verdicts of a run"),
        ("quorum://runs/{run}/report", "report of a run"),
        ("quorum://runs/{run}/agents/{agent}", "what one agent found"),
        ("quorum://agents/{agent}", "a reviewer's definition"),
        ("quorum://sops/{sop}", "a standing order"),
    ]
    .map(|(uri, name)| ResourceTemplate::new(uri, name))
    .to_vec()
}

/// The text behind an address.
pub(crate) fn read(desk: &Desk, uri: &str) -> Result<(String, &'static str), ToolError> {
    let root = desk.root(None)?;
    let path = uri.strip_prefix("quorum://").ok_or_else(|| nothing(uri))?;
    let parts: Vec<&str> = path.split('/').collect();
    let text = match parts.as_slice() {
        ["runs"] => return Ok((runs_json(&root)?, "application/json")),
        ["runs", run] => {
            return Ok((runs::lines(&find_run(&root, Some(run))?, false)?, "text/plain"));
        }
        ["runs", run, "report"] => {
            let path = find_run(&root, Some(run))?.directory().join("report.md");
            fs::read_to_string(path).map_err(|_| nothing(uri))?
        }
        ["runs", run, "agents", agent] => {
            let run = find_run(&root, Some(run))?;
            run.page(agent)?.ok_or_else(|| nothing(uri))?
        }
        ["agents", name] => {
            let agents = desk.operations.agents(&root)?;
            let agent = agents.into_iter().find(|agent| agent.answers_to(name));
            let agent = agent.ok_or_else(|| nothing(uri))?;
            format!("# {}\n\n{}\n\n{}", agent.name, agent.focus, agent.instructions)
        }
        ["sops", name] => {
            let sops = quorum_engine::sops::texts(&root)?;
            let sop = sops.into_iter().find(|(known, _)| known == name);
            sop.ok_or_else(|| nothing(uri))?.1
        }
        _ => return Err(nothing(uri)),
    };
    Ok((cut(text), "text/markdown"))
}

fn runs_json(root: &Path) -> Result<String, ToolError> {
    let mut all = Vec::new();
    let runs = Run::list(root)?.into_iter().rev().filter(|run| is_ours(run.directory()));
    for run in runs.take(RECENT) {
        let result = run.result().ok().flatten();
        all.push(json!({
            "run": run.id(),
            "verdict": result.as_ref().map(|result| result.verdict),
            "scope": result.map(|result| result.scope),
        }));
    }
    Ok(json!(all).to_string())
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n(cut)");
    }
    text
}

fn nothing(uri: &str) -> ToolError {
    let uri: String = uri.chars().filter(|c| !c.is_control()).take(200).collect();
    ToolError::new(Code::NotFound, format!("there is no resource `{uri}`"))
}
