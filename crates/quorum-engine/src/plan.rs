//! From a request to a plan.

use bstr::ByteSlice as _;
use quorum_dispatch::BUILTIN;
use quorum_index::Counter;
use quorum_model::config::Tokenizer;
use quorum_model::plan::Plan;
use quorum_plan::sop::Sop;
use quorum_plan::{Input, Settings};
use quorum_report::count;
use quorum_rules::RuleSet;
use quorum_rules::secrets::redact;
use quorum_scope::files::{self, RawFile};
use quorum_scope::repository::Repository;
use quorum_scope::request::Sides;

use crate::decided_by::DecidedBy;
use crate::environment::Environment;
use crate::error::EngineError;
use crate::gather::{self, Gathered, Purpose};
use crate::observer::Observer;
use crate::request::{ReviewRequest, ReviewSelection};
use crate::workspace::Workspace;
use crate::{settings, sops};

/// A change that is ready to be reviewed: its scope, the policy that holds for it, and the plan.
#[derive(Debug)]
pub struct Prepared {
    /// What was asked for.
    pub request: ReviewRequest,
    /// What a review does, who does it, and what it may cost.
    pub plan: Plan,
    /// The repository, the target and the configuration.
    pub workspace: Workspace,
    /// The files of the scope in its order, where they are to be reviewed.
    pub(crate) files: Vec<RawFile>,
    /// The team's SOPs that reviewers of code are shown.
    pub(crate) sops: Vec<Sop>,
    /// What the verdict follows from beside the reviewers' reports.
    pub(crate) decided_by: DecidedBy,
}

impl Prepared {
    /// Why vetoes do not block, where the request says so.
    pub(crate) fn ignore_vetos(&self) -> Option<String> {
        self.request.options.ignore_vetos.clone()
    }
}

