//! From a scope with its units to the plan.

use std::collections::BTreeSet;

use quorum_model::SCHEMA_VERSION;
use quorum_model::budget::Thresholds;
use quorum_model::config;
use quorum_model::outcome::Depth;
use quorum_model::plan::{Ceilings, Plan, PlannedAgent, Protocol, Shard};
use quorum_model::scope::{FileEntry, FileFacts, Flag, Scope};
use quorum_model::tier::Tier;
use quorum_model::unit::Unit;

use crate::budget;
use crate::ceilings::{self, Asked, Priced};
use crate::error::PlanError;
use crate::models::{BUILTIN, DEFAULT_WINDOW, HOST, Model, Registry};
use crate::priority;
use crate::related::Groups;
use crate::roster::{Member, Roster};
use crate::select::{self, Role, Selected};
use crate::shards::{self, Limits};
use crate::sizing;
use crate::sop::Sop;
use crate::tier::{self, Evidence};

/// No unit is larger than this, so that every reviewer's shards can be filled well.
const LARGEST_UNIT: u64 = 2_048;

/// What a plan is made from.
#[derive(Clone, Debug)]
pub struct Input {
    /// What is under review.
    pub scope: Scope,
    /// What was learnt about each file, in the scope's order.
    pub facts: Vec<FileFacts>,
    /// The units of each file, in the scope's order; none over [`unit_limit`].
    pub units: Vec<Vec<Unit>>,
    /// The team's SOPs.
    pub sops: Vec<Sop>,
    /// What the user should know that was noticed on the way here.
    pub warnings: Vec<String>,
}

/// What the user and the configuration decide.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Use this tier.
    pub tier: Option<Tier>,
    /// Use these agents.
    pub agents: Vec<String>,
    /// How findings become a verdict.
    pub protocol: Protocol,
    /// What does the reviewers' work.
    pub provider: String,
    /// The model that the provider uses.
    pub model: Option<String>,
    /// Follow up until everything is covered.
    pub complete: bool,
    /// Look at findings that block a second time.
    pub verify: bool,
    /// The work is wanted quickly.
    pub time_pressure: bool,
    /// How tokens were counted.
    pub tokenizer: String,
    /// The shares of a budget at which the mode changes.
    pub thresholds: Thresholds,
    /// The most that a run may cost.
    pub limits: config::Limits,
    /// Reviewers that run at once.
    pub jobs: u64,
}

/// What does one agent's work.
struct Engine {
    provider: String,
    model: Option<Model>,
    files_limit: u64,
}

/// The most tokens that a unit may have, so that it fits every reviewer's smallest shard.
///
/// Budgets follow from the tokens of all files, which are known only after the files are read and
/// cut; but no budget is below its base at the lowest tier.
pub fn unit_limit(
    roster: &Roster,
    registry: &Registry,
    settings: &Settings,
) -> Result<u64, PlanError> {
    let mut limit = LARGEST_UNIT;
    for member in roster.members().iter().filter(|member| member.enabled) {
        let smallest = budget::budget(member.agent.base_budget, 0, Tier::Simple);
        let files_limit = engine(member, registry, settings)?.files_limit;
        limit = limit.min(shard_limit(smallest, files_limit, settings.thresholds));
    }
    Ok(limit)
}

/// What one shard may hold: what a request has room for, and what a branch can read with budget
/// left for its answer.
fn shard_limit(budget: u64, files_limit: u64, thresholds: Thresholds) -> u64 {
    thresholds.full_analysis.floor_of(budget).min(files_limit).max(1)
}

