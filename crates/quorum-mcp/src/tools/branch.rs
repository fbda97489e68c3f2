//! Branches for a host's own agents.

use std::time::Duration;

use jiff::Timestamp;
use quorum_dispatch::branch::BranchState;
use serde_json::{Value, json};

use super::{scrub, text};
use crate::arguments::{BranchCreate, BranchReturn, BranchStatus, SubmitFindings};
use crate::branches::{Branch, MOST_OF_SESSION, NewBranch, Session, Shelf};
use crate::call::{Answer, Desk};
use crate::delegation;
use crate::error::{Code, ToolError};

/// Tokens where the caller names none, and the most that are given.
const BUDGET: (u64, u64) = (8_192, 1_000_000);
/// Seconds where the caller names none, and the most that are given.
const SECONDS: (u64, u64) = (300, 86_400);
/// The session of callers that name none.
const USUAL_SESSION: &str = "main";
/// The longest name of a session, description and message, in bytes.
const LONGEST: (usize, usize, usize) = (200, 500, 50_000);

pub(crate) fn create(desk: &Desk, arguments: &BranchCreate) -> Result<Answer, ToolError> {
    let session = arguments.session_id.as_deref().unwrap_or(USUAL_SESSION);
    for (name, value, most) in [
        ("session_id", session, LONGEST.0),
        ("description", arguments.description.as_str(), LONGEST.1),
    ] {
        if value.trim().is_empty() || value.len() > most {
            let text = format!("`{name}` has 1 to {most} bytes");
            return Err(ToolError::new(Code::InvalidArgument, text));
        }
    }
    let budget = arguments.budget.unwrap_or(BUDGET.0);
    if budget == 0 || budget > BUDGET.1 {
        let text = format!("a budget is from 1 to {} tokens", BUDGET.1);
        return Err(ToolError::new(Code::InvalidBudget, text));
    }
    let seconds = arguments.timeout_seconds.unwrap_or(SECONDS.0);
    if seconds == 0 || seconds > SECONDS.1 {
        let text = format!("`timeout_seconds` is from 1 to {}", SECONDS.1);
        return Err(ToolError::new(Code::InvalidArgument, text));
    }
    let root = desk.root(arguments.project_path.as_deref())?;
    let shelf = match &arguments.parent {
        Some(parent) => Shelf::of_branch(&root, parent)?,
        None => Shelf::of_session(&root, session)?,
    };
    let new = NewBranch {
        description: &arguments.description,
        parent: arguments.parent.as_deref(),
        budget,
        deadline: Some(Timestamp::now() + Duration::from_secs(seconds)),
        task: None,
    };
    shelf.change(|kept| {
        if kept.session_id.is_empty() {
            session.clone_into(&mut kept.session_id);
        }
        if kept.active() >= MOST_OF_SESSION {
            let text = format!("{MOST_OF_SESSION} branches of a session may be at work");
            return Err(ToolError::new(Code::BranchLimit, text).with_hint("return some first"));
        }
        let id = kept.create(new)?.id.clone();
        let (_, node) = kept.working(&id)?;
        Ok(vec![text(&json!({
            "branch_id": id, "budget_allocated": budget, "depth": node.depth,
        }))])
    })
}

pub(crate) fn give_back(desk: &Desk, arguments: BranchReturn) -> Result<Answer, ToolError> {
    let message = arguments.message.unwrap_or_default();
    if message.len() > LONGEST.2 {
        let text = format!("a message has {} bytes at most", LONGEST.2);
        return Err(ToolError::new(Code::TooLarge, text));
    }
    let root = desk.root(arguments.project_path.as_deref())?;
    let id = arguments.branch_id;
    let shelf = Shelf::of_branch(&root, &id)?;
    let session = shelf.read()?;
    let is_part = session.branch(&id).is_some_and(|branch| branch.task.is_some());
    if is_part {
        // A part of a review reports in one way, whatever the call is named.
        let submitted = SubmitFindings {
            branch_id: id,
            receipt: None,
            findings: arguments.findings,
            done: true,
            skipped_medium: 0,
            skipped_low: 0,
            sops: Vec::new(),
            patterns: Vec::new(),
            reactions: Vec::new(),
            project_path: None,
        };
        let answer = delegation::submit(&desk.operations, &root, &submitted)?;
        return Ok(vec![text(&answer)]);
    }
    let message = quorum_rules::secrets::redact(&message);
    let mut findings = Value::Array(arguments.findings);
    scrub(&mut findings);
    shelf.change(|session| {
        let (branch, node) = session.working(&id)?;
        let (node_id, used) = (branch.node, node.account.used);
        session.forest.fold(node_id, BranchState::Completed)?;
        if let Some(branch) = session.branch_mut(&id) {
            branch.message = Some(message.clone());
            branch.findings = findings.as_array().cloned().unwrap_or_default();
        }
        let mut answer = json!({ "success": true, "tokens_used": used, "message": message });
        if findings.as_array().is_some_and(|findings| !findings.is_empty()) {
            answer["findings"] = findings;
        }
        Ok(vec![text(&answer)])
    })
}

pub(crate) fn status(desk: &Desk, arguments: &BranchStatus) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let answer = match (&arguments.branch_id, &arguments.session_id) {
        (Some(id), _) => {
            let session = seen(&Shelf::of_branch(&root, id)?)?;
            let branch = session
                .branch(id)
                .ok_or_else(|| ToolError::new(Code::BranchNotFound, "the branch is gone"))?;
            standing(&session, branch)?
        }
        (None, Some(name)) => {
            let shelf = match crate::call::find_run(&root, Some(name)) {
                Ok(run) if run.id() == name => Shelf::of_run(run.directory()),
                _ => Shelf::of_session(&root, name)?,
            };
            let session = seen(&shelf)?;
            let branches: Result<Vec<Value>, ToolError> =
                session.branches.iter().map(|branch| standing(&session, branch)).collect();
            let status = if session.branches.is_empty() { "none" } else { "known" };
            json!({ "session_id": name, "status": status, "branches": branches? })
        }
        (None, None) => {
            let text = "name a `branch_id` or a `session_id`";
            return Err(ToolError::new(Code::InvalidArgument, text));
        }
    };
    Ok(vec![text(&answer)])
}

/// The session with what is out of time ended.
fn seen(shelf: &Shelf) -> Result<Session, ToolError> {
    let mut session = shelf.read()?;
    session.expire(Timestamp::now());
    Ok(session)
}

/// Where a branch stands; nothing of what it read or found, which is nobody else's to see.
fn standing(session: &Session, branch: &Branch) -> Result<Value, ToolError> {
    let node = session.node(branch)?;
    let account = node.account;
    Ok(json!({
        "branch_id": branch.id,
        "session_id": session.session_id,
        "status": node.state.as_str(),
        "depth": node.depth,
        "budget_used": account.used,
        "budget_total": account.budget,
        "budget_remaining": account.budget.saturating_sub(account.used),
        "mode": branch.told,
    }))
}
