//! The run on disk, where there is a place for it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use quorum_model::gate::GateReport;
use quorum_model::outcome::{AgentOutcome, Depth, Usage};
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::result::ReviewResult;
use quorum_store::{Event, OwnRun, Run, RunState, RunSummary, StoreError};

use crate::decided_by::DecidedBy;
use crate::environment::Environment;
use crate::error::EngineError;
use crate::request::ReviewRequest;
use crate::workspace::Workspace;
use crate::{kept, request};

/// Records a run in `.quorum/runs`. A diff that is reviewed without a repository leaves nothing.
#[derive(Debug)]
pub(crate) struct Recorder {
    run: Option<Run>,
    root: Option<PathBuf>,
    gates: OnceLock<GateReport>,
    recalled: Option<Recalled>,
    /// What agents came to that ended before the run did, as it is written down.
    ended: Mutex<Vec<AgentOutcome>>,
}

/// A run that is gone through again; nothing of it is written.
#[derive(Debug)]
struct Recalled {
    id: String,
    directory: PathBuf,
    state: RunState,
}

/// The id of a run that is not recorded.
pub const UNRECORDED: &str = "unrecorded";

impl Recorder {
    /// Starts a run for `plan`.
    pub(crate) fn start(
        workspace: &Workspace,
        plan: &Plan,
        decided_by: &DecidedBy,
        request: Option<&ReviewRequest>,
    ) -> Result<Self, EngineError> {
        let Some(repository) = &workspace.repository else { return Ok(Self::nowhere()) };
        let Some(root) = repository.work_tree() else { return Ok(Self::nowhere()) };
        kept::refuse_committed(repository)?;
        let mut files = request::files(&workspace.target, request);
        files.extend(decided_by.file());
        let environment = &workspace.environment;
        let clock = environment.clock.clone();
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        match Run::create_with(root, plan, clock, &files, kept::new_seal(root, environment)?) {
            Ok(run) => Ok(Self { run: Some(run), root: Some(root.to_owned()), ..Self::nowhere() }),
            // A review of a tree that cannot be written to is still a review.
            Err(error) if is_read_only(&error) => Ok(Self::nowhere()),
            Err(error) => Err(error.into()),
        }
    }

    /// Goes on with a run that the user started here.
    pub(crate) fn resume(
        root: &Path,
        name: &str,
        environment: &Environment,
    ) -> Result<Self, EngineError> {
        let seal = kept::seal(root, name, environment)?;
        let run = Run::resume(root, name, environment.clock.clone(), Some(seal))?;
        let gates = OnceLock::new();
        if let Some(report) = &run.before().gates {
            gates.get_or_init(|| (**report).clone());
        }
        let root = Some(root.to_owned());
        Ok(Self { run: Some(run), root, gates, ..Self::nowhere() })
    }

    /// Goes through a run again, by what is recorded of it, and records nothing.
    pub(crate) fn recall(run: &OwnRun) -> Result<Self, EngineError> {
        let run = run.summary();
        let state = run.state()?;
        let gates = OnceLock::new();
        if let Some(report) = &state.gates {
            gates.get_or_init(|| (**report).clone());
        }
        let (id, directory) = (run.id().to_owned(), run.directory().to_owned());
        Ok(Self { gates, recalled: Some(Recalled { id, directory, state }), ..Self::nowhere() })
    }

    fn nowhere() -> Self {
        Self {
            run: None,
            root: None,
            gates: OnceLock::new(),
            recalled: None,
            ended: Mutex::default(),
        }
    }

    /// What is recorded of a run that is gone through again.
    pub(crate) fn recalled(&self) -> Option<&RunState> {
        self.recalled.as_ref().map(|recalled| &recalled.state)
    }

    /// Where the run is kept that is recorded here, or gone through again.
    pub(crate) fn directory(&self) -> Option<&Path> {
        let recalled = || self.recalled.as_ref().map(|recalled| recalled.directory.as_path());
        self.run.as_ref().map(Run::directory).or_else(recalled)
    }

    /// Records what the gates came to, before anything is concluded from it.
    pub(crate) fn gated(&self, report: GateReport) -> Result<(), StoreError> {
        if let Some(run) = &self.run {
            run.journal().append(&Event::GatesFinished(Box::new(report.clone())))?;
        }
        self.gates.get_or_init(|| report);
        Ok(())
    }

    /// What the gates came to, where they ran.
    pub(crate) fn gates(&self) -> Option<&GateReport> {
        self.gates.get()
    }

    /// The run as it is on disk, where it is kept.
    pub(crate) fn kept(&self) -> Option<RunSummary> {
        Run::find(self.root.as_deref()?, self.run.as_ref()?.id()).ok()
    }

    /// The root of the repository that keeps the run.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// `plan` without the agents that ended before the run was resumed. Those that talk about each
    /// other's findings end `together`: what they were told must be the same again.
    pub(crate) fn left_of(&self, plan: &Plan, together: bool) -> Plan {
        let mut left = plan.clone();
        if let Some(run) = &self.run {
            let unfinished = |agent: &PlannedAgent| run.before().finished(&agent.name).is_none();
            let any = plan.agents.iter().any(unfinished);
            left.agents.retain(|agent| unfinished(agent) || (together && any));
        }
        left
    }

    /// The run, where it is recorded.
    pub(crate) fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// What the fences around code follow from: random, and the same when the run goes on.
    pub(crate) fn fence(&self) -> Result<String, StoreError> {
        const FILE: &str = "fence";
        let fresh = || uuid::Uuid::now_v7().simple().to_string();
        let kept = self.directory().map(|folder| std::fs::read_to_string(folder.join(FILE)));
        if let Some(Ok(kept)) = kept {
            return Ok(kept);
        }
        let Some(run) = &self.run else { return Ok(fresh()) };
        let fence = fresh();
        run.write(FILE, fence.as_bytes())?;
        Ok(fence)
    }

