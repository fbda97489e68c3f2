//! `quorum loop`: a developer's command, gates and reviewers, in rounds.

mod developer;
mod feedback;
mod judge;

use quorum_model::SCHEMA_VERSION;
use quorum_model::looping::{LoopOutcome, LoopReport, Rejection, Round};
use quorum_model::result::ReviewResult;
use quorum_scope::checkout;
use quorum_scope::repository::Repository;

use super::review::{self, How, Performed, Work};
use crate::cli::{Cli, Format, LoopArgs, ScopeArgs};
use crate::commands::plan;
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::record::Recorder;
use crate::{gates, models, output, progress, render, workspace};
use judge::Task;

const FEEDBACK: &str = "feedback.md";

pub(super) fn run(cli: &Cli, arguments: &LoopArgs) -> Result<u8, Failure> {
    let repository = Repository::discover(&workspace::folder(cli)?)?;
    let root = repository.require_work_tree()?;
    let task = arguments.task.as_deref().map(Task::read).transpose()?.unwrap_or_default();
    let aside = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("no temporary folder can be made: {error}")))?;
    let start = checkout::snapshot(&repository, &aside.path().join("index"))?;
    let first = aside.path().join("task.md");
    output::raw(&task.prompt(), Some(&first))?;
    let mut prompt = first;
    let mut rounds: Vec<Round> = Vec::new();
    let (outcome, rejection, reason, exit_code) = loop {
        let number = rounds.len() as u64 + 1;
        if !cli.quiet {
            output::notice(&format!("round {number}: {}", arguments.develop));
        }
        let developer_exit_code = developer::work(arguments, root, &prompt, number)?;
        let Some((result, recorder)) = reviewed(cli, arguments, &start)? else {
            return Ok(130);
        };
        let rejection = judge::rejection(&result, &task);
        let mut round = round(number, developer_exit_code, &result, rejection);
        let last = number == arguments.rounds;
        if let Some(end) = judge::end(&result, rejection, last) {
            rounds.push(round);
            break end;
        }
        let text = feedback::text(&task, number, &result);
        recorder.keep(FEEDBACK, &text)?;
        prompt = if let Some(run) = recorder.run() {
            run.directory().join(FEEDBACK)
        } else {
            let path = aside.path().join(FEEDBACK);
            output::raw(&text, Some(&path))?;
            path
        };
        round.feedback = Some(prompt.display().to_string());
        rounds.push(round);
    };
    let report = LoopReport {
        schema_version: SCHEMA_VERSION,
        outcome,
        rejection,
        reason,
        exit_code,
        rounds,
    };
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::gates::looped(&report), file)?,
    }
    Ok(report.exit_code)
}

/// Gates and reviewers on what was done since `start`; absent where the user stopped them.
fn reviewed(
    cli: &Cli,
    arguments: &LoopArgs,
    start: &str,
) -> Result<Option<(Box<ReviewResult>, Recorder)>, Failure> {
    let scope = ScopeArgs { since: Some(start.to_owned()), ..ScopeArgs::default() };
    let made = plan::make(cli, &scope, &arguments.run, Purpose::Review)?;
    let engines = models::engines(&made.plan, &made.workspace)?;
    // Whoever lets a command loose on the repository has said that its work may run.
    // What was there before the first round can be broken too.
    let gates = gates::prepare(&made.workspace)?.whole();
    let recorder = Recorder::start(&made.workspace, &made.plan, None)?;
    let work = Work { cli, made: &made, engines: &engines, gates: Some(&gates) };
    let how = How { bar: progress::files(made.files.len(), cli.quiet), stop: &|| false };
    match review::perform(&work, &recorder, &arguments.run, &how)? {
        Performed::Decided(result) => Ok(Some((result, recorder))),
        Performed::Stopped(_) => Ok(None),
    }
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
