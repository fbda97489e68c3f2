//! Reviewers that are language models: from the plan to their outcomes.

mod journal;
mod lookup;
pub(crate) mod material;
mod table;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quorum_dispatch::llm::{
    AgentEngine, Cancel, LlmReview, NoJournal, Panel, Style, Unobserved, reporter,
};
use quorum_dispatch::{BUILTIN, add_rules};
use quorum_index::Counter;
use quorum_llm::{
    Client, ClientSettings, Endpoint, Message, Prices, ReplayProvider, Timeouts, connect,
};
use quorum_model::finding::{AgentFinding, SuppressedFinding};
use quorum_model::outcome::{AgentOutcome, Usage};
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::result::SopResult;
use quorum_plan::models::HOST;
use tokio_util::sync::CancellationToken;

use crate::briefing::Briefings;
use crate::error::EngineError;
use crate::observer::{Observer, Progress, Reviewers};
use crate::plan::Prepared;
use crate::record::Recorder;
use crate::settings;
use crate::workspace::Workspace;

pub(crate) use table::Table;

/// What answers for each agent that is no set of rules.
pub(crate) type Engines = BTreeMap<String, AgentEngine>;

/// Calls to one server at a time, unless the user says otherwise: waiting takes no core.
const CALLS_AT_ONCE: usize = 8;

/// Sets up what the plan names; nothing is sent yet, and what is missing is said before anything is.
pub(crate) fn engines(plan: &Plan, workspace: &Workspace) -> Result<Engines, EngineError> {
    if plan.agents.iter().any(|agent| agent.engine == HOST) {
        return Err(EngineError::invalid(
            "this review is carried out by a coding agent's own agents",
        )
        .with_hint("the agent decides it with `review_finish`; `quorum mcp` serves it"));
    }
    let config = &workspace.loaded.config;
    let timeouts = Timeouts::within(Duration::from_secs(config.limits.seconds_per_call));
    let modelled = plan.agents.iter().filter(|agent| agent.engine != BUILTIN);
    let at_once = config.limits.jobs.map_or_else(
        || CALLS_AT_ONCE.max(modelled.clone().count()),
        |jobs| usize::try_from(jobs).unwrap_or(CALLS_AT_ONCE),
    );
    let mut endpoints: BTreeMap<(String, String), Arc<Endpoint>> = BTreeMap::new();
    let mut engines = Engines::new();
    for agent in modelled {
        let mut chain = Vec::new();
        for (provider, name) in chain_of(agent, workspace) {
            let program = if provider == "command" { name.clone() } else { String::new() };
            let key = (provider.clone(), program);
            let endpoint = if let Some(endpoint) = endpoints.get(&key) {
                endpoint.clone()
            } else {
                let found = connect(&provider, &name, timeouts, |name| {
                    workspace.environment.variable(name)
                })?;
                let endpoint = Arc::new(Endpoint::new(found, at_once));
                endpoints.insert(key, endpoint.clone());
                endpoint
            };
            chain.push((endpoint, workspace.registry.model(&name).served_as));
        }
        let client = Client::new(chain, ClientSettings::default());
        engines.insert(agent.name.clone(), engine(agent, workspace, Some(client)));
    }
    Ok(engines)
}

/// What stands for the models of a run that is gone through again: its record has their answers, and
/// nobody is asked for one that it does not have.
pub(crate) fn recorded(plan: &Plan, workspace: &Workspace) -> Engines {
    let nobody = Arc::new(Endpoint::new(Arc::new(ReplayProvider::default()), CALLS_AT_ONCE));
    let modelled = plan.agents.iter().filter(|agent| agent.engine != BUILTIN);
    let engines = modelled.map(|agent| {
        let name = agent.model.as_deref().unwrap_or_default();
        let chain = vec![(nobody.clone(), workspace.registry.model(name).served_as)];
        let client = Client::new(chain, ClientSettings::default());
        (agent.name.clone(), engine(agent, workspace, Some(client)))
    });
    engines.collect()
}

pub(crate) fn engine(
    agent: &PlannedAgent,
    workspace: &Workspace,
    client: Option<Client>,
) -> AgentEngine {
    let model = workspace.registry.model(agent.model.as_deref().unwrap_or_default());
    AgentEngine {
        client,
        window: model.window,
        prices: model.prices.map(|(input, output)| Prices::new(input, output)),
        // A program is given a text and gives one back.
        style: if agent.engine == "command" { Style::Plain } else { Style::Tools },
    }
}

/// The model that is planned, then those that the user's configuration falls back on. The ones that
/// Quorum knows of are no fallbacks: code goes to no company that nobody named.
fn chain_of(agent: &PlannedAgent, workspace: &Workspace) -> Vec<(String, String)> {
    let config = &workspace.loaded.config;
    let first = (agent.engine.clone(), agent.model.clone().unwrap_or_default());
    let fallbacks = config.capabilities.get("reviewing").map(|c| c.fallback.clone());
    let fallbacks = fallbacks.unwrap_or_default().into_iter().map(|name| {
        let provider = config.models.get(&name).and_then(|model| model.provider.clone());
        (provider.unwrap_or_else(|| agent.engine.clone()), name)
    });
    let mut chain = vec![first];
    for link in fallbacks {
        if !chain.contains(&link) {
            chain.push(link);
        }
    }
    chain
}

