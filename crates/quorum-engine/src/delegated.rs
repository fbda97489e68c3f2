//! Reviews that a coding agent's own agents carry out: what they read, and what comes of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quorum_dispatch::BUILTIN;
use quorum_dispatch::llm::delegate::{self, Brief, Checked, Part, Submitted};
use quorum_dispatch::llm::{LlmReview, NoJournal, Unobserved, reporter};
use quorum_index::Counter;
use quorum_model::finding::{AgentFinding, SuppressedFinding};
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_model::result::{ReviewResult, SopResult};
use quorum_plan::models::HOST;
use quorum_store::Run;

use crate::briefing::Briefings;
use crate::environment::Environment;
use crate::error::EngineError;
use crate::gather::Purpose;
use crate::models::{self, Engines, material};
use crate::observer::silent;
use crate::plan::Prepared;
use crate::record::Recorder;
use crate::request::ReviewRequest;
use crate::{embedded, kept, plan, resume, review, settings};

/// Changes that are kept ready for findings to be held against.
const MOST_READY: usize = 4;

/// The delegated reviews that were worked on here. What is kept is only a faster way to what can be
/// made again from the run.
#[derive(Debug, Default)]
pub struct Delegated {
    ready: Mutex<Vec<(PathBuf, String, Arc<Ready>)>>,
}

/// A change with all that its reviewers are told about it.
#[derive(Debug)]
struct Ready {
    prepared: Prepared,
    engines: Engines,
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
    fn new(run: &str, prepared: Prepared) -> Result<Self, EngineError> {
        let Prepared { plan, files, workspace, sops, .. } = &prepared;
        let (by_rules, beside) =
            embedded::review_all(run, plan, files, workspace, sops, &*silent())?;
        let planned = plan.agents.iter().filter(|agent| agent.engine != BUILTIN);
        let engines =
            planned.map(|agent| (agent.name.clone(), models::engine(agent, workspace, None)));
        Ok(Self {
            engines: engines.collect(),
            beside,
            violated: by_rules.violated,
            suppressed: by_rules.suppressed,
            looked_at: by_rules.beside,
            by_rules: by_rules.outcomes,
            prepared,
        })
    }

    /// Does something with the review as the reviewers' engine sees it.
    fn with<T>(
        &self,
        run: &str,
        fence: &str,
        work: impl FnOnce(LlmReview<'_>) -> T,
    ) -> Result<T, EngineError> {
        let Prepared { plan, workspace, sops, decided_by, .. } = &self.prepared;
        let config = &workspace.loaded.config;
        let material = material::Change::new(&self.prepared);
        let briefings = Briefings::new(workspace, plan, sops, None)?;
        Ok(work(LlmReview {
            run,
            fence,
            plan,
            agents: &decided_by.agents,
            engines: &self.engines,
            material: &material,
            redactor: &material::Secrets,
            lookup: None,
            briefing: &briefings,
            sops,
            builtin: &self.beside,
            counter: Counter::new(config.tokenizer),
            thresholds: settings::for_plan(config)?.thresholds,
            limits: config.limits,
            complete: true,
            // What is planted is planted for models.
            canary: false,
            reporter: reporter(plan),
            spent: Usage::default(),
            gates: &[],
            journal: &NoJournal,
            observer: &Unobserved,
        }))
    }
}

impl Ready {
    /// What came of every agent, by what the host's agents reported.
    fn outcomes(&self, run: &str, parts: &[Part]) -> Result<Vec<AgentOutcome>, EngineError> {
        let mut outcomes = self.with(run, run, |review| delegate::outcomes(review, parts))?;
        for outcome in &mut outcomes {
            // What a check found is violated, whatever an agent says.
            outcome.sops.extend(self.violated.get(&outcome.agent).cloned().unwrap_or_default());
            let held = self.suppressed.get(&outcome.agent);
            outcome.suppressed.extend(held.cloned().unwrap_or_default());
            if let Some(rules) = self.looked_at.iter().find(|rules| rules.agent == outcome.agent) {
                quorum_dispatch::add_rules(outcome, rules, &self.prepared.plan);
            }
        }
        outcomes.extend(self.by_rules.iter().cloned());
        Ok(outcomes)
    }
}

/// A review that the host's own agents carry out.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The run.
    pub run: String,
    /// Its directory.
    pub directory: PathBuf,
    /// Files under review.
    pub files: usize,
    /// Files that no agent is planned for.
    pub unassigned: usize,
    /// The tier.
    pub tier: String,
    /// What each agent reads.
    pub briefs: Vec<Brief>,
}

