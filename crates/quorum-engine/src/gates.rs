//! The gates of a change: consent, a scratch copy, and what came of the checks.

mod folder;
mod tree;

use quorum_gates::Gates;
use quorum_index::Counter;
use quorum_model::gate::{GateCheck, GateReport, GateResult};
use quorum_model::scope::{Scope, ScopeKind};
use quorum_scope::checkout;
use quorum_scope::request::{PolicySource, Target};
use quorum_store::{Event, Run};

use crate::error::EngineError;
use crate::gates::folder::ScratchFolder;
use crate::gather::read_scope;
use crate::observer::{Observer, Progress, SharedObserver};
use crate::workspace::Workspace;

/// The checks of a change and the copy that they run in.
#[derive(Debug)]
pub struct PreparedGates {
    /// The copy goes when this does.
    _folder: ScratchFolder,
    scratch: quorum_gates::Scratch,
    copy: checkout::Checkout,
    /// The checks.
    pub checks: Vec<GateCheck>,
    /// Whether all of them run, whatever changed.
    whole: bool,
}

/// Whether the change may be somebody else's: what is in the work tree the user put there, commits
/// come from anywhere.
pub fn needs_trust(target: &Target) -> bool {
    matches!(
        target.kind,
        ScopeKind::Commit | ScopeKind::Range | ScopeKind::Base | ScopeKind::Pr | ScopeKind::Diff
    )
}

/// Refuses to run what may be somebody else's without the user's word.
pub fn require_trust(target: &Target, trusted: bool) -> Result<(), EngineError> {
    if trusted || !needs_trust(target) {
        return Ok(());
    }
    Err(EngineError::not_allowed(
        "gates would run code of this change, which may be somebody else's",
    )
    .with_hint("if you trust it with your machine, add `--trust-gates`"))
}

/// Copies the reviewed state and finds out which checks it has. Nothing of it runs.
pub fn prepare(
    workspace: &Workspace,
    observer: &SharedObserver,
) -> Result<PreparedGates, EngineError> {
    let none = || {
        EngineError::invalid("a diff from elsewhere has no tree to run gates in")
            .with_hint("apply it, and review the work tree")
    };
    let repository = workspace.repository.as_ref().ok_or_else(none)?;
    let folder =
        ScratchFolder::make(&workspace.environment.temporary, observer).map_err(|error| {
            EngineError::failed(format!("no scratch folder can be made: {error}"))
                .with_hint("set TMPDIR to a folder that can be written")
        })?;
    let scratch = quorum_gates::prepare(&folder.path)?;
    let copy = checkout::copy(repository, &workspace.target, &scratch.tree)?.ok_or_else(none)?;
    let head = tree::OnDisk { root: &scratch.tree, paths: &copy.paths };
    let base = match workspace.target.policy() {
        PolicySource::Commit(commit) => Some(tree::AtCommit::new(repository, commit)?),
        PolicySource::WorkTree | PolicySource::Nowhere => None,
    };
    let mut trees: Vec<&dyn quorum_gates::Tree> = Vec::new();
    if let Some(base) = &base {
        trees.push(base);
    }
    trees.push(&head);
    let checks = quorum_gates::select(&workspace.loaded.config.gates, &trees)?;
    if let Some(base) = base {
        base.check()?;
    }
    Ok(PreparedGates { _folder: folder, scratch, copy, checks, whole: false })
}