/// What the reviewers of a run work with, beside the change.
pub(crate) struct With<'a> {
    pub(crate) engines: &'a Engines,
    /// What rules found, by agent.
    pub(crate) beside: &'a BTreeMap<String, Vec<AgentFinding>>,
    /// Standing orders that checks found violated, by agent.
    pub(crate) violated: &'a BTreeMap<String, Vec<SopResult>>,
    /// What comments in the code suppress, by agent.
    pub(crate) suppressed: &'a BTreeMap<String, Vec<SuppressedFinding>>,
    /// What rules looked at beside the models.
    pub(crate) looked_at: &'a [AgentOutcome],
    pub(crate) plan: &'a Plan,
    /// Whether reviewers are asked again after the review, so that none of them ends before all do.
    pub(crate) together: bool,
    pub(crate) cancel: &'a CancellationToken,
}

impl With<'_> {
    /// What an agent came to, with what a check found: it is violated, whatever a model says.
    pub(crate) fn checked(&self, mut outcome: AgentOutcome) -> AgentOutcome {
        outcome.sops.extend(self.violated.get(&outcome.agent).cloned().unwrap_or_default());
        let held = self.suppressed.get(&outcome.agent);
        outcome.suppressed.extend(held.cloned().unwrap_or_default());
        if let Some(rules) = self.looked_at.iter().find(|rules| rules.agent == outcome.agent) {
            add_rules(&mut outcome, rules, self.plan);
        }
        outcome
    }
}

/// Has `work` done with the reviewers of `left`, which is what is left to do of the prepared plan.
pub(crate) fn convene<T>(
    left: &Plan,
    prepared: &Prepared,
    recorder: &Recorder,
    with: &With<'_>,
    observer: &dyn Observer,
    work: impl FnOnce(&Table<'_>) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let fence = recorder.fence()?;
    let (workspace, config) = (&prepared.workspace, &prepared.workspace.loaded.config);
    let agents = &prepared.decided_by.agents;
    let material = material::Change::new(prepared);
    let kept = recorder.run().map(|run| journal::OnDisk { run, recorder, with });
    let recalled = recorder.recalled().map(journal::Recalled);
    let sops = &prepared.sops;
    let briefings = Briefings::new(workspace, &prepared.plan, sops, Some(recorder))?;
    let index = lookup::Indexed::new(&prepared.request.root, &workspace.environment, &material);
    let watched = Reviewers(observer);
    let review = LlmReview {
        run: recorder.id(),
        fence: &fence,
        plan: left,
        agents,
        engines: with.engines,
        material: &material,
        redactor: &material::Secrets,
        lookup: Some(&index),
        sops,
        briefing: &briefings,
        builtin: with.beside,
        gates: recorder.gates().map(|report| report.gates.as_slice()).unwrap_or_default(),
        counter: Counter::new(config.tokenizer),
        thresholds: settings::for_plan(config)?.thresholds,
        limits: config.limits,
        complete: config.complete,
        canary: config.canary,
        reporter: reporter(&prepared.plan),
        spent: recorder.spent_before(left),
        journal: match (&kept, &recalled) {
            (Some(kept), _) => kept,
            (None, Some(recalled)) => recalled,
            (None, None) => &NoJournal,
        },
        observer: &watched,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| EngineError::failed(format!("no runtime: {error}")))?;
    let (canceller, stopped) = Cancel::new();
    let panel = Panel::new(review, stopped);
    let cancel = with.cancel;
    let table = Table { panel, runtime, canceller, cancel, interrupted: Cell::new(false) };
    let worked = work(&table);
    observer.observe(Progress::ReviewersEnded);
    if let Some(kept) = kept.as_ref().filter(|_| table.is_interrupted()) {
        kept.interrupted();
    }
    worked
}

/// Writes every request that would be sent first into `folder`, one file each.
pub fn write_prompts(prepared: &Prepared, folder: &Path) -> Result<(), EngineError> {
    let (workspace, config) = (&prepared.workspace, &prepared.workspace.loaded.config);
    let modelled = prepared.plan.agents.iter().filter(|agent| agent.engine != BUILTIN);
    let engines: Engines =
        modelled.map(|agent| (agent.name.clone(), engine(agent, workspace, None))).collect();
    if engines.is_empty() {
        return Err(EngineError::invalid("the embedded reviewers have no prompts")
            .with_hint("name a provider: `quorum plan --provider anthropic --prompts DIR`"));
    }
    let material = material::Change::new(prepared);
    let briefings = Briefings::new(workspace, &prepared.plan, &prepared.sops, None)?;
    let review = LlmReview {
        run: "plan",
        fence: "plan",
        plan: &prepared.plan,
        agents: &prepared.decided_by.agents,
        engines: &engines,
        material: &material,
        redactor: &material::Secrets,
        lookup: None,
        sops: &prepared.sops,
        briefing: &briefings,
        builtin: &BTreeMap::new(),
        gates: &[],
        counter: Counter::new(config.tokenizer),
        thresholds: settings::for_plan(config)?.thresholds,
        limits: config.limits,
        complete: true,
        canary: config.canary,
        reporter: None,
        spent: Usage::default(),
        journal: &NoJournal,
        observer: &Unobserved,
    };
    let failed = |error: std::io::Error| {
        EngineError::failed(format!("{}: {error}", folder.display()))
            .with_hint("name a folder that can be made and written")
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let (_stop, cancel) = Cancel::new();
    for prompt in Panel::new(review, cancel).prompts() {
        let mut page = String::new();
        for text in &prompt.request.system {
            // Writing to a string cannot fail.
            _ = write!(page, "# System\n\n{}\n\n", text.text);
        }
        for message in &prompt.request.messages {
            if let Message::User(blocks) = message {
                for text in blocks {
                    _ = write!(page, "# User\n\n{}\n\n", text.text);
                }
            }
        }
        let name = format!("{}-{:03}.md", prompt.agent, prompt.shard + 1);
        fs::write(folder.join(name), page).map_err(failed)?;
    }
    Ok(())
}
