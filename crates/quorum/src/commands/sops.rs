//! `quorum sops`.

use quorum_dispatch::sops::Checks;
use quorum_index::Counter;
use quorum_model::result::SopSeverity;
use quorum_plan::sizing::SOPS;
use quorum_plan::sop::{self, Sop, SopScope};
use quorum_plan::{PlanError, domain};
use quorum_rules::RuleSet;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;
use serde::Serialize;

use crate::cli::{Cli, Format, OutputArgs, SopsAction, SopsArgs};
use crate::failure::Failure;
use crate::policy::Policy;
use crate::{output, render, workspace};

/// The exit code when something is wrong with the SOPs.
const WRONG: u8 = 1;

/// One SOP, as it is listed.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) severity: SopSeverity,
    pub(crate) category: Option<String>,
    /// Whether reviewers of code are shown it.
    pub(crate) for_code: bool,
    pub(crate) applies_to: Vec<String>,
    pub(crate) domains: Vec<String>,
    pub(crate) tokens: u64,
    /// How many checks the embedded reviewers have for it.
    pub(crate) checks: usize,
    pub(crate) summary: Option<String>,
}

/// Something that is wrong.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// The SOP's file, or the file that too many apply to.
    pub(crate) file: String,
    /// Whether a review would fail for it.
    pub(crate) error: bool,
    pub(crate) message: String,
}

/// What applies to a file.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) file: String,
    pub(crate) domains: Vec<&'static str>,
    pub(crate) sops: Vec<Applying>,
    /// Tokens of those that apply.
    pub(crate) tokens: u64,
    /// Tokens that are kept for them.
    pub(crate) reserve: u64,
    pub(crate) fits: bool,
}

/// Whether an SOP applies.
#[derive(Debug, Serialize)]
pub(crate) struct Applying {
    pub(crate) name: String,
    pub(crate) severity: SopSeverity,
    pub(crate) applies: bool,
    pub(crate) reason: String,
    pub(crate) tokens: u64,
}

pub(super) fn run(cli: &Cli, arguments: &SopsArgs) -> Result<u8, Failure> {
    let repository = Repository::discover(&workspace::folder(cli)?)?;
    let policy = Policy::new(Some(&repository), PolicySource::WorkTree);
    let counter = Counter::new(workspace::load(&policy, Vec::new())?.config.tokenizer);
    match &arguments.action {
        SopsAction::List { output } => list(&read(&policy, counter)?, output),
        SopsAction::Check { output } => check(&policy, counter, output),
        SopsAction::Explain { file, output } => {
            let file = file.strip_prefix("./").unwrap_or(file);
            let path = format!("{}{file}", repository.prefix());
            explain(&path, &read(&policy, counter)?, output)
        }
    }
}

/// The SOPs that `policy` has, with their tokens.
pub(crate) fn read(policy: &Policy<'_>, counter: Counter) -> Result<Vec<Sop>, Failure> {
    let files = policy.markdown("sops")?;
    let count = |text: &str| counter.count(text.as_bytes());
    let sops = files.iter().map(|file| sop::parse(&file.path, &file.text, count));
    Ok(sops.collect::<Result<_, _>>()?)
}

/// Refuses checks that cannot be made, before a review is started that needs them.
pub(crate) fn refuse_bad_checks(sops: &[Sop], policy: &Policy<'_>) -> Result<(), Failure> {
    if sops.iter().all(|sop| sop.checks.is_empty()) {
        return Ok(());
    }
    let rules = RuleSet::with_team(&policy.rules()?)?;
    Checks::new(sops, |id| rules.get(id).is_some())?;
    Ok(())
}

fn list(sops: &[Sop], arguments: &OutputArgs) -> Result<u8, Failure> {
    let listed: Vec<Listed> = sops
        .iter()
        .map(|sop| Listed {
            name: sop.name.clone(),
            severity: sop.severity,
            category: sop.category.clone(),
            for_code: sop.is_for_code(),
            applies_to: sop.patterns().to_vec(),
            domains: sop.domains.clone(),
            tokens: sop.tokens,
            checks: sop.checks.len(),
            summary: sop.summary.clone(),
        })
        .collect();
    let file = arguments.output.as_deref();
    match arguments.format {
        Format::Json => output::json(&listed, file)?,
        Format::Terminal => output::text(&render::sops::list(&listed, output::width()), file)?,
    }
    Ok(0)
}

