//! One review's directory.

mod id;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

pub use id::RunId;
use jiff::Timestamp;
use quorum_model::finding::Finding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::verdict::{AgentVerdict, VerdictFile};
use serde::de::DeserializeOwned;

use crate::clock::Clock;
use crate::error::StoreError;
use crate::folder::{Folder, refuse_link};
use crate::journal::{self, Event, Journal};
use crate::layout::Layout;
use crate::page::{self, Stage};
use crate::seal::Seal;
use crate::state::RunState;
use crate::whole::{self, Hold};
use crate::{private, verdicts};

/// The shortest part of a fingerprint that is taken for one.
const FINGERPRINT: usize = 6;

/// How often another id is tried when a run of the same moment has taken one.
const ATTEMPTS: usize = 100;

/// How long a run may be in use before somebody is said to use it, and how often that is looked at.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(10);

/// A run that this process works on. Nobody else can until it is dropped.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    layout: Layout,
    clock: Clock,
    journal: Journal,
    plan: Plan,
    /// Where the run stood when it was opened.
    before: RunState,
    /// What the run is marked with, where it is.
    seal: Option<Seal>,
    /// Held for as long as the run is open; the system lets go of it however the process ends.
    _lock: File,
}

/// A run as it is on disk, for reading.
#[derive(Clone, Debug)]
pub struct RunSummary {
    id: RunId,
    layout: Layout,
}

impl Run {
    /// Starts a run in the repository at `root`.
    pub fn create(root: &Path, plan: &Plan, clock: Clock) -> Result<Self, StoreError> {
        Self::create_with(root, plan, clock, &[], None)
    }

    /// Starts a run in the repository at `root` with files that it cannot go on without: they are on
    /// disk before anybody can find the run, and so is the mark of who started it.
    pub fn create_with(
        root: &Path,
        plan: &Plan,
        clock: Clock,
        files: &[(&str, &[u8])],
        seal: Option<Seal>,
    ) -> Result<Self, StoreError> {
        let runs = Folder::prepare(root)?.make("runs")?;
        let (id, layout) = make_directory(&runs, &clock)?;
        let lock = lock(&id, &layout)?;
        for folder in [layout.agents(), layout.verdicts()] {
            private::folder(&folder).map_err(StoreError::io("making", &folder))?;
        }
        for (name, bytes) in files {
            whole::write(&layout.root().join(name), bytes)?;
        }
        whole::write_json(&layout.plan(), plan)?;
        if let Some(seal) = &seal {
            seal.put(&id, &layout, &whole::json(&layout.plan(), plan)?)?;
        }
        // A run is one that has a journal.
        let journal = Journal::create(&layout.journal(), clock.clone())?;
        let run = id.to_string();
        journal.append(&Event::RunStarted { run, label: plan.scope.label.clone() })?;
        whole::sync_folder(layout.root()).map_err(StoreError::io("writing", layout.root()))?;
        let (plan, before) = (plan.clone(), RunState::default());
        Ok(Self { id, layout, clock, journal, plan, before, seal, _lock: lock })
    }

    /// Goes on with a run that was killed or interrupted; `name` is an id, the beginning of one, or
    /// `latest`. What it left half done is swept away, what it lost of its files is made again.
    /// With a seal, only a run that has it goes on.
    pub fn resume(
        root: &Path,
        name: &str,
        clock: Clock,
        seal: Option<Seal>,
    ) -> Result<Self, StoreError> {
        let found = Self::find(root, name)?;
        if let Some(seal) = &seal {
            seal.own(found.clone())?;
        }
        let RunSummary { id, layout } = found;
        let lock = lock_soon(&id, &layout)?;
        for folder in [layout.root(), &layout.agents(), &layout.verdicts()] {
            refuse_link(folder)?;
            private::folder(folder).map_err(StoreError::io("making", folder))?;
            whole::sweep(folder);
        }
        let plan: Plan = read_json(&layout.plan())?;
        let (journal, reading) = Journal::reopen(&layout.journal(), clock.clone())?;
        // It may have been killed before it had said a word.
        let first = if reading.records.is_empty() {
            Event::RunStarted { run: id.to_string(), label: plan.scope.label.clone() }
        } else {
            Event::RunResumed
        };
        journal.append(&first)?;
        let before = RunState::of(reading);
        Ok(Self { id, layout, clock, journal, plan, before, seal, _lock: lock })
    }

