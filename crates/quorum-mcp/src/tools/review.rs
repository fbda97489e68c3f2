//! Reviews: planned, by Quorum's own reviewers, or by a host's agents.

use std::path::Path;

use quorum_engine::ReviewRequest;
use quorum_model::gate::{GateReport, GateResult, GateStatus};
use quorum_model::plan::Plan;
use serde_json::{Value, json};

use super::{runs, text};
use crate::arguments::{self, Gates, ReviewFinish, ReviewStatus, SubmitFindings};
use crate::call::{Answer, Desk, find_run};
use crate::error::{Code, ToolError};
use crate::{delegation, digest, scope};

/// Warnings that are repeated.
const MOST_WARNINGS: usize = 5;
/// Errors of a gate that are named.
const MOST_ERRORS: usize = 5;
/// What is shown of the output of a gate whose errors could not be read, in characters from its end.
const OUTPUT: usize = 1_500;

/// What a call asks for.
pub(crate) fn request(
    root: &Path,
    arguments: &arguments::Review,
) -> Result<ReviewRequest, ToolError> {
    if arguments.ignore_vetos.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        return Err(ToolError::new(Code::InvalidArgument, "`ignore_vetos` needs a reason"));
    }
    let (selection, paths) = scope::selection(root, arguments.scope.as_deref(), &arguments.paths)?;
    let mut request = ReviewRequest::new(root, selection);
    request.paths = paths;
    request.options.agents.clone_from(&arguments.agents);
    request.options.protocol = arguments.protocol;
    request.options.tier = arguments.tier;
    request.options.ignore_vetos.clone_from(&arguments.ignore_vetos);
    request.options.strict = arguments.strict;
    Ok(request)
}

pub(crate) fn plan(desk: &Desk, arguments: &arguments::Review) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let plan = desk.operations.plan(&request(&root, arguments)?)?;
    desk.charged(&root, arguments.branch_id.as_deref(), text(&shown(&plan)))
}

/// A plan without its lists of files and units.
fn shown(plan: &Plan) -> Value {
    let agents: Vec<Value> = plan
        .agents
        .iter()
        .map(|agent| {
            json!({
                "name": agent.name,
                "budget": agent.budget,
                "veto": agent.veto,
                "engine": agent.engine,
                "files": agent.files.len(),
                "shards": agent.shards.len(),
                "reason": agent.reason,
            })
        })
        .collect();
    let mut shown = json!({
        "scope": plan.scope.label,
        "base": plan.scope.base,
        "head": plan.scope.head,
        "files": plan.scope.files.len(),
        "total_tokens": plan.total_tokens,
        "tier": plan.tier.name,
        "isolation": plan.isolation.as_str(),
        "protocol": plan.protocol.as_str(),
        "agents": agents,
        "unassigned": plan.unassigned.len(),
        "ceilings": {
            "calls": plan.ceilings.calls,
            "tokens": plan.ceilings.tokens,
            "seconds": plan.ceilings.seconds,
            "usd": plan.ceilings.usd,
        },
    });
    if !plan.warnings.is_empty() {
        shown["warnings"] = json!(plan.warnings.iter().take(MOST_WARNINGS).collect::<Vec<_>>());
    }
    shown
}

pub(crate) fn gates(desk: &Desk, arguments: &Gates) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let (selection, paths) = scope::selection(&root, arguments.scope.as_deref(), &[])?;
    let mut request = ReviewRequest::new(&root, selection);
    request.paths = paths;
    Ok(vec![text(&gated(&desk.operations.gates(&request, &arguments.only)?))])
}

/// What gates came to: a word for what passed, and what to mend for what did not.
fn gated(report: &GateReport) -> Value {
    let gates: Vec<Value> = report.gates.iter().map(gate).collect();
    let mut shown = json!({ "passed": report.passed, "gates": gates });
    if !report.isolation.missing.is_empty() {
        shown["less_isolation"] = json!(report.isolation.missing);
    }
    shown
}

fn gate(result: &GateResult) -> Value {
    let mut shown = json!({ "name": result.name, "outcome": result.outcome() });
    if matches!(result.status, GateStatus::Passed | GateStatus::Skipped) {
        return shown;
    }
    shown["required"] = json!(result.required);
    let errors = result.findings.iter().take(MOST_ERRORS);
    let errors: Vec<String> =
        errors.map(|found| format!("{}:{} {}", found.file, found.line, found.message)).collect();
    if errors.is_empty() {
        let left = result.output.chars().count().saturating_sub(OUTPUT);
        shown["output"] = json!(result.output.chars().skip(left).collect::<String>());
    } else {
        shown["errors"] = json!(errors);
        if result.findings.len() > MOST_ERRORS {
            shown["more_errors"] = json!(result.findings.len() - MOST_ERRORS);
        }
    }
    shown
}

pub(crate) fn begin(desk: &Desk, arguments: &arguments::Review) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let metering = desk.operations.metering(&root)?;
    let begun = desk.operations.begin(&request(&root, arguments)?)?;
    Ok(vec![delegation::begin(&root, &begun, metering)?])
}

pub(crate) fn submit(desk: &Desk, arguments: &SubmitFindings) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    Ok(vec![text(&delegation::submit(&desk.operations, &root, arguments)?)])
}

pub(crate) fn finish(desk: &Desk, arguments: &ReviewFinish) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let run = find_run(&root, Some(&arguments.run))?;
    Ok(vec![delegation::finish(&desk.operations, &root, run.directory(), run.id())?])
}

pub(crate) fn status(desk: &Desk, arguments: &ReviewStatus) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let run = find_run(&root, arguments.run.as_deref())?;
    let job = desk.jobs.of_run(&root, run.id());
    if arguments.cancel {
        let Some(job) = &job else {
            let text = format!("run {} was not started by this server", run.id());
            return Err(ToolError::new(Code::Unavailable, text));
        };
        job.cancel();
    }
    if let Some(job) = job {
        let standing = job.standing.borrow().clone();
        match standing.end {
            Some(Ok(result)) => return Ok(vec![digest::of(&result)]),
            Some(Err(error)) => return Err(error),
            None => {
                return Ok(vec![text(&json!({
                    "run": run.id(),
                    "status": if arguments.cancel { "cancelling" } else { "running" },
                    "done": standing.done,
                    "total": standing.total,
                    "message": standing.message,
                }))]);
            }
        }
    }
    if let Some(result) = run.result()? {
        return Ok(vec![digest::of(&result)]);
    }
    if let Some((done, parts)) = delegation::standing(run.directory())? {
        let answer = json!({
            "run": run.id(), "status": "delegated", "done": done, "total": parts,
            "next": "review_finish, when all are back",
        });
        return Ok(vec![text(&answer)]);
    }
    Ok(vec![runs::lines(&run, false)?])
}