fn check(policy: &Policy<'_>, counter: Counter, arguments: &OutputArgs) -> Result<u8, Failure> {
    let files = policy.markdown("sops")?;
    let rules = RuleSet::with_team(&policy.rules()?)?;
    let paths = policy.paths()?;
    let mut problems = Vec::new();
    let mut sops = Vec::new();
    for file in &files {
        match sop::parse(&file.path, &file.text, |text| counter.count(text.as_bytes())) {
            Ok(sop) => sops.push(sop),
            Err(error) => {
                let message = match error {
                    PlanError::FrontMatter { message, .. } => message,
                    other => other.to_string(),
                };
                problems.push(Problem { file: file.path.clone(), error: true, message });
            }
        }
    }
    for sop in &sops {
        problems.extend(problems_of(sop, &paths, &rules));
    }
    let shown: Vec<Sop> = sops.into_iter().filter(Sop::is_for_code).collect();
    problems.extend(crowded(&shown, &paths));
    let wrong = problems.iter().any(|problem| problem.error);
    let file = arguments.output.as_deref();
    match arguments.format {
        Format::Json => output::json(&problems, file)?,
        Format::Terminal => output::text(&render::sops::problems(&problems, files.len()), file)?,
    }
    Ok(if wrong { WRONG } else { 0 })
}

/// What is wrong with one SOP.
fn problems_of(sop: &Sop, paths: &[String], rules: &RuleSet) -> Vec<Problem> {
    let problem = |error: bool, message: String| Problem { file: sop.path.clone(), error, message };
    let mut problems = Vec::new();
    if let Err(error) = Checks::new(std::slice::from_ref(sop), |id| rules.get(id).is_some()) {
        problems.push(problem(true, format!("check `{}`: {}", error.check, error.message)));
    }
    if sop.tokens > SOPS {
        let message = format!("it takes {} tokens, more than the {SOPS} kept for all", sop.tokens);
        problems.push(problem(true, message));
    }
    if sop.text.is_empty() {
        problems.push(problem(false, "it says nothing".to_owned()));
    }
    for key in &sop.unknown_keys {
        problems.push(problem(false, format!("`{key}` means nothing here")));
    }
    for name in sop.domains.iter().filter(|name| !domain::names().any(|known| known == *name)) {
        let known: Vec<&str> = domain::names().collect();
        let message = format!("there is no domain `{name}`; there are {}", known.join(", "));
        problems.push(problem(false, message));
    }
    if sop.scope != SopScope::Plan && !paths.iter().any(|path| sop.applies(path)) {
        problems.push(problem(false, "it applies to no file that there is".to_owned()));
    }
    problems
}

/// Files to which more applies than there is room for: the first, and how many more.
fn crowded(sops: &[Sop], paths: &[String]) -> Option<Problem> {
    let tokens = |path: &&String| {
        sops.iter().filter(|sop| sop.applies(path)).map(|sop| sop.tokens).sum::<u64>()
    };
    let over: Vec<&String> = paths.iter().filter(|path| tokens(path) > SOPS).collect();
    let (first, more) = over.split_first()?;
    let applying: Vec<&str> =
        sops.iter().filter(|sop| sop.applies(first)).map(|sop| sop.name.as_str()).collect();
    let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
    Some(Problem {
        file: (*first).clone(),
        error: true,
        message: format!(
            "the SOPs that apply take {} tokens, more than {SOPS}: {}{more}",
            tokens(first),
            applying.join(", ")
        ),
    })
}

fn explain(path: &str, sops: &[Sop], arguments: &OutputArgs) -> Result<u8, Failure> {
    let applying: Vec<Applying> = sops
        .iter()
        .map(|sop| {
            let (applies, reason) = match sop.why(path) {
                _ if !sop.is_for_code() => (false, "is for planning".to_owned()),
                Some(why) => (true, why.to_string()),
                None => (false, "does not match".to_owned()),
            };
            let (name, severity, tokens) = (sop.name.clone(), sop.severity, sop.tokens);
            Applying { name, severity, applies, reason, tokens }
        })
        .collect();
    let tokens = applying.iter().filter(|sop| sop.applies).map(|sop| sop.tokens).sum();
    let explained = Explained {
        file: path.to_owned(),
        domains: domain::of(path),
        sops: applying,
        tokens,
        reserve: SOPS,
        fits: tokens <= SOPS,
    };
    let file = arguments.output.as_deref();
    match arguments.format {
        Format::Json => output::json(&explained, file)?,
        Format::Terminal => output::text(&render::sops::explain(&explained), file)?,
    }
    Ok(0)
}
