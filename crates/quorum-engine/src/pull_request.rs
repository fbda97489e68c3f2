//! A pull request: from this clone where it has the commits, else as the host's diff.

use quorum_model::config::ForgeConfig;
use quorum_model::scope::ScopeKind;
use quorum_scope::repository::Repository;
use quorum_scope::request::Selection;

use crate::environment::Environment;
use crate::error::EngineError;
use crate::rounds;

/// What a pull request stands for.
pub(crate) struct Found {
    pub(crate) selection: Selection,
    /// What the user should know about it.
    pub(crate) warnings: Vec<String>,
    /// Files that the host did not send, or not all of.
    pub(crate) withheld: Vec<String>,
}

/// Asks the host what a pull request stands for.
pub(crate) fn select(
    repository: Option<&Repository>,
    config: &ForgeConfig,
    environment: &Environment,
    number: u64,
) -> Result<Found, EngineError> {
    let remote = config.remote.as_deref().unwrap_or("origin");
    let forge = rounds::connect(repository, config, environment)?;
    let found = forge.pull_request(number)?;
    let here = match repository {
        Some(clone) => clone.has_commit(&found.base_sha)? && clone.has_commit(&found.head_sha)?,
        None => false,
    };
    if here {
        let (base, head) = (found.base_sha, found.head_sha);
        let selection = Selection::PullRequest { number, base, head };
        return Ok(Found { selection, warnings: Vec::new(), withheld: Vec::new() });
    }
    let diff = forge.diff(number)?;
    let mut warnings = vec![format!(
        "the commits of pull request {number} are not in this clone, so tokens are those of its \
         diff; `git fetch {remote} {}` brings them",
        found.head_sha
    )];
    if !diff.withheld.is_empty() {
        warnings.push(format!(
            "the host sent no text for {} files, which nobody can look at: {}",
            diff.withheld.len(),
            diff.withheld.join(", ")
        ));
    }
    let label = format!("pull request {number}: {}", found.title);
    let base = Some(found.base_sha);
    let selection = Selection::Diff { kind: ScopeKind::Pr, label, base, text: diff.text };
    Ok(Found { selection, warnings, withheld: diff.withheld })
}
