//! Everything that a command works with: repository, target, configuration, reviewers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use quorum_model::config::ScopeConfig;
use quorum_plan::models::Registry;
use quorum_plan::roster::{self, AgentFile, Roster};
use quorum_scope::ScopeError;
use quorum_scope::repository::Repository;
use quorum_scope::request::{self, PolicySource, Request, Selection, Target};
use quorum_scope::snapshot::Snapshot;

use crate::config::{Claim, Layers, Loaded, Origin, Setting, TextLayer, Value};
use crate::environment::Environment;
use crate::error::EngineError;
use crate::policy::Policy;
use crate::request::ReviewRequest;
use crate::{consent, pull_request, settings};

/// What a command works with.
#[derive(Debug)]
pub struct Workspace {
    /// The repository; absent for a diff from elsewhere.
    pub repository: Option<Repository>,
    /// What is compared with what.
    pub target: Target,
    /// The configuration, with the origin of every value.
    pub loaded: Loaded,
    /// The reviewers.
    pub roster: Roster,
    /// What is known of models.
    pub registry: Registry,
    /// What the user should know that was noticed on the way.
    pub(crate) warnings: Vec<String>,
    /// What the team leaves out, from where the change cannot say it.
    pub(crate) exclusions: ScopeConfig,
    /// Files of a pull request that the host did not send, or not all of.
    pub(crate) withheld: BTreeSet<String>,
    /// What may be known of the process and the user.
    pub(crate) environment: Environment,
    /// The number of the pull request that is under review.
    pub(crate) pull_request: Option<u64>,
    snapshot: OnceLock<Snapshot>,
}

impl Workspace {
    /// Opens what `request` names, with configuration from where it can be trusted.
    pub fn open(request: &ReviewRequest, environment: &Environment) -> Result<Self, EngineError> {
        Self::open_with(request, environment, settings::of(&request.options))
    }

    /// The same, with settings in the place of those that the request's options stand for.
    pub(crate) fn open_with(
        asked: &ReviewRequest,
        environment: &Environment,
        flags: Vec<Setting>,
    ) -> Result<Self, EngineError> {
        let folder = asked.root.as_path();
        let mut paths = asked.paths.clone();
        let repository = match Repository::discover(folder) {
            Ok(repository) => Some(repository),
            // A diff needs neither; a repository that cannot be read has a policy that is not known.
            Err(ScopeError::NoRepository(_) | ScopeError::NoGit(_))
                if asked.selection.stands_alone() =>
            {
                None
            }
            Err(error) => return Err(error.into()),
        };
        let mut warnings = Vec::new();
        let mut withheld = BTreeSet::new();
        let selection = if let Some(number) = asked.selection.pull_request() {
            // Which revision to trust is not known before the host is asked; what a repository can
            // set about the host does not decide where a token goes.
            let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
            let loaded = load(&policy, environment, Vec::new())?;
            let config = &loaded.config.forge;
            let found = pull_request::select(repository.as_ref(), config, environment, number)?;
            warnings.extend(found.warnings);
            withheld.extend(found.withheld);
            found.selection
        } else {
            asked.selection.resolved().unwrap_or(Selection::Default)
        };
        paths.dedup();
        let request = Request { selection, paths };
        let target = match &repository {
            Some(repository) => request::resolve(repository, request)?,
            None => Target::of_bare_diff(request)
                .ok_or_else(|| ScopeError::NoRepository(folder.to_owned()))?,
        };
        let policy = Policy::new(repository.as_ref(), target.policy());
        let exclusions = if target.exclusions() == target.policy() {
            None
        } else {
            let policy = Policy::new(repository.as_ref(), target.exclusions());
            let loaded = load(&policy, environment, flags.clone());
            if loaded.is_err() {
                warnings.push(
                    "quorum.toml cannot be read as it was before the change: nothing is left out \
                     because of it"
                        .to_owned(),
                );
            }
            Some(loaded.map(|loaded| loaded.config.scope).unwrap_or_default())
        };
        let (loaded, agents) = load_with_agents(&policy, environment, flags)?;
        warnings.extend(loaded.warning(""));
        let exclusions = exclusions.unwrap_or_else(|| loaded.config.scope.clone());
        let roster = Roster::load(&agents, &loaded.config.agent)?;
        let registry = Registry::load(&loaded.config)?;
        Ok(Self {
            repository,
            target,
            loaded,
            roster,
            registry,
            warnings,
            exclusions,
            withheld,
            pull_request: asked.selection.pull_request(),
            environment: environment.clone(),
            snapshot: OnceLock::new(),
        })
    }

    /// The repository around the change. There is one, so that git lists its files once.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        self.snapshot.get_or_init(|| Snapshot::new(self.repository.as_ref(), &self.target))
    }

    /// Where it is read from what is left out.
    pub(crate) fn exclusion_policy(&self) -> Policy<'_> {
        Policy::new(self.repository.as_ref(), self.target.exclusions())
    }

    /// Where policy files are read from.
    pub fn policy(&self) -> Policy<'_> {
        Policy::new(self.repository.as_ref(), self.target.policy())
    }
}

/// Loads the configuration: defaults, the user's file, the repository's, variables, flags.
pub fn load(
    policy: &Policy<'_>,
    environment: &Environment,
    flags: Vec<Setting>,
) -> Result<Loaded, EngineError> {
    Ok(load_with_agents(policy, environment, flags)?.0)
}

/// The configuration, and the team's agents as far as the user agrees to what they ask for.
pub fn load_with_agents(
    policy: &Policy<'_>,
    environment: &Environment,
    flags: Vec<Setting>,
) -> Result<(Loaded, Vec<AgentFile>), EngineError> {
    let mut agents = policy.markdown("agents")?;
    let mut layers = Layers {
        user: user_layer(environment)?,
        repository: policy.config()?,
        claims: roster::asks(&agents).into_iter().flat_map(claims).collect(),
        trusted: Vec::new(),
        variables: environment.text_variables(),
        flags,
    };
    let mut loaded = crate::config::load(&layers)?;
    if let Some(repository) = policy.repository().filter(|_| !loaded.held.is_empty()) {
        layers.trusted = consent::digests(repository, environment)?;
        if !layers.trusted.is_empty() {
            loaded = crate::config::load(&layers)?;
        }
    }
    for agent in &mut agents {
        agent.trusted = loaded.trusted;
    }
    Ok((loaded, agents))
}

/// The reviewers that there are in the repository around `folder`, or without one.
pub fn roster(folder: &Path, environment: &Environment) -> Result<Roster, EngineError> {
    let repository = Repository::find(folder)?;
    let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
    let (loaded, agents) = load_with_agents(&policy, environment, Vec::new())?;
    Ok(Roster::load(&agents, &loaded.config.agent)?)
}

/// What an agent's file sets that its user may have to agree to.
fn claims(asks: roster::Asks) -> Vec<Claim> {
    let budget = i64::try_from(asks.base_budget).unwrap_or(i64::MAX);
    let model = asks.model.map(|model| ("model", Value::String(model)));
    let set = model.into_iter().chain([("base_budget", Value::Integer(budget))]);
    set.map(|(key, value)| Claim {
        path: vec!["agent".to_owned(), asks.agent.clone(), key.to_owned()],
        value,
        place: asks.path.clone(),
    })
    .collect()
}

fn user_layer(environment: &Environment) -> Result<Option<TextLayer>, EngineError> {
    let Some(path) = &environment.user_file else { return Ok(None) };
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(TextLayer { origin: Origin::User(shown(path)), text })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EngineError::failed(format!("{}: {error}", path.display()))),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