    /// Finds a run for reading; `name` is an id, the beginning of one, or `latest`.
    pub fn find(root: &Path, name: &str) -> Result<RunSummary, StoreError> {
        let runs = Self::list(root)?;
        if name == "latest" {
            let folder = Folder::at(root)?.path().join("runs");
            return runs.into_iter().next_back().ok_or(StoreError::NoRuns(folder));
        }
        let matching = runs.iter().filter(|run| run.id.as_str().starts_with(name));
        let mut matching: Vec<&RunSummary> = matching.collect();
        match matching.len() {
            0 => Err(StoreError::NoSuchRun(name.to_owned())),
            1 => Ok(matching.remove(0).clone()),
            _ => Err(StoreError::AmbiguousRun {
                prefix: name.to_owned(),
                runs: matching.iter().take(5).map(|run| run.id.to_string()).collect(),
            }),
        }
    }

    /// All runs of the repository at `root`, oldest first.
    pub fn list(root: &Path) -> Result<Vec<RunSummary>, StoreError> {
        let folder = Folder::at(root)?.entry("runs")?;
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("reading", &folder)(error)),
        };
        let mut runs = Vec::new();
        for entry in entries {
            let entry = entry.map_err(StoreError::io("reading", &folder))?;
            let id = entry.file_name().to_str().and_then(RunId::parse);
            // A directory without a plan is one that is just being made, or never was.
            let Some(id) = id else { continue };
            let layout = Layout::new(entry.path());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && layout.journal().is_file() {
                runs.push(RunSummary { id, layout });
            }
        }
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(runs)
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// The run's directory, for what else belongs there, such as reports.
    pub fn directory(&self) -> &Path {
        self.layout.root()
    }

    /// The record of everything that happens.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Where the run stood when it was opened: empty for a new one.
    pub fn before(&self) -> &RunState {
        &self.before
    }

    /// What was decided before anything was sent.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Writes the plan anew, with agents that joined after it was made.
    pub fn replan(&self, plan: &Plan) -> Result<(), StoreError> {
        if let Some(seal) = &self.seal {
            seal.put(&self.id, &self.layout, &whole::json(&self.layout.plan(), plan)?)?;
        }
        whole::write_json(&self.layout.plan(), plan)
    }

    /// Records how an agent ended and writes its page and its verdict file. Findings that it had
    /// reported before the run was killed are added; what is stored is returned.
    pub fn write_agent(&self, outcome: AgentOutcome) -> Result<AgentOutcome, StoreError> {
        let outcome = self.before.complete(outcome);
        self.journal.append(&Event::AgentFinished(Box::new(outcome.clone())))?;
        let veto = self.plan.agents.iter().any(|agent| agent.name == outcome.agent && agent.veto);
        let verdict = verdicts::expected(&outcome, veto);
        // The journal has it, and `finish` writes it again.
        self.write_files(&outcome, verdict, &page::draft_ids(&outcome), Hold::Whole)?;
        Ok(outcome)
    }

    /// Writes the page and the verdict file of an agent that ended and will be asked again, about what
    /// others found. Both say that they are preliminary, and nothing is recorded: a run that goes on
    /// asks the agent again.
    pub fn write_preliminary(&self, outcome: AgentOutcome) -> Result<(), StoreError> {
        let outcome = self.before.complete(outcome);
        let veto = self.plan.agents.iter().any(|agent| agent.name == outcome.agent && agent.veto);
        let verdict = verdicts::expected(&outcome, veto);
        let ids = page::draft_ids(&outcome);
        self.write_as(&outcome, verdict, &ids, (Stage::Preliminary, Hold::Bytes))
    }

    /// Records the result and writes it out, with the pages of the agents that it was made from:
    /// their findings now have the result's ids, and their verdicts are the decided ones.
    /// `result.json` comes last: where it is, all is.
    pub fn finish(
        &self,
        result: &ReviewResult,
        outcomes: &[AgentOutcome],
    ) -> Result<(), StoreError> {
        self.journal.append(&Event::Decided(Box::new(result.clone())))?;
        for outcome in outcomes {
            let decided = result.execution.agents.iter().find(|agent| agent.name == outcome.agent);
            let verdict = decided.map_or(AgentVerdict::Error, |agent| agent.verdict);
            self.write_files(outcome, verdict, &page::ids(outcome, result), Hold::Bytes)?;
        }
        for folder in [self.layout.agents(), self.layout.verdicts()] {
            whole::sync_folder(&folder).map_err(StoreError::io("writing", &folder))?;
        }
        // The name of the last one makes sure of all names beside it.
        whole::write_json_as(&self.layout.findings(), &result.findings, Hold::Bytes)?;
        whole::write_json_as(&self.layout.coverage(), &result.coverage, Hold::Bytes)?;
        whole::write_json(&self.layout.result(), result)
    }

    fn write_files(
        &self,
        outcome: &AgentOutcome,
        verdict: AgentVerdict,
        ids: &[String],
        hold: Hold,
    ) -> Result<(), StoreError> {
        self.write_as(outcome, verdict, ids, (Stage::Ended, hold))
    }

    fn write_as(
        &self,
        outcome: &AgentOutcome,
        verdict: AgentVerdict,
        ids: &[String],
        (stage, hold): (Stage, Hold),
    ) -> Result<(), StoreError> {
        let detail = self.layout.agent(&outcome.agent);
        whole::write_as(&detail, page::at_stage(outcome, ids, stage).as_bytes(), hold)?;
        let detail = self.relative(&detail);
        let mut file = verdicts::file(outcome, verdict, detail, self.clock.now().to_string());
        if stage == Stage::Preliminary {
            file.summary.push_str("; preliminary");
        }
        whole::write_json_as(&self.layout.verdict(&outcome.agent), &file, hold)
    }

    /// Writes another file of the run, such as a report, whole; its folder, too, where it has one.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.layout.root().join(name);
        if let Some(folder) = path.parent() {
            private::folder(folder).map_err(StoreError::io("creating", folder))?;
        }
        whole::write(&path, bytes)?;
        Ok(path)
    }

    /// A path from the root of the repository, as people and agents open it.
    fn relative(&self, path: &Path) -> String {
        let root = self.layout.root().ancestors().nth(3);
        let relative = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        relative.to_string_lossy().replace('\\', "/")
    }
}

