//! Reviews: planned, by Quorum's own reviewers, or by a host's agents.

use std::path::Path;

use quorum_model::gate::{GateReport, GateResult, GateStatus};
use quorum_model::plan::Plan;
use serde_json::{Value, json};

use super::{runs, text};
use crate::arguments::{self, Gates, Protocol, ReviewFinish, ReviewStatus, SubmitFindings, Tier};
use crate::call::{Answer, Desk, find_run};
use crate::error::{Code, ToolError};
use crate::operations::{GatesRequest, ReviewRequest};
use crate::{delegation, digest, scope};

/// Warnings that are repeated.
const MOST_WARNINGS: usize = 5;
/// Errors of a gate that are named.
const MOST_ERRORS: usize = 5;
/// What is shown of the output of a gate whose errors could not be read, in characters from its end.
const OUTPUT: usize = 1_500;

/// What `quorum review` would be given for a call.
pub(crate) fn request(
    root: &Path,
    arguments: &arguments::Review,
) -> Result<ReviewRequest, ToolError> {
    let mut all = Vec::new();
    if !arguments.agents.is_empty() {
        all.push(format!("--agents={}", arguments.agents.join(",")));
    }
    if let Some(protocol) = arguments.protocol {
        all.push(format!(
            "--protocol={}",
            match protocol {
                Protocol::Veto => "veto",
                Protocol::Aad => "aad",
                Protocol::Ci => "ci",
                Protocol::Vote => "vote",
            }
        ));
    }
    if let Some(tier) = arguments.tier {
        all.push(format!(
            "--tier={}",
            match tier {
                Tier::Simple => "simple",
                Tier::Standard => "standard",
                Tier::Complex => "complex",
            }
        ));
    }
    if let Some(reason) = &arguments.ignore_vetos {
        if reason.trim().is_empty() {
            return Err(ToolError::new(Code::InvalidArgument, "`ignore_vetos` needs a reason"));
        }
        all.push(format!("--ignore-vetos={reason}"));
    }
    if arguments.strict {
        all.push("--strict".to_owned());
    }
    all.extend(scope::arguments(root, arguments.scope.as_deref(), &arguments.paths)?);
    Ok(ReviewRequest { arguments: all })
}

pub(crate) fn plan(desk: &Desk, arguments: &arguments::Review) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let plan = desk.operations.plan(&root, &request(&root, arguments)?)?;
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

pub(crate) fn gates(desk: &Desk, arguments: Gates) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let change = scope::arguments(&root, arguments.scope.as_deref(), &[])?;
    let change = ReviewRequest { arguments: change };
    let request = GatesRequest { change, only: arguments.only };
    Ok(vec![text(&gated(&desk.operations.gates(&root, &request)?))])
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
    let begun = desk.operations.begin(&root, &request(&root, arguments)?)?;
    Ok(vec![delegation::begin(&root, &begun, metering)?])
}

pub(crate) fn submit(desk: &Desk, arguments: &SubmitFindings) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    Ok(vec![text(&delegation::submit(&*desk.operations, &root, arguments)?)])
}

pub(crate) fn finish(desk: &Desk, arguments: &ReviewFinish) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let run = find_run(&root, Some(&arguments.run))?;
    Ok(vec![delegation::finish(&*desk.operations, &root, run.directory(), run.id())?])
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
