//! `quorum ingest`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use quorum_model::finding::AgentFinding;
use quorum_rules::secrets::Known;
use quorum_store::Run;
use quorum_store::ingest::{self, Ingested, Rejection};
use serde::Serialize;

use super::review;
use crate::cli::{Cli, Format, IngestArgs};
use crate::failure::Failure;
use crate::kept::Kept;
use crate::record::Recorder;
use crate::workspace::{self, Workspace};
use crate::{kept, output, render, request, settings};

/// The exit code where a file could not be used.
const UNHEARD: u8 = 2;

/// What became of one file.
#[derive(Debug, Serialize)]
pub(crate) struct Taken {
    pub(crate) file: String,
    pub(crate) state: &'static str,
    pub(crate) cause: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) findings: usize,
    pub(crate) rejected: u64,
}

pub(super) fn run(cli: &Cli, arguments: &IngestArgs) -> Result<u8, Failure> {
    let kept = Kept::open(cli)?;
    let folder = workspace::folder(cli)?;
    let found = match Run::find(&kept.root, &arguments.run.run) {
        Ok(found) => Some(found),
        Err(_) if arguments.check => None,
        Err(error) => return Err(error.into()),
    };
    let id = found.as_ref().map(quorum_store::RunSummary::id);
    let mut files = Vec::new();
    for path in &arguments.files {
        files.push((path.as_path(), read(&folder.join(path), id)?));
    }
    let out = &arguments.output;
    let Some(found) = found.filter(|_| !arguments.check) else {
        let taken: Vec<Taken> =
            files.iter().map(|(path, ingested)| taken(path, ingested, None)).collect();
        print(&taken, out)?;
        let heard = taken.iter().all(|taken| taken.state == "valid");
        return Ok(if heard { 0 } else { UNHEARD });
    };
    let own = kept::own(&kept.root, found)?;
    let found = own.summary();
    let (asked, change) = request::load(&own)?;
    let workspace = Workspace::open(&asked, &change.scope, settings::flags(&change.run))?;
    let snapshot = workspace.snapshot();
    let recorder = Recorder::resume(&kept.root, found.id())?;
    let plan = found.plan()?;
    let place = |finding: &AgentFinding| -> Result<AgentFinding, Rejection> {
        let file = finding.place().map(|(file, _)| file.to_owned()).unwrap_or_default();
        let in_scope = plan.scope.files.iter().any(|entry| *entry.path == *file);
        let text = in_scope.then(|| snapshot.head(&file)).flatten();
        let mut checked = ingest::check(finding, text.as_deref())?;
        Known::of(Some(&file), text.as_deref().unwrap_or_default()).clean_finding(&mut checked);
        Ok(checked)
    };
    let mut outcomes = Vec::new();
    let mut all = Vec::new();
    for (path, ingested) in &files {
        let outcome = ingest::outcome(found.id(), ingested, place);
        all.push(taken(path, ingested, outcome.as_ref()));
        outcomes.extend(outcome);
    }
    print(&all, out)?;
    let plan = recorder.invite(plan, &mut outcomes)?;
    let outcomes = recorder.finished(outcomes)?;
    let result = review::settle(&recorder, &plan, &workspace, &outcomes, &change.run)?;
    if out.format != Format::Json {
        output::text(&format!("{}\n", render::verdict::word(result.verdict)), None)?;
    }
    // A file that could not be used is a voice that was not heard.
    let unheard = files.iter().any(|(_, ingested)| ingested.report().is_none());
    Ok(if unheard && result.exit_code == 0 { UNHEARD } else { result.exit_code })
}

fn read(path: &Path, run: Option<&str>) -> Result<Ingested, Failure> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let bytes = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::new(format!("{}: {error}", path.display()))),
    };
    Ok(ingest::read(&stem.unwrap_or_default(), bytes.as_deref(), run))
}

fn taken(
    path: &Path,
    ingested: &Ingested,
    outcome: Option<&quorum_model::outcome::AgentOutcome>,
) -> Taken {
    let cause = match ingested {
        Ingested::Malformed { cause } => Some(cause.clone()),
        Ingested::Foreign { run } => Some(format!("it belongs to run {run}")),
        Ingested::Valid(_) | Ingested::Error(_) | Ingested::Missing => None,
    };
    let report = ingested.report();
    Taken {
        file: path.display().to_string(),
        state: ingested.word(),
        cause,
        agent: report.map(|report| report.agent.clone()),
        findings: match outcome {
            Some(outcome) => outcome.findings.len(),
            None => report.map_or(0, |report| report.findings.len()),
        },
        rejected: outcome.map_or(0, |outcome| outcome.rejected.values().sum()),
    }
}

fn print(taken: &[Taken], arguments: &crate::cli::OutputArgs) -> Result<(), Failure> {
    let file = arguments.output.as_deref();
    if arguments.format == Format::Json {
        return output::json(&taken, file);
    }
    output::text(&render::ingest::list(taken), file)
}