impl RunSummary {
    /// The run's id.
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// The run's directory.
    pub fn directory(&self) -> &Path {
        self.layout.root()
    }

    /// When it started.
    pub fn started(&self) -> Option<Timestamp> {
        self.id.started()
    }

    /// Takes the run, so that nobody works on it meanwhile; absent where somebody does.
    pub(crate) fn try_lock(&self) -> Result<Option<File>, StoreError> {
        match lock(&self.id, &self.layout) {
            Ok(file) => Ok(Some(file)),
            Err(StoreError::Locked(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a process works on it right now.
    pub fn is_active(&self) -> bool {
        let Ok(file) = File::open(self.layout.lock()) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// What was decided before anything was sent.
    pub fn plan(&self) -> Result<Plan, StoreError> {
        read_json(&self.layout.plan())
    }

    /// Where the run stands, from its journal.
    pub fn state(&self) -> Result<RunState, StoreError> {
        let path = self.layout.journal();
        let bytes = fs::read(&path).map_err(StoreError::io("reading", &path))?;
        Ok(RunState::of(journal::read(&bytes)))
    }

    /// What came of every agent that ended.
    pub fn outcomes(&self) -> Result<Vec<AgentOutcome>, StoreError> {
        Ok(self.state()?.outcomes().cloned().collect())
    }

    /// The result, once the run is finished.
    pub fn result(&self) -> Result<Option<ReviewResult>, StoreError> {
        let path = self.layout.result();
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let result: ReviewResult = read_json(&path)?;
        Ok(Some(result))
    }

    /// The verdict files of this run, by agent. One that says it is of another run is left out.
    pub fn verdicts(&self) -> Result<Vec<VerdictFile>, StoreError> {
        let folder = self.layout.verdicts();
        let entries = fs::read_dir(&folder).map_err(StoreError::io("reading", &folder))?;
        let mut verdicts = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io("reading", &folder))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let verdict: VerdictFile = read_json(&path)?;
                if verdict.run == self.id.as_str() {
                    verdicts.push(verdict);
                }
            }
        }
        verdicts.sort_by(|a, b| a.agent.cmp(&b.agent));
        Ok(verdicts)
    }

    /// A finding of the result, by its id or the beginning of its fingerprint.
    pub fn finding(&self, name: &str) -> Result<Option<Finding>, StoreError> {
        let Some(result) = self.result()? else { return Ok(None) };
        let apart = || result.history.iter().chain(&result.suppressed);
        let all = || result.findings.iter().chain(&result.not_agreed).chain(apart());
        if let Some(found) = all().find(|finding| finding.id.eq_ignore_ascii_case(name)) {
            return Ok(Some(found.clone()));
        }
        if name.len() < FINGERPRINT {
            return Ok(None);
        }
        let matching: Vec<&Finding> =
            all().filter(|finding| finding.fingerprint.starts_with(name)).collect();
        match matching.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some((*one).clone())),
            several => Err(StoreError::AmbiguousFinding {
                prefix: name.to_owned(),
                findings: several.iter().take(5).map(|finding| finding.id.clone()).collect(),
            }),
        }
    }

