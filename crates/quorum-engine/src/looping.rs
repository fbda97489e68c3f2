//! `quorum loop`: a developer's command, gates and reviewers, in rounds.

mod developer;
mod feedback;
mod judge;

use std::path::{Path, PathBuf};

use quorum_model::SCHEMA_VERSION;
use quorum_model::looping::{LoopOutcome, LoopReport, Rejection, Round};
use quorum_model::result::ReviewResult;
use quorum_scope::checkout;
use quorum_scope::repository::Repository;

use tokio_util::sync::CancellationToken;

use crate::environment::Environment;
use crate::error::EngineError;
use crate::gather::Purpose;
use crate::observer::{Progress, SharedObserver};
use crate::record::Recorder;
use crate::request::{ReviewOptions, ReviewRequest, ReviewSelection};
use crate::review::{self, Review, Work};
use crate::{gates, models, plan};
use judge::Task;

const FEEDBACK: &str = "feedback.md";

/// What a loop does.
#[derive(Clone, Debug)]
pub struct LoopOptions {
    /// The repository that is worked in.
    pub root: PathBuf,
    /// The command that does the work, as a shell reads it.
    pub develop: String,
    /// Seconds that the command may take in one round.
    pub develop_seconds: u64,
    /// What is to be done: a file with a text, or JSON.
    pub task: Option<PathBuf>,
    /// The most rounds.
    pub rounds: u64,
    /// How each round is reviewed.
    pub review: ReviewOptions,
}

/// Lets a coding agent work until gates and reviewers are content, or until another round would not
/// help; absent where it was cancelled.
pub fn run(
    options: &LoopOptions,
    environment: &Environment,
    observer: &SharedObserver,
    cancel: &CancellationToken,
) -> Result<Option<LoopReport>, EngineError> {
    let repository = Repository::discover(&options.root)?;
    let root = repository.require_work_tree()?;
    let task = options.task.as_deref().map(Task::read).transpose()?.unwrap_or_default();
    let aside = tempfile::tempdir_in(&environment.temporary).map_err(|error| {
        EngineError::failed(format!("no temporary folder can be made: {error}"))
    })?;
    let start = checkout::snapshot(&repository, &aside.path().join("index"))?;
    let first = aside.path().join("task.md");
    write(&first, &task.prompt())?;
    let mut prompt = first;
    let mut rounds: Vec<Round> = Vec::new();
    let (outcome, rejection, reason, exit_code) = loop {
        let number = rounds.len() as u64 + 1;
        let text = format!("round {number}: {}", options.develop);
        observer.observe(Progress::Notice(&text));
        let developer_exit_code = developer::work(options, root, &prompt, number, &**observer)?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let review = reviewed(options, environment, &start, observer, cancel)?;
        if review.interrupted {
            return Ok(None);
        }
        let result = &review.result;
        let rejection = judge::rejection(result, &task);
        let mut round = round(number, developer_exit_code, result, rejection);
        let last = number == options.rounds;
        if let Some(end) = judge::end(result, rejection, last) {
            rounds.push(round);
            break end;
        }
        let text = feedback::text(&task, number, result);
        let recorder = review.recorder();
        recorder.keep(FEEDBACK, &text)?;
        prompt = if let Some(run) = recorder.run() {
            run.directory().join(FEEDBACK)
        } else {
            let path = aside.path().join(FEEDBACK);
            write(&path, &text)?;
            path
        };
        round.feedback = Some(prompt.display().to_string());
        rounds.push(round);
    };
    Ok(Some(LoopReport {
        schema_version: SCHEMA_VERSION,
        outcome,
        rejection,
        reason,
        exit_code,
        rounds,
    }))
}

fn write(path: &Path, text: &str) -> Result<(), EngineError> {
    std::fs::write(path, text)
        .map_err(|error| EngineError::failed(format!("{}: {error}", path.display())))
}

/// Gates and reviewers on what was done since `start`.
fn reviewed(
    options: &LoopOptions,
    environment: &Environment,
    start: &str,
    observer: &SharedObserver,
    cancel: &CancellationToken,
) -> Result<Review, EngineError> {
    let selection = ReviewSelection::Since { tree: start.to_owned() };
    let mut request = ReviewRequest::new(&options.root, selection);
    request.options = options.review.clone();
    let prepared = plan::make(&request, environment, Purpose::Review, &**observer)?;
    let engines = models::engines(&prepared.plan, &prepared.workspace)?;
    // Whoever lets a command loose on the repository has said that its work may run.
    // What was there before the first round can be broken too.
    let gates = gates::prepare(&prepared.workspace, observer)?.whole();
    let recorder =
        Recorder::start(&prepared.workspace, &prepared.plan, &prepared.decided_by, None)?;
    let gates = Some(&gates);
    let work = Work { prepared: &prepared, engines: &engines, gates, observer, cancel };
    review::carry_on(&work, recorder)
}

fn round(
    number: u64,
    developer_exit_code: Option<i32>,
    result: &ReviewResult,
    rejection: Option<Rejection>,
) -> Round {
    let failed = result.gates.iter().filter(|gate| gate.blocks());
    Round {
        round: number,
        run: result.run.clone(),
        developer_exit_code,
        verdict: result.verdict,
        rejection,
        failed_gates: failed.map(|gate| gate.name.clone()).collect(),
        findings: result.findings.len() as u64,
        feedback: None,
    }
}

/// How a loop ends: outcome, rejection, reason, exit code.
type End = (LoopOutcome, Option<Rejection>, String, u8);
