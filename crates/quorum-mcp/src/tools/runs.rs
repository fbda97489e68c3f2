//! What reviews left: verdicts, findings, and setting one aside.

use jiff::civil::Date;
use quorum_store::ledger::Ledger;
use quorum_store::ledger::dismissal::Dismissal;
use quorum_store::{RunSummary, verdicts};
use serde_json::json;

use super::text;
use crate::arguments::{Dismiss, Finding, Verdicts};
use crate::call::{Answer, Desk, find_run};
use crate::digest;
use crate::error::{Code, ToolError};

pub(crate) fn verdicts(desk: &Desk, arguments: &Verdicts) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let run = find_run(&root, arguments.run.as_deref())?;
    let page = lines(&run, arguments.attention)?;
    desk.charged(&root, arguments.branch_id.as_deref(), page)
}

/// The state of a run and a line for each agent.
pub(crate) fn lines(run: &RunSummary, attention: bool) -> Result<String, ToolError> {
    let mut files = run.verdicts()?;
    let state = match run.result()? {
        Some(result) => digest::word(&result),
        None if run.is_active() => "RUNNING".to_owned(),
        None => "UNFINISHED".to_owned(),
    };
    let mut page = format!("Run {}: {state}\n", run.id());
    if attention {
        files.retain(verdicts::needs_a_look);
    }
    for file in &files {
        page.push_str(&verdicts::line(file));
        page.push('\n');
    }
    Ok(page)
}

pub(crate) fn finding(desk: &Desk, arguments: &Finding) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let run = find_run(&root, arguments.run.as_deref())?;
    let finding = named(&run, &arguments.id)?;
    let mut answer = serde_json::to_value(&finding)
        .map_err(|cause| ToolError::new(Code::Failed, cause.to_string()))?;
    if let Some(fields) = answer.as_object_mut() {
        // Who said what about it is on the agents' pages.
        fields.remove("positions");
        fields.retain(|_, value| !value.is_null());
    }
    desk.charged(&root, arguments.branch_id.as_deref(), text(&answer))
}

pub(crate) fn dismiss(desk: &Desk, arguments: Dismiss) -> Result<Answer, ToolError> {
    if arguments.reason.trim().is_empty() {
        return Err(ToolError::new(Code::InvalidArgument, "a reason is needed"));
    }
    if let Some(day) = &arguments.expires
        && day.parse::<Date>().is_err()
    {
        let text = "`expires` is a day, such as 2027-01-31";
        return Err(ToolError::new(Code::InvalidArgument, text));
    }
    let root = desk.root(arguments.project_path.as_deref())?;
    let run = find_run(&root, arguments.run.as_deref())?;
    let finding = named(&run, &arguments.id)?;
    let author = quorum_engine::kept::author(&root);
    let dismissal = Dismissal::of(
        &finding,
        quorum_rules::secrets::redact(&arguments.reason),
        author,
        arguments.expires,
    );
    Ledger::open(&root, desk.operations.seal(&root)?)?.dismiss(&dismissal)?;
    Ok(vec![text(&json!({ "dismissed": finding.id, "fingerprint": finding.fingerprint }))])
}

fn named(run: &RunSummary, id: &str) -> Result<quorum_model::finding::Finding, ToolError> {
    run.finding(id)?.ok_or_else(|| {
        let id: String = id.chars().take(40).collect();
        let code = match run.result() {
            Ok(None) => Code::RunUndecided,
            _ => Code::NotFound,
        };
        ToolError::new(code, format!("run {} has no finding `{id}`", run.id()))
            .with_hint("`verdicts` says what there is")
    })
}