    /// The run's id.
    pub(crate) fn id(&self) -> &str {
        let recalled = || self.recalled.as_ref().map(|recalled| recalled.id.as_str());
        self.run.as_ref().map(Run::id).or_else(recalled).unwrap_or(UNRECORDED)
    }

    /// Writes another file of the run, where it is kept.
    pub(crate) fn keep(&self, name: &str, text: &str) -> Result<(), StoreError> {
        match &self.run {
            Some(run) => run.write(name, text.as_bytes()).map(drop),
            None => Ok(()),
        }
    }

    /// Gives a seat to agents that come from elsewhere: none of their files is theirs to cover, and
    /// they have no veto. One that has the name of a planned agent gets a name of its own.
    pub(crate) fn invite(
        &self,
        mut plan: Plan,
        guests: &mut [AgentOutcome],
    ) -> Result<Plan, StoreError> {
        for guest in guests {
            let hosts = plan.agents.iter().filter(|agent| agent.engine != guest.engine);
            if hosts.into_iter().any(|host| host.name == guest.agent) {
                guest.agent = format!("{}-ingested", guest.agent);
            }
            if plan.agents.iter().all(|agent| agent.name != guest.agent) {
                plan.agents.push(PlannedAgent {
                    name: guest.agent.clone(),
                    budget: 0,
                    base_budget: 0,
                    veto: false,
                    engine: guest.engine.clone(),
                    model: None,
                    reason: "taken in from a file".to_owned(),
                    files: Vec::new(),
                    shard_limit: 0,
                    shards: Vec::new(),
                    depth: Depth::Reviewed,
                    beside_models: false,
                });
            }
        }
        if let Some(run) = &self.run {
            run.replan(&plan)?;
        }
        Ok(plan)
    }

    /// Records that the embedded reviewers begin.
    pub(crate) fn begun<'a>(
        &self,
        agents: impl Iterator<Item = &'a PlannedAgent>,
    ) -> Result<(), StoreError> {
        let Some(run) = &self.run else { return Ok(()) };
        let begun =
            |agent: &PlannedAgent| Event::AgentStarted { agent: agent.name.clone(), shard: 0 };
        run.journal().append_all(&agents.map(begun).collect::<Vec<_>>())
    }

    /// Records what the embedded reviewers found, before anything is made of it.
    pub(crate) fn found(&self, outcomes: &[AgentOutcome]) -> Result<(), StoreError> {
        let Some(run) = &self.run else { return Ok(()) };
        let found = |outcome: &AgentOutcome| {
            let agent = outcome.agent.clone();
            let events = outcome.findings.iter().map(move |finding| Event::Finding {
                agent: agent.clone(),
                finding: Box::new(finding.clone()),
            });
            events.collect::<Vec<_>>()
        };
        run.journal().append_all(&outcomes.iter().flat_map(found).collect::<Vec<_>>())
    }

    /// Records how an agent ended as soon as it has, and writes its page and its verdict file.
    pub(crate) fn ended(&self, outcome: AgentOutcome) -> Result<(), StoreError> {
        let Some(run) = &self.run else { return Ok(()) };
        let written = run.write_agent(outcome)?;
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(written);
        Ok(())
    }

    /// Writes the page and the verdict file of an agent that ended and is asked again when all have.
    pub(crate) fn sketched(&self, outcome: AgentOutcome) -> Result<(), StoreError> {
        match &self.run {
            Some(run) => run.write_preliminary(outcome),
            None => Ok(()),
        }
    }

    /// What agents that ended before the run was resumed have cost.
    pub(crate) fn spent_before(&self, left: &Plan) -> Usage {
        let mut spent = Usage::default();
        let before = self.run.as_ref().map(Run::before);
        let gone = before.into_iter().flat_map(RunState::outcomes);
        let gone = gone.filter(|gone| left.agents.iter().all(|agent| agent.name != gone.agent));
        for Usage { tokens, usd, calls, .. } in gone.map(|outcome| outcome.usage) {
            spent.tokens = spent.tokens.saturating_add(tokens);
            spent.usd += usd;
            spent.calls = spent.calls.saturating_add(calls);
        }
        spent
    }

    /// Records how agents ended, before anything is concluded from it, and returns it with what the
    /// run had before.
    pub(crate) fn finished(
        &self,
        outcomes: Vec<AgentOutcome>,
    ) -> Result<Vec<AgentOutcome>, StoreError> {
        let Some(run) = &self.run else { return Ok(outcomes) };
        let before = run.before().outcomes();
        let replaced = |agent: &str| outcomes.iter().any(|outcome| outcome.agent == agent);
        let mut all: Vec<AgentOutcome> =
            before.filter(|outcome| !replaced(&outcome.agent)).cloned().collect();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in outcomes {
            let complete = run.before().complete(outcome);
            all.push(if ended.contains(&complete) { complete } else { run.write_agent(complete)? });
        }
        Ok(all)
    }

    /// Writes the agents' pages and verdicts, and the result.
    pub(crate) fn decided(
        &self,
        outcomes: &[AgentOutcome],
        result: &ReviewResult,
    ) -> Result<(), StoreError> {
        let Some(run) = &self.run else { return Ok(()) };
        run.finish(result, outcomes)
    }
}

fn is_read_only(error: &StoreError) -> bool {
    let StoreError::Io { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}
