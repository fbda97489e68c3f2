//! From arguments to the engine's request.

use quorum_engine::{ReviewOptions, ReviewRequest, ReviewSelection};
use quorum_model::scope::ScopeKind;

use crate::cli::{Cli, RunArgs, ScopeArgs};
use crate::failure::Failure;
use crate::{process, stdin};

/// What the command line asks for.
pub(crate) fn request(
    cli: &Cli,
    scope: &ScopeArgs,
    run: &RunArgs,
) -> Result<ReviewRequest, Failure> {
    let mut request = change(cli, scope)?;
    request.options = options(run);
    Ok(request)
}

/// Which change the command line names; it is reviewed as configured.
pub(crate) fn change(cli: &Cli, scope: &ScopeArgs) -> Result<ReviewRequest, Failure> {
    let root = process::folder(cli)?;
    // A lone `-` among the paths means a diff on standard input.
    let piped = scope.paths.iter().find(|path| *path == "-").cloned();
    if piped.is_some() && scope.names_a_change() {
        return Err(Failure::new("`-` is a scope of its own, and another one is named")
            .with_hint("take `-` alone, or leave it out"));
    }
    let selection = match scope.diff.clone().or(piped) {
        Some(name) => {
            let text = stdin::read_diff(&name, &root)?;
            let label = if name == "-" { "standard input".to_owned() } else { name };
            ReviewSelection::Diff { label, origin: ScopeKind::Diff, base: None, text }
        }
        None => selection(scope),
    };
    let mut request = ReviewRequest::new(root, selection);
    request.paths = scope.paths.iter().filter(|path| *path != "-").cloned().collect();
    Ok(request)
}

fn selection(scope: &ScopeArgs) -> ReviewSelection {
    if let Some(number) = scope.pr {
        ReviewSelection::PullRequest { number }
    } else if let Some(revision) = scope.commit.clone() {
        ReviewSelection::Commit { revision }
    } else if let Some(range) = scope.range.clone() {
        ReviewSelection::Range { range }
    } else if let Some(revision) = scope.base.clone() {
        ReviewSelection::Base { revision }
    } else if scope.staged || scope.unstaged || scope.untracked {
        let (staged, unstaged, untracked) = (scope.staged, scope.unstaged, scope.untracked);
        ReviewSelection::Uncommitted { staged, unstaged, untracked }
    } else if scope.all {
        ReviewSelection::All
    } else {
        ReviewSelection::Default
    }
}

/// What the flags say about a review beside its scope.
pub(crate) fn options(run: &RunArgs) -> ReviewOptions {
    ReviewOptions {
        tier: run.tier,
        agents: run.agents.clone(),
        protocol: run.protocol,
        provider: run.provider.clone(),
        model: run.model.clone(),
        complete: run.complete,
        verify: run.verify,
        canary: match (run.canary, run.no_canary) {
            (_, true) => Some(false),
            (true, false) => Some(true),
            (false, false) => None,
        },
        ignore_vetos: run.ignore_vetos.clone(),
        fail_on: run.fail_on,
        strict: run.strict,
        max_tokens: run.max_tokens,
        max_usd: run.max_usd,
        max_seconds: run.max_seconds,
        jobs: run.jobs,
        gates: run.gates,
        trust_gates: run.trust_gates,
        allow_unsandboxed_gates: run.allow_unsandboxed_gates,
        tokenizer: run.tokenizer,
        time_pressure: run.time_pressure,
    }
}