/// Finds out what is under review, loads the policy that holds for it, and plans the review. Nothing is
/// sent, paid for or run; nothing but the cache of token counts is written.
pub fn prepare(
    request: &ReviewRequest,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<Prepared, EngineError> {
    warm_up(request.options.provider.as_deref().is_some_and(|provider| provider != BUILTIN));
    make(request, environment, Purpose::Review, observer)
}

/// Plans a review and writes nothing at all.
pub fn plan(
    request: &ReviewRequest,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<Prepared, EngineError> {
    make(request, environment, Purpose::Plan, observer)
}

/// The same, ready for [`crate::write_prompts`].
pub fn plan_with_prompts(
    request: &ReviewRequest,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<Prepared, EngineError> {
    make(request, environment, Purpose::Prompts, observer)
}

/// Loads what takes a tenth of a second to load while git is asked what changed: the rules, and the
/// vocabulary that prompts to models are counted with. The threads that review later do it, so that
/// what they free on the way is theirs to use again.
fn warm_up(for_models: bool) {
    rayon::spawn(|| {
        RuleSet::embedded();
    });
    if for_models {
        rayon::spawn(|| {
            Counter::new(Tokenizer::default()).count(b"word");
        });
    }
}

/// What is under review, read, with the policy that holds for it.
pub(crate) struct Scoped {
    workspace: Workspace,
    settings: Settings,
    sops: Vec<Sop>,
    pub(crate) gathered: Gathered,
    warnings: Vec<String>,
}

/// The first stage: reads what a request names.
pub(crate) fn scope(
    request: &ReviewRequest,
    environment: &Environment,
    purpose: Purpose,
    observer: &dyn Observer,
) -> Result<Scoped, EngineError> {
    let mut workspace = Workspace::open(request, environment)?;
    let settings = settings::for_plan(&workspace.loaded.config)?;
    // Bad names cost nothing: they are refused before a file is read.
    for name in &settings.agents {
        workspace.roster.find(name)?;
    }
    let unit_limit = quorum_plan::unit_limit(&workspace.roster, &workspace.registry, &settings)?;
    let sops = sops::for_code(&workspace)?;
    let gathered = gather::gather(&workspace, unit_limit, purpose, observer)?;
    let mut warnings = std::mem::take(&mut workspace.warnings);
    warnings.extend(left_out(&workspace, &request.selection)?);
    warnings.extend(unreadable(&gathered.unreadable));
    Ok(Scoped { workspace, settings, sops, gathered, warnings })
}

impl Scoped {
    /// A change that is ready to be reviewed by `plan`.
    pub(crate) fn with_plan(self, request: &ReviewRequest, plan: Plan) -> Prepared {
        let Self { workspace, sops, gathered, .. } = self;
        let decided_by = DecidedBy::of(&workspace);
        let files = gathered.raw;
        Prepared { request: request.clone(), plan, workspace, files, sops, decided_by }
    }
}

/// The first two stages: what is under review, and the plan for it.
pub(crate) fn make(
    request: &ReviewRequest,
    environment: &Environment,
    purpose: Purpose,
    observer: &dyn Observer,
) -> Result<Prepared, EngineError> {
    let mut scoped = scope(request, environment, purpose, observer)?;
    let Scoped { workspace, settings, sops, gathered, warnings } = &mut scoped;
    let input = Input {
        scope: gathered.scope.clone(),
        facts: std::mem::take(&mut gathered.facts),
        units: std::mem::take(&mut gathered.units),
        sops: sops.clone(),
        warnings: std::mem::take(warnings),
    };
    let mut plan = quorum_plan::plan(input, &workspace.roster, &workspace.registry, settings)?;
    refuse_secret_models(&plan)?;
    // They quote settings and names.
    for warning in &mut plan.warnings {
        *warning = redact(warning);
    }
    Ok(scoped.with_plan(request, plan))
}

/// A model's name is in every result, and that of a program is its command line.
fn refuse_secret_models(plan: &Plan) -> Result<(), EngineError> {
    let models = plan.agents.iter().filter_map(|agent| agent.model.as_deref());
    let Some(model) = models.into_iter().find(|model| redact(model) != **model) else {
        return Ok(());
    };
    let text = format!("`{}` has a secret in it, and would be kept and shown", redact(model));
    Err(EngineError::not_allowed(text).with_hint("give it to the program in a variable or a file"))
}

/// Says which files are planned by name alone because they cannot be read.
fn unreadable(files: &[String]) -> Option<String> {
    let (first, more) = files.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
    Some(format!("only the name of a file that cannot be read is planned: {first}{more}"))
}

/// Says what the chosen scope leaves out that the user may expect in it.
fn left_out(
    workspace: &Workspace,
    selection: &ReviewSelection,
) -> Result<Vec<String>, EngineError> {
    let Some(repository) = &workspace.repository else { return Ok(Vec::new()) };
    let is_commit = matches!(selection, ReviewSelection::Commit { .. });
    if is_commit && workspace.target.base.is_none() && repository.is_shallow() {
        let text = "the clone is shallow and lacks the commit's parent: every file counts as \
                    added; `git fetch --deepen 1` brings the parent";
        return Ok(vec![text.to_owned()]);
    }
    if repository.work_tree().is_none() {
        return Ok(Vec::new());
    }
    if let ReviewSelection::Uncommitted { unstaged: true, untracked: false, .. } = selection {
        let untracked = files::count_untracked(repository)?;
        if untracked > 0 {
            let files = count(untracked, "untracked file is", "untracked files are");
            return Ok(vec![format!("{files} left out; add `--untracked`")]);
        }
    }
    if matches!(workspace.target.sides, Sides::TreeToWorkTree(_)) {
        return staged_otherwise(repository);
    }
    if matches!(selection, ReviewSelection::Base { .. }) {
        // A work tree that git cannot read is no reason not to review what is committed.
        let arguments =
            ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"];
        let changed = repository.git().output(arguments).unwrap_or_default().lines().count();
        if changed > 0 {
            let files = count(changed, "uncommitted file is", "uncommitted files are");
            return Ok(vec![format!("{files} left out: HEAD is reviewed")]);
        }
    }
    Ok(Vec::new())
}

/// Names files whose staged content is neither the last commit's nor the work tree's: the work tree is
/// reviewed, and a commit would take what is staged.
fn staged_otherwise(repository: &Repository) -> Result<Vec<String>, EngineError> {
    const MOST: usize = 5;
    let arguments = [
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=no",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    let told = repository.git().output(arguments)?;
    // One letter for the index, one for the work tree, a blank, and the path.
    let differs =
        |entry: &&[u8]| matches!(entry, [index, tree, b' ', ..] if *index != b' ' && *tree != b' ');
    let paths: Vec<String> = told
        .split(|&byte| byte == 0)
        .filter(differs)
        .map(|entry| entry[3..].to_str_lossy().into_owned())
        .collect();
    let (some, more) = paths.split_at(paths.len().min(MOST));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Ok(some.first().map_or_else(Vec::new, |_| {
        vec![format!(
            "what is staged differs from the work tree, which is what is reviewed: {}{more}; \
             `--staged` alone reviews what a commit would take",
            some.join(", ")
        )]
    }))
}
