//! What the server can do with a repository: the engine, in the words of the tools.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quorum_dispatch::llm::delegate::{Brief, Checked, Part, Submitted};
use quorum_engine::gates::needs_trust;
use quorum_engine::indexing::{Place, Which};
use quorum_engine::search::SearchRequest;
use quorum_engine::size::SizeRequest;
use quorum_engine::{
    Begun, CancellationToken, Delegated, EngineError, Environment, ErrorCode, Observer, Progress,
    ReviewRequest, SharedObserver, Stage, Workspace, kept, silent, workspace,
};
use quorum_index::Counter;
use quorum_model::agent::Agent;
use quorum_model::budget::Thresholds;
use quorum_model::gate::GateReport;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::search::SearchResults;
use quorum_model::size::SizeReport;
use quorum_model::symbol::{IndexReport, RepositoryMap};
use quorum_store::Seal;
use serde_json::Value;
use tokio::sync::watch;

use crate::error::{Code, ToolError};
use crate::jobs::Standing;

/// What the user lets clients run: nobody else can say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// No command of any repository.
    Nothing,
    /// The gates of what is in the work tree.
    WorkTree,
    /// Also those of a change that may be somebody else's.
    Anything,
}

/// What the server can do with a repository. Every path is the root of its work tree, confined to
/// the client's roots before it comes here; so are the paths in requests.
#[derive(Debug)]
pub struct Operations {
    environment: Environment,
    consent: Consent,
    delegated: Delegated,
}

/// How tokens are counted and when branches do less.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metering {
    /// Counts tokens.
    pub(crate) counter: Counter,
    /// When a branch does less.
    pub(crate) thresholds: Thresholds,
}

/// What to tell.
#[derive(Clone, Debug)]
pub(crate) enum SymbolRequest {
    /// Where a name is declared and who uses it.
    Name(String),
    /// The signatures of a file, in so many tokens.
    File(String, Option<u64>),
}

impl Operations {
    /// What is done for the user of `environment`, who lets clients run so much.
    pub fn new(environment: Environment, consent: Consent) -> Self {
        Self { environment, consent, delegated: Delegated::default() }
    }

    /// Refuses to run gates that the user did not speak for.
    fn may_run(&self, workspace: &Workspace) -> Result<(), ToolError> {
        let refuse = |what: &str, flag: &str| {
            ToolError::new(Code::NotAllowed, what)
                .with_hint(format!("the user may start the server with `quorum mcp {flag}`"))
        };
        match self.consent {
            Consent::Nothing => {
                let text =
                    "gates run commands on this machine, which this server was not started for";
                Err(refuse(text, "--allow-gates"))
            }
            Consent::WorkTree if needs_trust(&workspace.target) => {
                let text = "gates would run code of this change, which may be somebody else's";
                Err(refuse(text, "--trust-gates"))
            }
            Consent::WorkTree | Consent::Anything => Ok(()),
        }
    }

    fn place(&self, root: &Path) -> Result<Place, EngineError> {
        Place::open(root, &self.environment, &silent())
    }

    /// How tokens are counted and when branches do less.
    pub(crate) fn metering(&self, root: &Path) -> Result<Metering, ToolError> {
        let place = self.place(root)?;
        Ok(Metering { counter: place.counter(), thresholds: place.thresholds()? })
    }

    /// Brings the index up to date for these files, folders and globs; for everything where there are
    /// none.
    pub(crate) fn index(&self, root: &Path, paths: &[String]) -> Result<IndexReport, ToolError> {
        let which = if paths.is_empty() { Which::All } else { Which::Named(paths) };
        Ok(self.place(root)?.update(which)?)
    }

    /// Finds code.
    pub(crate) fn search(
        &self,
        root: &Path,
        request: &SearchRequest,
    ) -> Result<SearchResults, ToolError> {
        Ok(quorum_engine::search::search(&self.place(root)?, request)?)
    }

    /// Tells about a name or a file.
    pub(crate) fn symbol(&self, root: &Path, request: &SymbolRequest) -> Result<Value, ToolError> {
        let place = self.place(root)?;
        let index = place.index(true)?;
        let answer = match request {
            SymbolRequest::Name(name) => {
                serde_json::to_value(index.callers(name).map_err(EngineError::from)?)
            }
            SymbolRequest::File(path, budget) => {
                let summary = index.summary(path, *budget, place.counter());
                serde_json::to_value(summary.map_err(EngineError::from)?)
            }
        };
        answer.map_err(|cause| ToolError::new(Code::Failed, cause.to_string()))
    }

    /// The most central symbols, in so many tokens.
    pub(crate) fn map(&self, root: &Path, budget: u64) -> Result<RepositoryMap, ToolError> {
        let place = self.place(root)?;
        let index = place.index(true)?;
        Ok(index.map(budget, place.counter()).map_err(EngineError::from)?)
    }

    /// What a review would do.
    pub(crate) fn plan(&self, request: &ReviewRequest) -> Result<Plan, ToolError> {
        Ok(quorum_engine::plan(request, &self.environment, &*silent())?.plan)
    }

    /// Whether files fit one request to a model.
    pub(crate) fn size(&self, request: &SizeRequest) -> Result<SizeReport, ToolError> {
        Ok(quorum_engine::size::measure(request, &self.environment, &*silent())?)
    }