/// Makes the plan.
pub fn plan(
    input: Input,
    roster: &Roster,
    registry: &Registry,
    settings: &Settings,
) -> Result<Plan, PlanError> {
    let Input { scope, facts, units, sops, mut warnings } = input;
    for file in &scope.files {
        shards::applying(&file.path, &sops, Limits::of_tokens(0))?;
    }
    let groups = Groups::of(&scope.files, &facts);
    let time_pressure = settings.time_pressure;
    let evidence = Evidence { files: &scope.files, facts: &facts, groups: &groups, time_pressure };
    let tier = tier::assess(evidence, settings.tier);
    let selection =
        select::select(roster, &scope.files, &tier, settings.protocol, &settings.agents)?;
    let total_tokens = scope.files.iter().map(|file| file.tokens).sum();
    let planner = Planner {
        scope: &scope,
        units: &units,
        sops: &sops,
        groups: &groups,
        settings,
        tier: tier.name,
        total_tokens,
    };
    let mut agents = Vec::new();
    let mut engines = Vec::new();
    for selected in &selection.agents {
        let mut engine = engine(selected.member, registry, settings)?;
        let is_paid = engine.provider != BUILTIN;
        if selected.role != Role::Called && is_paid {
            engine = rules()?;
        }
        let mut selected = selected.clone();
        let is_free = engine.provider == BUILTIN && settings.agents.is_empty();
        if is_free && settings.protocol != Protocol::Aad && !planner.narrow(&mut selected) {
            continue;
        }
        let mut agent = planner.agent(&selected, &engine)?;
        agent.beside_models = selected.role == Role::Rules && is_paid;
        agents.push(agent);
        engines.push(engine);
    }
    let priced = priced(&agents, &engines);
    let needed = ceilings_within(
        &priced,
        settings,
        &config::Limits { max_tokens: None, max_usd: None, max_seconds: None, ..settings.limits },
    );
    let ceilings = ceilings_within(&priced, settings, &settings.limits);
    if agents.iter().any(|agent| agent.engine != BUILTIN) {
        warnings.extend(shown_by_name(&scope));
    }
    warnings.extend(notices(&agents, &engines, settings, &needed, registry));
    let unassigned = selection.unassigned.iter().map(|&index| scope.files[index].path.to_string());
    let unassigned = unassigned.collect();
    Ok(Plan {
        schema_version: SCHEMA_VERSION,
        tokenizer: settings.tokenizer.clone(),
        total_tokens,
        isolation: budget::isolation(total_tokens),
        protocol: settings.protocol,
        scope,
        tier,
        agents,
        unassigned,
        ceilings,
        warnings,
    })
}

/// What every agent's part is planned from.
struct Planner<'a> {
    scope: &'a Scope,
    units: &'a [Vec<Unit>],
    sops: &'a [Sop],
    groups: &'a Groups,
    settings: &'a Settings,
    tier: Tier,
    total_tokens: u64,
}

impl Planner<'_> {
    fn agent(&self, selected: &Selected<'_>, engine: &Engine) -> Result<PlannedAgent, PlanError> {
        let agent = &selected.member.agent;
        let budget = budget::budget(agent.base_budget, self.total_tokens, self.tier);
        let thresholds = self.settings.thresholds;
        let shard_limit = shard_limit(budget, engine.files_limit, thresholds);
        let order = self.reading_order(&selected.files);
        let units = order.iter().filter_map(|&index| self.units.get(index)).flatten().cloned();
        let mut shards = shards::pack(units, self.sops, Limits::of_tokens(shard_limit))?;
        if engine.provider != BUILTIN {
            number_waves(&mut shards, thresholds.full_analysis.floor_of(budget));
        }
        Ok(PlannedAgent {
            name: agent.name.clone(),
            budget,
            base_budget: agent.base_budget,
            veto: agent.veto,
            engine: engine.provider.clone(),
            model: engine.model.as_ref().map(|model| model.name.clone()),
            reason: selected.reasons.join("; "),
            files: order.iter().map(|&index| self.scope.files[index].path.to_string()).collect(),
            shard_limit,
            shards,
            depth: match selected.role {
                Role::Secrets => Depth::Read,
                Role::Called | Role::Rules => Depth::Reviewed,
            },
            beside_models: false,
        })
    }

    /// Leaves a reviewer the files that its rules can say something about; whether there are any.
    ///
    /// What a vulnerability reviewer asks of code, where a dependency is called, is a question for a
    /// model: its rules read manifests and lock files.
    fn narrow(&self, selected: &mut Selected<'_>) -> bool {
        if selected.member.agent.name != "vulnerability-reviewer" {
            return true;
        }
        let flags = [Flag::Manifest, Flag::LockFile];
        selected.files.retain(|&index| flags.iter().any(|flag| self.scope.files[index].has(*flag)));
        !selected.files.is_empty()
    }

    /// The most urgent files first, and among equals those that belong together.
    fn reading_order(&self, files: &[usize]) -> Vec<usize> {
        let mut order = files.to_vec();
        order.sort_by_cached_key(|&index| {
            (priority::of(&self.scope.files[index]), self.groups.group(index), index)
        });
        order
    }
}

/// Shards run in the first wave while a branch's budget lasts; the builtin engine costs nothing
/// and runs them all.
fn number_waves(shards: &mut [Shard], room: u64) {
    let mut wave = 1;
    let mut used = 0;
    for shard in shards {
        if used + shard.tokens > room && used > 0 {
            wave += 1;
            used = 0;
        }
        used += shard.tokens;
        shard.wave = wave;
    }
}

