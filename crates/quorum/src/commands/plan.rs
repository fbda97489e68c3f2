//! `quorum plan`.

use bstr::ByteSlice as _;
use quorum_index::Counter;
use quorum_model::plan::Plan;
use quorum_plan::{Input, sop};
use quorum_rules::secrets::redact;
use quorum_scope::files::{self, RawFile};
use quorum_scope::repository::Repository;
use quorum_scope::request::Sides;

use super::sops;
use crate::cli::{Cli, Format, PlanArgs, RunArgs, ScopeArgs};
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::render::style::count;
use crate::workspace::Workspace;
use crate::{gather, models, output, render, settings};

pub(super) fn run(cli: &Cli, arguments: &PlanArgs) -> Result<u8, Failure> {
    let purpose = if arguments.prompts.is_some() { Purpose::Prompts } else { Purpose::Plan };
    let made = make(cli, &arguments.change.scope, &arguments.change.run, purpose)?;
    if let Some(folder) = &arguments.prompts {
        models::write_prompts(&made, folder)?;
    }
    let Made { plan, workspace, .. } = made;
    let arguments = &arguments.change;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&plan, file)?,
        Format::Terminal => {
            let page = render::plan::page(&plan, &workspace.roster, output::width());
            output::text(&page, file)?;
        }
    }
    Ok(0)
}

/// A plan with what it was made from.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) plan: Plan,
    pub(crate) workspace: Workspace,
    /// The files of the scope in its order, where they are to be reviewed.
    pub(crate) files: Vec<RawFile>,
}

/// Makes the plan that `plan` prints and `review` follows.
pub(crate) fn make(
    cli: &Cli,
    scope: &ScopeArgs,
    run: &RunArgs,
    purpose: Purpose,
) -> Result<Made, Failure> {
    let mut workspace = Workspace::open(cli, scope, settings::flags(run))?;
    let settings = settings::for_plan(&workspace.loaded.config)?;
    // Bad names cost nothing: they are refused before a file is read.
    for name in &settings.agents {
        workspace.roster.find(name)?;
    }
    let unit_limit = quorum_plan::unit_limit(&workspace.roster, &workspace.registry, &settings)?;
    let sops = sops(&workspace)?;
    let gathered = gather::gather(&workspace, unit_limit, purpose, cli.quiet)?;
    let mut warnings = std::mem::take(&mut workspace.warnings);
    warnings.extend(left_out(&workspace, scope)?);
    warnings.extend(unreadable(&gathered.unreadable));
    let input = Input {
        scope: gathered.scope,
        facts: gathered.facts,
        units: gathered.units,
        sops,
        warnings,
    };
    let mut plan = quorum_plan::plan(input, &workspace.roster, &workspace.registry, &settings)?;
    refuse_secret_models(&plan)?;
    // They quote settings and names.
    for warning in &mut plan.warnings {
        *warning = redact(warning);
    }
    Ok(Made { plan, workspace, files: gathered.raw })
}

/// A model's name is in every result, and that of a program is its command line.
fn refuse_secret_models(plan: &Plan) -> Result<(), Failure> {
    let models = plan.agents.iter().filter_map(|agent| agent.model.as_deref());
    let Some(model) = models.into_iter().find(|model| redact(model) != **model) else {
        return Ok(());
    };
    let text = format!("`{}` has a secret in it, and would be kept and shown", redact(model));
    Err(Failure::new(text).with_hint("give it to the program in a variable or a file"))
}

/// The team's SOPs that reviewers of code are shown, with their tokens.
pub(crate) fn sops(workspace: &Workspace) -> Result<Vec<sop::Sop>, Failure> {
    let policy = workspace.policy();
    let mut sops = sops::read(&policy, Counter::new(workspace.loaded.config.tokenizer))?;
    sops.retain(sop::Sop::is_for_code);
    sops::refuse_bad_checks(&sops, &policy)?;
    Ok(sops)
}

/// Says which files are planned by name alone because they cannot be read.
fn unreadable(files: &[String]) -> Option<String> {
    let (first, more) = files.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
    Some(format!("only the name of a file that cannot be read is planned: {first}{more}"))
}

/// Says what the chosen scope leaves out that the user may expect in it.
fn left_out(workspace: &Workspace, scope: &ScopeArgs) -> Result<Vec<String>, Failure> {
    let Some(repository) = &workspace.repository else { return Ok(Vec::new()) };
    if scope.commit.is_some() && workspace.target.base.is_none() && repository.is_shallow() {
        let text = "the clone is shallow and lacks the commit's parent: every file counts as \
                    added; `git fetch --deepen 1` brings the parent";
        return Ok(vec![text.to_owned()]);
    }
    if repository.work_tree().is_none() {
        return Ok(Vec::new());
    }
    if scope.unstaged && !scope.untracked {
        let untracked = files::count_untracked(repository)?;
        if untracked > 0 {
            let files = count(untracked, "untracked file is", "untracked files are");
            return Ok(vec![format!("{files} left out; add `--untracked`")]);
        }
    }
    if matches!(workspace.target.sides, Sides::TreeToWorkTree(_)) {
        return staged_otherwise(repository);
    }
    if scope.base.is_some() {
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
fn staged_otherwise(repository: &Repository) -> Result<Vec<String>, Failure> {
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
