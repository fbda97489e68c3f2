//! Everything that a command works with: repository, target, configuration, reviewers.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use quorum_config::{Claim, Layers, Loaded, Origin, Setting, TextLayer, Value};
use quorum_model::config::ScopeConfig;
use quorum_plan::models::Registry;
use quorum_plan::roster::{self, AgentFile, Roster};
use quorum_scope::ScopeError;
use quorum_scope::repository::Repository;
use quorum_scope::request::{self, PolicySource, Request, Selection, Target};
use quorum_scope::snapshot::Snapshot;

use crate::cli::{Cli, ScopeArgs};
use crate::failure::Failure;
use crate::policy::Policy;
use crate::{consent, pull_request, stdin};

/// What a command works with.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) repository: Option<Repository>,
    pub(crate) target: Target,
    pub(crate) loaded: Loaded,
    pub(crate) roster: Roster,
    pub(crate) registry: Registry,
    /// What the user should know that was noticed on the way.
    pub(crate) warnings: Vec<String>,
    /// What the team leaves out, from where the change cannot say it.
    pub(crate) exclusions: ScopeConfig,
    /// Files of a pull request that the host did not send, or not all of.
    pub(crate) withheld: BTreeSet<String>,
    /// The number of the pull request that is under review.
    pub(crate) pull_request: Option<u64>,
    snapshot: OnceLock<Snapshot>,
}

impl Workspace {
    /// Opens what `scope` names, with configuration from where it can be trusted.
    pub(crate) fn open(cli: &Cli, scope: &ScopeArgs, flags: Vec<Setting>) -> Result<Self, Failure> {
        let cwd = folder(cli)?;
        let (mut paths, piped) = take_dash(&scope.paths);
        if piped.is_some() && scope.names_a_change() {
            return Err(Failure::new("`-` is a scope of its own, and another one is named")
                .with_hint("take `-` alone, or leave it out"));
        }
        let diff = scope.diff.clone().or(piped);
        let repository = match Repository::discover(&cwd) {
            Ok(repository) => Some(repository),
            // A diff needs neither; a repository that cannot be read has a policy that is not known.
            Err(ScopeError::NoRepository(_) | ScopeError::NoGit(_))
                if diff.is_some() || scope.pr.is_some() =>
            {
                None
            }
            Err(error) => return Err(error.into()),
        };
        let mut warnings = Vec::new();
        let mut withheld = BTreeSet::new();
        let selection = if let Some(name) = diff {
            let text = stdin::read_diff(&name, &cwd)?;
            let label = if name == "-" { "standard input".to_owned() } else { name };
            let kind = quorum_model::scope::ScopeKind::Diff;
            Selection::Diff { kind, label, base: None, text }
        } else if let Some(number) = scope.pr {
            // Which revision to trust is not known before the host is asked; what a repository can
            // set about the host does not decide where a token goes.
            let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
            let loaded = load(&policy, Vec::new())?;
            let found = pull_request::select(repository.as_ref(), &loaded.config.forge, number)?;
            warnings.extend(found.warnings);
            withheld.extend(found.withheld);
            found.selection
        } else {
            selection(scope)
        };
        paths.dedup();
        let request = Request { selection, paths };
        let target = match &repository {
            Some(repository) => request::resolve(repository, request)?,
            None => Target::of_bare_diff(request)
                .ok_or_else(|| ScopeError::NoRepository(cwd.clone()))?,
        };
        let policy = Policy::new(repository.as_ref(), target.policy());
        let exclusions = if target.exclusions() == target.policy() {
            None
        } else {
            let policy = Policy::new(repository.as_ref(), target.exclusions());
            let loaded = load(&policy, flags.clone());
            if loaded.is_err() {
                warnings.push(
                    "quorum.toml cannot be read as it was before the change: nothing is left out \
                     because of it"
                        .to_owned(),
                );
            }
            Some(loaded.map(|loaded| loaded.config.scope).unwrap_or_default())
        };
        let (loaded, agents) = load_with_agents(&policy, flags)?;
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
            pull_request: scope.pr,
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
    pub(crate) fn policy(&self) -> Policy<'_> {
        Policy::new(self.repository.as_ref(), self.target.policy())
    }
}

/// The folder that the command works in.
pub(crate) fn folder(cli: &Cli) -> Result<PathBuf, Failure> {
    let cwd = env::current_dir()
        .map_err(|error| Failure::new(format!("the current folder cannot be read: {error}")))?;
    let Some(directory) = &cli.directory else { return Ok(cwd) };
    let failed = |cause: &dyn std::fmt::Display| {
        Failure::new(format!("-C {}: {cause}", directory.display()))
            .with_hint("name a folder that exists")
    };
    let folder = cwd.join(directory).canonicalize().map_err(|error| failed(&error))?;
    if !folder.is_dir() {
        return Err(failed(&"it is not a folder"));
    }
    Ok(folder)
}

/// Loads the configuration: defaults, the user's file, the repository's, variables, flags.
pub(crate) fn load(policy: &Policy<'_>, flags: Vec<Setting>) -> Result<Loaded, Failure> {
    Ok(load_with_agents(policy, flags)?.0)
}

/// The configuration, and the team's agents as far as the user agrees to what they ask for.
pub(crate) fn load_with_agents(
    policy: &Policy<'_>,
    flags: Vec<Setting>,
) -> Result<(Loaded, Vec<AgentFile>), Failure> {
    let mut agents = policy.markdown("agents")?;
    let mut layers = Layers {
        user: user_layer()?,
        repository: policy.config()?,
        claims: roster::asks(&agents).into_iter().flat_map(claims).collect(),
        trusted: Vec::new(),
        variables: env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        flags,
    };
    let mut loaded = quorum_config::load(&layers)?;
    if let Some(repository) = policy.repository().filter(|_| !loaded.held.is_empty()) {
        layers.trusted = consent::digests(repository)?;
        if !layers.trusted.is_empty() {
            loaded = quorum_config::load(&layers)?;
        }
    }
    for agent in &mut agents {
        agent.trusted = loaded.trusted;
    }
    Ok((loaded, agents))
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

fn user_layer() -> Result<Option<TextLayer>, Failure> {
    let Some(path) = quorum_config::user_file() else { return Ok(None) };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(TextLayer { origin: Origin::User(shown(&path)), text })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("{}: {error}", path.display()))),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A lone `-` among the paths means a diff on standard input.
fn take_dash(paths: &[String]) -> (Vec<String>, Option<String>) {
    let rest = paths.iter().filter(|path| *path != "-").cloned().collect();
    let piped = paths.iter().find(|path| *path == "-").cloned();
    (rest, piped)
}

fn selection(scope: &ScopeArgs) -> Selection {
    if let Some(tree) = &scope.since {
        Selection::Since(tree.clone())
    } else if let Some(revision) = &scope.commit {
        Selection::Commit(revision.clone())
    } else if let Some(range) = &scope.range {
        Selection::Range(range.clone())
    } else if let Some(revision) = &scope.base {
        Selection::Base(revision.clone())
    } else if scope.staged || scope.unstaged || scope.untracked {
        let (staged, unstaged, untracked) = (scope.staged, scope.unstaged, scope.untracked);
        Selection::Uncommitted { staged, unstaged, untracked }
    } else if scope.all {
        Selection::All
    } else {
        Selection::Default
    }
}