    /// Runs the repository's build, test and lint commands, where the user lets it; only those that are
    /// named, where any is.
    pub(crate) fn gates(
        &self,
        request: &ReviewRequest,
        only: &[String],
    ) -> Result<GateReport, ToolError> {
        let workspace = Workspace::open(request, &self.environment)?;
        self.may_run(&workspace)?;
        let gates = quorum_engine::gates::prepare(&workspace, &silent())?.only(only)?;
        Ok(gates.run_for(&workspace, &silent())?)
    }

    /// Reviews, telling `watch` how it goes.
    pub(crate) fn review(
        &self,
        request: &ReviewRequest,
        watch: &Watch,
    ) -> Result<ReviewResult, ToolError> {
        let observer: SharedObserver = Arc::new(watch.clone());
        let mut prepared = quorum_engine::prepare(request, &self.environment, &*observer)?;
        // As on the command line they come first where the user's own configuration says so.
        let wanted = prepared.workspace.loaded.config.gates.run;
        prepared.request.options.trust_gates = wanted && self.consent == Consent::Anything;
        let review = quorum_engine::review(&prepared, &observer, &watch.cancel)?;
        if review.interrupted {
            let run = &review.result.run;
            let text = format!("run {run} was cancelled");
            return Err(ToolError::new(Code::Cancelled, text)
                .with_hint(format!("`quorum resume {run}` goes on")));
        }
        Ok(review.result)
    }

    /// Starts a review that the host's own agents carry out.
    pub(crate) fn begin(&self, request: &ReviewRequest) -> Result<Begun, ToolError> {
        Ok(self.delegated.begin(request, &self.environment)?)
    }

    /// Checks what one of the host's agents reports.
    pub(crate) fn take(
        &self,
        root: &Path,
        run: &str,
        submitted: Submitted<'_>,
    ) -> Result<Checked, ToolError> {
        let taken = self.delegated.take(root, run, submitted, &self.environment);
        taken.map_err(changed)?.map_err(|cause| ToolError::new(Code::ScrubFailed, cause))
    }

    /// What the host's agents are asked about each other's findings; nothing where the protocol has
    /// no second round, or nobody has anything to judge.
    pub(crate) fn second_round(
        &self,
        root: &Path,
        run: &str,
        parts: &[Part],
    ) -> Result<Vec<Brief>, ToolError> {
        Delegated::second_round(root, run, parts, &self.environment).map_err(changed)
    }

    /// Decides a review that the host's own agents carried out.
    pub(crate) fn finish(
        &self,
        root: &Path,
        run: &str,
        parts: &[Part],
    ) -> Result<ReviewResult, ToolError> {
        Delegated::finish(root, run, parts, &self.environment).map_err(changed)
    }

    /// What dismissals are marked with; absent where there is no place for the user's key.
    pub(crate) fn seal(&self, root: &Path) -> Result<Option<Seal>, ToolError> {
        Ok(kept::new_seal(root, &self.environment)?)
    }

    /// The reviewers that there are.
    pub(crate) fn agents(&self, root: &Path) -> Result<Vec<Agent>, ToolError> {
        let roster = workspace::roster(root, &self.environment)?;
        Ok(roster.members().iter().map(|member| member.agent.clone()).collect())
    }
}

/// The engine's refusal of code that moved on, with the way out that a host has.
fn changed(error: EngineError) -> ToolError {
    let is_changed = error.code() == ErrorCode::Changed;
    let told = ToolError::from(error);
    if is_changed { told.with_hint("`review_begin` starts a new one") } else { told }
}

impl From<EngineError> for ToolError {
    fn from(error: EngineError) -> Self {
        if let EngineError::Store(error) = error {
            return error.into();
        }
        let code = match error.code() {
            ErrorCode::InvalidRequest => Code::InvalidArgument,
            ErrorCode::NotAllowed => Code::NotAllowed,
            ErrorCode::NotFound => Code::NotFound,
            ErrorCode::Changed => Code::Changed,
            ErrorCode::Busy => Code::Busy,
            ErrorCode::Unavailable => Code::Unavailable,
            ErrorCode::Cancelled => Code::Cancelled,
            ErrorCode::Failed => Code::Failed,
        };
        Self { code, message: error.to_string(), hint: error.hint() }
    }
}

/// How a background review tells how it goes, and learns that it is to stop.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    pub(crate) sender: Arc<watch::Sender<Standing>>,
    pub(crate) cancel: CancellationToken,
    done: Arc<AtomicU64>,
}

impl Watch {
    pub(crate) fn new(sender: Arc<watch::Sender<Standing>>, cancel: CancellationToken) -> Self {
        Self { sender, cancel, done: Arc::default() }
    }
}

impl Observer for Watch {
    fn observe(&self, progress: Progress<'_>) {
        match progress {
            Progress::RunStarted { run } => {
                self.sender.send_modify(|standing| standing.run = Some(run.to_owned()));
            }
            Progress::StageStarted { stage: Stage::Reviewing, total } => {
                self.sender.send_modify(|standing| {
                    (standing.done, standing.total) = (0, total);
                    "reviewing".clone_into(&mut standing.message);
                });
            }
            Progress::FileDone { stage: Stage::Reviewing } => {
                let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
                self.sender.send_modify(|standing| standing.done = standing.done.max(done));
            }
            Progress::StageEnded { stage: Stage::Reviewing } => {
                self.sender.send_modify(|standing| {
                    "deciding".clone_into(&mut standing.message);
                });
            }
            _ => {}
        }
    }
}