    /// The page of an agent, where it ended.
    pub fn page(&self, agent: &str) -> Result<Option<String>, StoreError> {
        let path = self.layout.agent(agent);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("reading", &path)(error)),
        }
    }
}

fn make_directory(runs: &Path, clock: &Clock) -> Result<(RunId, Layout), StoreError> {
    let mut attempt = 0;
    loop {
        let id = RunId::new(clock.now(), uuid::Uuid::now_v7());
        let path = runs.join(id.as_str());
        match fs::create_dir(&path) {
            Ok(()) => {
                private::folder(&path).map_err(StoreError::io("making", &path))?;
                whole::sync_folder(runs).map_err(StoreError::io("writing", runs))?;
                return Ok((id, Layout::new(path)));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => return Err(StoreError::io("making", &path)(error)),
        }
    }
}

/// Takes a run that was killed: what it had just started may hold on to it for a moment, until it is a
/// program of its own.
fn lock_soon(id: &RunId, layout: &Layout) -> Result<File, StoreError> {
    let started = Instant::now();
    loop {
        match lock(id, layout) {
            Err(StoreError::Locked(_)) if started.elapsed() < PATIENCE => thread::sleep(PAUSE),
            other => return other,
        }
    }
}

fn lock(id: &RunId, layout: &Layout) -> Result<File, StoreError> {
    let path = layout.lock();
    refuse_link(&path)?;
    let file = private::owned(OpenOptions::new().create(true).truncate(false).write(true))
        .open(&path)
        .map_err(StoreError::io("opening", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked(id.to_string())),
        Err(TryLockError::Error(error)) => Err(StoreError::io("locking", &path)(error)),
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let bytes = fs::read(path).map_err(StoreError::io("reading", path))?;
    serde_json::from_slice(&bytes).map_err(|cause| StoreError::malformed(path, &cause))
}

#[cfg(test)]
mod tests;