/// What does `member`'s work, by its own settings first, then by the run's. A host's agents do the
/// work of all.
fn engine(member: &Member, registry: &Registry, settings: &Settings) -> Result<Engine, PlanError> {
    let own = member.provider.clone().filter(|_| settings.provider != HOST);
    let provider = own.unwrap_or_else(|| settings.provider.clone());
    registry.check_provider(&provider)?;
    if provider == BUILTIN {
        return rules();
    }
    if provider == HOST {
        let files_limit = sizing::files_limit(&Model::of_window(&provider, DEFAULT_WINDOW))?;
        return Ok(Engine { provider, model: None, files_limit });
    }
    // A model that is named for the run belongs to the run's provider.
    let for_run = settings.model.as_deref().filter(|_| provider == settings.provider);
    let name = member.agent.model.as_deref().or(for_run).or_else(|| registry.preferred(&provider));
    let Some(name) = name else { return Err(PlanError::NoModel(provider)) };
    let model = registry.model(name);
    let files_limit = sizing::files_limit(&model)?;
    Ok(Engine { provider, model: Some(model), files_limit })
}

/// The engine that costs nothing.
fn rules() -> Result<Engine, PlanError> {
    let files_limit = sizing::files_limit(&Model::of_window(BUILTIN, DEFAULT_WINDOW))?;
    Ok(Engine { provider: BUILTIN.to_owned(), model: None, files_limit })
}

fn priced<'a>(agents: &'a [PlannedAgent], engines: &[Engine]) -> Vec<Priced<'a>> {
    let both = agents.iter().zip(engines);
    both.map(|(agent, engine)| Priced {
        agent,
        prices: engine.model.as_ref().and_then(|model| model.prices),
    })
    .collect()
}

fn ceilings_within(
    priced: &[Priced<'_>],
    settings: &Settings,
    limits: &config::Limits,
) -> Ceilings {
    let asked = Asked { protocol: settings.protocol, verify: settings.verify };
    ceilings::ceilings(priced, asked, limits, settings.jobs, settings.complete)
}

/// Names the changed files that rules alone read, because a generator wrote them.
fn shown_by_name(scope: &Scope) -> Option<String> {
    let changed = |file: &&FileEntry| file.is_for_rules_alone() && !file.hunks.is_empty();
    let hidden = scope.files.iter().filter(changed);
    let hidden: Vec<&str> = hidden.map(|file| &*file.path).collect();
    let (first, more) = hidden.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some(format!("generated, so read by rules and not shown to models: {first}{more}"))
}

/// What the user should know before the run.
fn notices(
    agents: &[PlannedAgent],
    engines: &[Engine],
    settings: &Settings,
    needed: &Ceilings,
    registry: &Registry,
) -> Vec<String> {
    let mut notices = Vec::new();
    let limits = &settings.limits;
    if let Some(most) = limits.max_tokens.filter(|most| *most < needed.tokens) {
        notices.push(format!(
            "max_tokens {most} is below the {} that covering everything could take: \
             what does not fit will be reported as skipped",
            needed.tokens
        ));
    }
    if let Some((most, usd)) = limits.max_usd.zip(needed.usd).filter(|(most, usd)| most < usd) {
        notices
            .push(format!("max_usd {most} is below the {usd} that covering everything could cost"));
    }
    if let Some(most) = limits.max_seconds.filter(|most| *most < needed.seconds) {
        let seconds = needed.seconds;
        notices.push(format!("max_seconds {most} is below the {seconds} that it could take"));
    }
    let models: BTreeSet<&str> = engines
        .iter()
        .filter_map(|engine| engine.model.as_ref())
        .filter(|model| !model.known)
        .map(|model| model.name.as_str())
        .collect();
    for name in models {
        notices.push(format!(
            "`{name}` is not a model that is known (prices of {}): a window of 128,000 tokens is \
             assumed; set [models.\"{name}\"] in quorum.toml",
            registry.as_of
        ));
    }
    let later = agents.iter().filter(|agent| agent.shards.iter().any(|shard| shard.wave > 1));
    let later: Vec<&str> = later.map(|agent| agent.name.as_str()).collect();
    if !later.is_empty() && !settings.complete {
        notices.push(format!(
            "the budget does not cover every file of {}; `--complete` adds the waves that do",
            later.join(", ")
        ));
    }
    notices
}

#[cfg(test)]
mod tests;