impl Delegated {
    /// Starts a run and makes what each of the host's agents reads.
    pub fn begin(
        &self,
        request: &ReviewRequest,
        environment: &Environment,
    ) -> Result<Begun, EngineError> {
        let mut request = request.clone();
        request.options.provider = Some(HOST.to_owned());
        request.options.complete = true;
        let prepared = plan::make(&request, environment, Purpose::Review, &*silent())?;
        let Prepared { plan, workspace, decided_by, .. } = &prepared;
        if plan.scope.files.is_empty() {
            return Err(EngineError::invalid("there is nothing to review")
                .with_hint("name a scope; `all` is every file"));
        }
        let recorder = Recorder::start(workspace, plan, decided_by, Some(&request))?;
        let Some((root, run)) = recorder.root().zip(recorder.run()) else {
            return Err(EngineError::unavailable("there is no place to keep the run"));
        };
        let (id, directory) = (recorder.id().to_owned(), run.directory().to_owned());
        let fence = recorder.fence()?;
        let ready = Arc::new(Ready::new(&id, prepared)?);
        let briefs = ready.with(&id, &fence, delegate::briefs)?;
        let plan = &ready.prepared.plan;
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

    /// Holds findings against the code. The inner error says why they could not be searched for secrets.
    pub fn take(
        &self,
        root: &Path,
        run: &str,
        submitted: Submitted<'_>,
        environment: &Environment,
    ) -> Result<Result<Checked, String>, EngineError> {
        let ready = self.ready(root, run, environment)?;
        ready.with(run, run, |review| delegate::take(review, submitted))
    }

    /// What the host's agents are asked about each other's findings.
    pub fn second_round(
        root: &Path,
        run: &str,
        parts: &[Part],
        environment: &Environment,
    ) -> Result<Vec<Brief>, EngineError> {
        let asked = Run::find(root, run)?.plan()?.protocol.requirements();
        if !asked.exchange && !asked.ballot {
            return Ok(Vec::new());
        }
        let ready = Ready::new(run, again(root, run, environment)?)?;
        let Prepared { plan, decided_by, .. } = &ready.prepared;
        let told = review::told(run, plan, decided_by, &ready.outcomes(run, parts)?)?;
        let fence = Recorder::resume(root, run, environment)?.fence()?;
        ready.with(run, &fence, |review| delegate::second_round(review, &told))
    }

    /// Decides a run from what the host's agents reported.
    pub fn finish(
        root: &Path,
        run: &str,
        parts: &[Part],
        environment: &Environment,
    ) -> Result<ReviewResult, EngineError> {
        // Nobody else works on it from here on.
        let recorder = Recorder::resume(root, run, environment)?;
        let ready = Ready::new(run, again(root, run, environment)?)?;
        let outcomes = ready.outcomes(run, parts)?;
        Ok(review::end(&recorder, &ready.prepared, outcomes, &silent())?.result)
    }

    fn keep(&self, root: &Path, run: &str, ready: Arc<Ready>) {
        let mut kept = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_READY {
            kept.remove(0);
        }
        kept.push((root.to_owned(), run.to_owned(), ready));
    }

    /// A change, as it was kept or made again.
    fn ready(
        &self,
        root: &Path,
        run: &str,
        environment: &Environment,
    ) -> Result<Arc<Ready>, EngineError> {
        let known = {
            let kept = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = |(of, id, _): &&(PathBuf, String, Arc<Ready>)| of == root && id == run;
            kept.iter().find(mine).map(|(_, _, ready)| ready.clone())
        };
        if let Some(ready) = known {
            return Ok(ready);
        }
        let ready = Arc::new(Ready::new(run, again(root, run, environment)?)?);
        self.keep(root, run, ready.clone());
        Ok(ready)
    }
}

/// The change of a run, read again; an error where it is not what it was.
fn again(root: &Path, run: &str, environment: &Environment) -> Result<Prepared, EngineError> {
    let own = kept::own(root, Run::find(root, run)?, environment)?;
    resume::again(&own, environment, &*silent())
}
