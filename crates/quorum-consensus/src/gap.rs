//! What an agent did not look at, and the command that would have it look.

use quorum_model::coverage::{CoverageState, Gap};
use quorum_model::report::CutoffReason;
use quorum_model::scope::{Scope, ScopeKind};

use crate::coverage::Part;
use crate::lines::describe;
use crate::seat::Seat;
use crate::shell;

/// The engine that is no model.
const BUILTIN: &str = "builtin";

pub(crate) fn gap(path: &str, seat: &Seat<'_>, scope: &Scope, part: &Part) -> Gap {
    let mut reasons: Vec<String> = Vec::new();
    if part.state == CoverageState::Partial && !part.unseen.is_empty() {
        reasons.push(format!("{} not shown: {}", describe(&part.unseen), why_skipped(seat)));
    }
    if !part.read.is_empty() {
        reasons.push(format!("{} only read: no parser understands them", describe(&part.read)));
    }
    reasons.extend(part.reason.clone());
    if reasons.is_empty() {
        reasons.push(match part.state {
            CoverageState::Partial => "the other lines were only read".to_owned(),
            _ => why_skipped(seat),
        });
    }
    let reason = reasons.join("; ");
    // Nobody reads it the next time either, and rules see the same lines as now: there is nothing
    // to run.
    let by_rules = seat.planned.engine == BUILTIN;
    let same_again = by_rules && part.state == CoverageState::Partial && part.unseen.is_empty();
    let command = if same_again || part.state == CoverageState::Unreadable {
        String::new()
    } else {
        format!(
            "quorum review {} --agents {}{}{}",
            shell::quote_path(path),
            shell::quote(seat.short_name()),
            same_scope(scope),
            same_engine(seat)
        )
    };
    Gap { path: path.to_owned(), agent: seat.name().to_owned(), reason: Some(reason), command }
}

/// The flags that name the same change again. Where there are none for it, the file as a whole is
/// reviewed, which is more.
fn same_scope(scope: &Scope) -> String {
    let revision = |revision: &Option<String>| revision.clone().unwrap_or_default();
    match scope.kind {
        ScopeKind::Worktree => " --staged --unstaged --untracked".to_owned(),
        ScopeKind::Staged => " --staged".to_owned(),
        ScopeKind::Unstaged => " --unstaged".to_owned(),
        ScopeKind::Untracked => " --untracked".to_owned(),
        ScopeKind::Commit => format!(" --commit {}", shell::quote(&revision(&scope.head))),
        ScopeKind::Range => {
            let range = format!("{}..{}", revision(&scope.base), revision(&scope.head));
            format!(" --range {}", shell::quote(&range))
        }
        ScopeKind::Base => format!(" --base {}", shell::quote(&revision(&scope.base))),
        ScopeKind::Paths | ScopeKind::All | ScopeKind::Branch | ScopeKind::Diff | ScopeKind::Pr => {
            String::new()
        }
    }
}

/// The flags that name the same engine again; the one that needs none is the usual one.
fn same_engine(seat: &Seat<'_>) -> String {
    let planned = seat.planned;
    if planned.engine == BUILTIN {
        return String::new();
    }
    let model = planned.model.as_deref();
    let model = model.map(|model| format!(" --model {}", shell::quote(model)));
    // What did not fit one budget does not fit it the next time: others are added until all is seen.
    let engine = shell::quote(&planned.engine);
    format!(" --provider {engine}{} --complete", model.unwrap_or_default())
}

/// Why an agent was not shown everything.
pub(crate) fn why_skipped(seat: &Seat<'_>) -> String {
    if let Some(why) = seat.unfinished() {
        return why;
    }
    let cutoff = seat.outcome.and_then(|outcome| outcome.cutoff_reason);
    match cutoff {
        Some(CutoffReason::Budget) => "budget limit",
        Some(CutoffReason::Ceiling) => "ceiling of the run",
        Some(CutoffReason::Timeout) => "out of time",
        Some(CutoffReason::Absent) => "its agent never came back",
        Some(CutoffReason::Interrupt) => "interrupted",
        Some(CutoffReason::Error) => "the engine failed",
        Some(CutoffReason::Canary) => "it missed a planted defect",
        None => "not shown",
    }
    .to_owned()
}
