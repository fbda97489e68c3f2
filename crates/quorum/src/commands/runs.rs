//! `quorum runs`.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use quorum_engine::kept::Kept;
use quorum_model::verdict::Verdict;
use quorum_store::state::AgentState;
use quorum_store::{Retention, Run, RunSummary};
use serde::Serialize;

use crate::cli::{Cli, Format, RunsAction, RunsArgs};
use crate::failure::Failure;
use crate::{output, process, render};

/// A run in a list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) run: String,
    pub(crate) started: Option<String>,
    pub(crate) scope: String,
    pub(crate) status: Status,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) agents_finished: usize,
    pub(crate) findings: usize,
    pub(crate) directory: String,
    /// Records of the journal that were changed after they were written.
    pub(crate) damage: Vec<String>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Finished,
    Running,
    Interrupted,
    Killed,
}

pub(super) fn run(cli: &Cli, arguments: &RunsArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    match &arguments.action {
        RunsAction::List { output } => {
            let runs = Run::list(&kept.root)?;
            let runs: Vec<Listed> = runs.iter().map(listed).collect::<Result<_, _>>()?;
            let file = output.output.as_deref();
            if output.format == Format::Json {
                output::json(&runs, file)?;
            } else {
                output::text(&render::runs::list(&runs, output::width()), file)?;
            }
        }
        RunsAction::Show { run, output } => {
            let run = Run::find(&kept.root, run)?;
            let listed = listed(&run)?;
            let file = output.output.as_deref();
            if output.format == Format::Json {
                output::json(&listed, file)?;
            } else {
                output::text(&render::runs::one(&listed, &run.verdicts()?), file)?;
            }
        }
        RunsAction::Clean { keep, older_than } => {
            let older_than = older_than.as_deref().map(age).transpose()?;
            let retention = Retention { keep: *keep, older_than };
            let cleaned = Run::clean(&kept.root, retention, Timestamp::now())?;
            output::text(&render::runs::cleaned(&cleaned), None)?;
        }
    }
    Ok(0)
}

fn listed(run: &RunSummary) -> Result<Listed, Failure> {
    let state = run.state()?;
    let result = run.result()?;
    let status = match &result {
        Some(_) => Status::Finished,
        None if run.is_active() => Status::Running,
        None if state.interrupted.is_some() => Status::Interrupted,
        None => Status::Killed,
    };
    let reported = || state.agents().values().map(AgentState::reported).sum();
    Ok(Listed {
        run: run.id().to_owned(),
        started: run.started().map(|at| at.to_string()),
        scope: state.label.clone(),
        status,
        verdict: result.as_ref().map(|result| result.verdict),
        agents_finished: state.outcomes().count(),
        findings: result.map_or_else(reported, |result| result.findings.len()),
        directory: run.directory().display().to_string(),
        damage: state.damage.iter().map(ToString::to_string).collect(),
    })
}

/// A length of time such as `7d`.
pub(super) fn age(text: &str) -> Result<SignedDuration, Failure> {
    let span: Result<Span, _> = text.parse();
    let whole = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
    match whole {
        Ok(length) if length >= SignedDuration::ZERO => Ok(length),
        _ => Err(Failure::new(format!("`{text}` is not a length of time"))
            .with_hint("such as `7d`, `12h` or `2w`")),
    }
}
