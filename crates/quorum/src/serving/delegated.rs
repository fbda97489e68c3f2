//! Reviews that a coding agent's own agents carry out: what they read, and what comes of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quorum_dispatch::BUILTIN;
use quorum_dispatch::llm::delegate::{self, Brief, Checked, Part, Submitted};
use quorum_dispatch::llm::{LlmReview, NoJournal, Unobserved, reporter};
use quorum_index::Counter;
use quorum_mcp::{Begun, Code, ToolError};
use quorum_model::agent::Agent;
use quorum_model::finding::{AgentFinding, SuppressedFinding};
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_model::result::{ReviewResult, SopResult};
use quorum_plan::sop::Sop;
use quorum_store::Run;

use crate::briefing::Briefings;
use crate::cli::{Cli, ReviewArgs};
use crate::commands::plan::{self, Made};
use crate::commands::review;
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::models::{self, Engines, material};
use crate::record::Recorder;
use crate::request::{self, Request};
use crate::{embedded, kept, progress, settings};

/// Changes that are kept ready for findings to be held against.
const MOST_READY: usize = 4;

/// The delegated reviews that were worked on here. What is kept is only a faster way to what can be
/// made again from the run.
#[derive(Debug, Default)]
pub(super) struct Delegated {
    ready: Mutex<Vec<(PathBuf, String, Arc<Ready>)>>,
}

/// A change with all that its reviewers are told about it.
#[derive(Debug)]
struct Ready {
    made: Made,
    agents: Vec<Agent>,
    engines: Engines,
    sops: Vec<Sop>,
    /// What the embedded reviewers found: it stands beside what the host's agents find.
    beside: BTreeMap<String, Vec<AgentFinding>>,
    /// Standing orders that checks found violated.
    violated: BTreeMap<String, Vec<SopResult>>,
    /// What comments in the code suppress.
    suppressed: BTreeMap<String, Vec<SuppressedFinding>>,
    /// What rules looked at beside the host's agents.
    looked_at: Vec<AgentOutcome>,
    /// What came of the reviewers that rules do the work of.
    by_rules: Vec<AgentOutcome>,
}

impl Ready {
    fn new(run: &str, made: Made) -> Result<Self, Failure> {
        let workspace = &made.workspace;
        let bar = progress::files(made.files.len(), true);
        let (by_rules, beside) =
            embedded::review_all(run, &made.plan, &made.files, workspace, &bar)?;
        let planned = made.plan.agents.iter().filter(|agent| agent.engine != BUILTIN);
        let engines =
            planned.map(|agent| (agent.name.clone(), models::engine(agent, workspace, None)));
        Ok(Self {
            agents: workspace.roster.members().iter().map(|member| member.agent.clone()).collect(),
            engines: engines.collect(),
            sops: plan::sops(workspace)?,
            beside,
            violated: by_rules.violated,
            suppressed: by_rules.suppressed,
            looked_at: by_rules.beside,
            by_rules: by_rules.outcomes,
            made,
        })
    }

    /// Does something with the review as the reviewers' engine sees it.
    fn with<T>(
        &self,
        run: &str,
        fence: &str,
        work: impl FnOnce(LlmReview<'_>) -> T,
    ) -> Result<T, Failure> {
        let config = &self.made.workspace.loaded.config;
        let material = material::Change::new(&self.made);
        let briefings = Briefings::new(&self.made.workspace, &self.made.plan, &self.sops, None)?;
        Ok(work(LlmReview {
            run,
            fence,
            plan: &self.made.plan,
            agents: &self.agents,
            engines: &self.engines,
            material: &material,
            redactor: &material::Secrets,
            lookup: None,
            briefing: &briefings,
            sops: &self.sops,
            builtin: &self.beside,
            counter: Counter::new(config.tokenizer),
            thresholds: settings::for_plan(config)?.thresholds,
            limits: config.limits,
            complete: true,
            // What is planted is planted for models.
            canary: false,
            reporter: reporter(&self.made.plan),
            spent: Usage::default(),
            gates: &[],
            journal: &NoJournal,
            observer: &Unobserved,
        }))
    }
}

impl Ready {
    /// What came of every agent, by what the host's agents reported.
    fn outcomes(&self, run: &str, parts: &[Part]) -> Result<Vec<AgentOutcome>, Failure> {
        let mut outcomes = self.with(run, run, |review| delegate::outcomes(review, parts))?;
        for outcome in &mut outcomes {
            // What a check found is violated, whatever an agent says.
            outcome.sops.extend(self.violated.get(&outcome.agent).cloned().unwrap_or_default());
            let held = self.suppressed.get(&outcome.agent);
            outcome.suppressed.extend(held.cloned().unwrap_or_default());
            if let Some(rules) = self.looked_at.iter().find(|rules| rules.agent == outcome.agent) {
                quorum_dispatch::add_rules(outcome, rules, &self.made.plan);
            }
        }
        outcomes.extend(self.by_rules.iter().cloned());
        Ok(outcomes)
    }
}

impl Delegated {
    /// Starts a run and makes what each of the host's agents reads.
    pub(super) fn begin(
        &self,
        request: &Request,
        cli: &Cli,
        arguments: &ReviewArgs,
    ) -> Result<Begun, ToolError> {
        let made = plan::make(cli, &arguments.scope, &arguments.run, Purpose::Review)?;
        if made.plan.scope.files.is_empty() {
            return Err(ToolError::new(Code::InvalidArgument, "there is nothing to review")
                .with_hint("name a scope; `all` is every file"));
        }
        let recorder = Recorder::start(&made.workspace, &made.plan, Some(request))?;
        let Some((root, run)) = recorder.root().zip(recorder.run()) else {
            return Err(ToolError::new(Code::Unavailable, "there is no place to keep the run"));
        };
        let (id, directory) = (recorder.id().to_owned(), run.directory().to_owned());
        let fence = recorder.fence()?;
        let ready = Arc::new(Ready::new(&id, made)?);
        let briefs = ready.with(&id, &fence, delegate::briefs)?;
        let plan = &ready.made.plan;
        let begun = Begun {
            run: id.clone(),
            directory,
            files: plan.scope.files.len(),
            unassigned: plan.unassigned.len(),
            tier: plan.tier.name.as_str().to_owned(),
            briefs,
        };
        self.keep(root, &id, ready);
        Ok(begun)
    }

