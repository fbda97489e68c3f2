//! Findings of other tools and agents.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use quorum_model::finding::AgentFinding;
use quorum_model::result::ReviewResult;
use quorum_rules::secrets::Known;
use quorum_store::RunSummary;
use quorum_store::ingest::{self, Ingested, Rejection};
use serde::Serialize;

use crate::decided_by::DecidedBy;
use crate::environment::Environment;
use crate::error::EngineError;
use crate::plan::Prepared;
use crate::record::Recorder;
use crate::workspace::Workspace;
use crate::{kept, request, review};

/// What became of one file.
#[derive(Debug, Serialize)]
pub struct TakenFile {
    /// The file.
    pub file: String,
    /// What it is: valid, malformed, missing …
    pub state: &'static str,
    /// Why it could not be used.
    pub cause: Option<String>,
    /// Whose findings they are.
    pub agent: Option<String>,
    /// Findings that were taken.
    pub findings: usize,
    /// Findings that were not.
    pub rejected: u64,
}

/// What came of taking files in.
#[derive(Debug)]
pub struct IngestReport {
    /// Each of them.
    pub taken: Vec<TakenFile>,
    /// The run as it is decided with them; absent where they were only looked at.
    pub result: Option<ReviewResult>,
    /// Whether a file could not be used: a voice that was not heard.
    pub unheard: bool,
}

/// Says what files are, and takes nothing in. A run, where there is one, says which are its own.
pub fn check(
    folder: &Path,
    files: &[PathBuf],
    run: Option<&RunSummary>,
) -> Result<IngestReport, EngineError> {
    let mut taken_files = Vec::new();
    for path in files {
        let ingested = read(&folder.join(path), run.map(RunSummary::id))?;
        taken_files.push(taken(path, &ingested, None));
    }
    let unheard = taken_files.iter().any(|file| file.state != "valid");
    Ok(IngestReport { taken: taken_files, result: None, unheard })
}

/// Takes findings of other tools and agents into a run of the user's below `root`, and decides it again.
pub fn ingest(
    root: &Path,
    folder: &Path,
    files: &[PathBuf],
    run: RunSummary,
    environment: &Environment,
) -> Result<IngestReport, EngineError> {
    let mut read_files = Vec::new();
    for path in files {
        read_files.push((path.as_path(), read(&folder.join(path), Some(run.id()))?));
    }
    let own = kept::own(root, run, environment)?;
    let found = own.summary();
    let request = request::load(&own)?;
    let workspace = Workspace::open(&request, environment)?;
    let recorder = Recorder::resume(root, found.id(), environment)?;
    let plan = found.plan()?;
    let mut outcomes = Vec::new();
    let mut all = Vec::new();
    {
        let snapshot = workspace.snapshot();
        let place = |finding: &AgentFinding| -> Result<AgentFinding, Rejection> {
            let file = finding.place().map(|(file, _)| file.to_owned()).unwrap_or_default();
            let in_scope = plan.scope.files.iter().any(|entry| *entry.path == *file);
            let text = in_scope.then(|| snapshot.head(&file)).flatten();
            let mut checked = ingest::check(finding, text.as_deref())?;
            Known::of(Some(&file), text.as_deref().unwrap_or_default()).clean_finding(&mut checked);
            Ok(checked)
        };
        for (path, ingested) in &read_files {
            let outcome = ingest::outcome(found.id(), ingested, place);
            all.push(taken(path, ingested, outcome.as_ref()));
            outcomes.extend(outcome);
        }
    }
    let plan = recorder.invite(plan, &mut outcomes)?;
    let outcomes = recorder.finished(outcomes)?;
    let prepared = Prepared {
        decided_by: DecidedBy::of(&workspace),
        request,
        plan,
        workspace,
        files: Vec::new(),
        sops: Vec::new(),
    };
    let result = review::settle(&recorder, &prepared, &outcomes)?;
    let unheard = read_files.iter().any(|(_, ingested)| ingested.report().is_none());
    Ok(IngestReport { taken: all, result: Some(result), unheard })
}

fn read(path: &Path, run: Option<&str>) -> Result<Ingested, EngineError> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let bytes = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(EngineError::failed(format!("{}: {error}", path.display()))),
    };
    Ok(ingest::read(&stem.unwrap_or_default(), bytes.as_deref(), run))
}

fn taken(
    path: &Path,
    ingested: &Ingested,
    outcome: Option<&quorum_model::outcome::AgentOutcome>,
) -> TakenFile {
    let cause = match ingested {
        Ingested::Malformed { cause } => Some(cause.clone()),
        Ingested::Foreign { run } => Some(format!("it belongs to run {run}")),
        Ingested::Valid(_) | Ingested::Error(_) | Ingested::Missing => None,
    };
    let report = ingested.report();
    TakenFile {
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