impl PreparedGates {
    /// Runs the checks that `scope` calls for.
    pub fn run(
        &self,
        workspace: &Workspace,
        scope: &Scope,
        observer: &dyn Observer,
        run: Option<&Run>,
    ) -> Result<GateReport, EngineError> {
        if self.checks.is_empty() {
            return Err(EngineError::not_found(
                "there is no gate: no preset knows this repository",
            )
            .with_hint("name commands in `gates.additional` of quorum.toml"));
        }
        let config = &workspace.loaded.config;
        let counter = Counter::new(config.tokenizer);
        let environment = &workspace.environment;
        let helper = environment.sandbox_helper.as_deref().ok_or_else(|| {
            EngineError::unavailable("there is no program that sets up the sandbox of gates")
                .with_hint("hand one in as `Environment::sandbox_helper`")
        })?;
        let changed = changed(scope).filter(|_| !self.whole);
        let gates = Gates {
            checks: &self.checks,
            config: &config.gates,
            changed: changed.as_deref(),
            paths: &self.copy.paths,
            helper,
            scratch: &self.scratch,
            linked: &self.copy.linked,
            variable: &|name| environment.variable_os(name),
            count: &|text| counter.count(text.as_bytes()),
        };
        let mut report = quorum_gates::run(&gates, &Watcher { observer, run })?;
        report.gates.iter_mut().for_each(redact);
        Ok(report)
    }

    /// Reads the scope of `workspace` and runs the checks that it calls for.
    pub fn run_for(
        &self,
        workspace: &Workspace,
        observer: &SharedObserver,
    ) -> Result<GateReport, EngineError> {
        let scope = read_scope(workspace, &**observer)?;
        self.run(workspace, &scope, &**observer, None)
    }

    /// The same; all checks where nothing changed.
    pub fn run_for_or_all(
        self,
        workspace: &Workspace,
        observer: &SharedObserver,
    ) -> Result<GateReport, EngineError> {
        let scope = read_scope(workspace, &**observer)?;
        let gates = if scope.files.is_empty() { self.whole() } else { self };
        gates.run(workspace, &scope, &**observer, None)
    }

    /// The same with the checks of these names alone; all of them where there are none.
    pub fn only(mut self, names: &[String]) -> Result<Self, EngineError> {
        let known = |name: &&String| self.checks.iter().any(|check| check.name == **name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            let all: Vec<&str> = self.checks.iter().map(|check| check.name.as_str()).collect();
            let unknown: String = unknown.chars().take(60).collect();
            return Err(EngineError::not_found(format!("there is no gate `{unknown}`"))
                .with_hint(format!("there are: {}", all.join(", "))));
        }
        self.checks.retain(|check| names.is_empty() || names.contains(&check.name));
        Ok(self)
    }

    /// The same, with all checks, whatever changed.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
    }
}

/// The files whose change decides which checks are due; all of them where everything is reviewed.
fn changed(scope: &Scope) -> Option<Vec<String>> {
    if matches!(scope.kind, ScopeKind::All | ScopeKind::Paths) {
        return None;
    }
    let files = scope.files.iter();
    let paths = files.flat_map(|file| [Some(&file.path), file.old_path.as_ref()]);
    let mut paths: Vec<String> = paths.flatten().map(ToString::to_string).collect();
    // What is not reviewed can break a build all the same.
    paths.extend(scope.ignored.iter().map(|file| file.path.to_string()));
    Some(paths)
}

/// What a check prints may hold what it found in the repository.
fn redact(result: &mut GateResult) {
    result.output = quorum_rules::secrets::redact(&result.output);
    for finding in &mut result.findings {
        finding.message = quorum_rules::secrets::redact(&finding.message);
    }
}

/// Tells an observer which check runs and how each ended, and records it.
struct Watcher<'a> {
    observer: &'a dyn Observer,
    run: Option<&'a Run>,
}

impl quorum_gates::Observer for Watcher<'_> {
    fn started(&self, check: &GateCheck) {
        self.observer.observe(Progress::GateStarted(check));
    }

    fn ended(&self, result: &GateResult) {
        let mut result = result.clone();
        redact(&mut result);
        self.observer.observe(Progress::GateEnded(&result));
        if let Some(run) = self.run {
            // It is for the timeline alone; what decides is recorded with the report.
            drop(run.journal().append(&Event::GateFinished(Box::new(result))));
        }
    }
}