    /// Holds findings against the code.
    pub(super) fn take(
        &self,
        root: &Path,
        run: &str,
        submitted: Submitted<'_>,
    ) -> Result<Checked, ToolError> {
        let ready = self.ready(root, run)?;
        let taken = ready.with(run, run, |review| delegate::take(review, submitted))?;
        taken.map_err(|cause| ToolError::new(Code::ScrubFailed, cause))
    }

    /// What the host's agents are asked about each other's findings.
    pub(super) fn second_round(
        root: &Path,
        run: &str,
        parts: &[Part],
    ) -> Result<Vec<Brief>, ToolError> {
        let asked = Run::find(root, run)?.plan()?.protocol.requirements();
        if !asked.exchange && !asked.ballot {
            return Ok(Vec::new());
        }
        let ready = Ready::new(run, again(root, run)?.0)?;
        let Made { plan, workspace, .. } = &ready.made;
        let told = review::told(run, plan, workspace, &ready.outcomes(run, parts)?)?;
        let fence = Recorder::resume(root, run)?.fence()?;
        Ok(ready.with(run, &fence, |review| delegate::second_round(review, &told))?)
    }

    /// Decides a run from what the host's agents reported.
    pub(super) fn finish(
        root: &Path,
        run: &str,
        parts: &[Part],
    ) -> Result<ReviewResult, ToolError> {
        // Nobody else works on it from here on.
        let recorder = Recorder::resume(root, run)?;
        let (made, arguments) = again(root, run)?;
        let ready = Ready::new(run, made)?;
        let outcomes = ready.outcomes(run, parts)?;
        let Made { plan, workspace, .. } = &ready.made;
        Ok(review::end(&recorder, plan, workspace, outcomes, &arguments.run)?)
    }

    fn keep(&self, root: &Path, run: &str, ready: Arc<Ready>) {
        let mut kept = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_READY {
            kept.remove(0);
        }
        kept.push((root.to_owned(), run.to_owned(), ready));
    }

    /// A change, as it was kept or made again.
    fn ready(&self, root: &Path, run: &str) -> Result<Arc<Ready>, ToolError> {
        let known = {
            let kept = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = |(of, id, _): &&(PathBuf, String, Arc<Ready>)| of == root && id == run;
            kept.iter().find(mine).map(|(_, _, ready)| ready.clone())
        };
        if let Some(ready) = known {
            return Ok(ready);
        }
        let ready = Arc::new(Ready::new(run, again(root, run)?.0)?);
        self.keep(root, run, ready.clone());
        Ok(ready)
    }
}

/// The change of a run, read again; an error where it is not what it was.
fn again(root: &Path, run: &str) -> Result<(Made, ReviewArgs), ToolError> {
    let own = kept::own(root, Run::find(root, run)?)?;
    let found = own.summary();
    let (cli, arguments) = request::load(&own)?;
    let mut made = plan::make(&cli, &arguments.scope, &arguments.run, Purpose::Review)?;
    let planned = found.plan()?;
    request::check_unchanged(run, &planned.scope, &made.plan.scope).map_err(|failure| {
        ToolError::new(Code::Changed, failure.message())
            .with_hint("`review_begin` starts a new one")
    })?;
    made.plan = planned;
    Ok((made, arguments))
}
