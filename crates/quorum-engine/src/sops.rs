//! The team's SOPs: read, checked, and held against files.

use std::path::Path;

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

use crate::environment::Environment;
use crate::error::EngineError;
use crate::policy::Policy;
use crate::workspace::{self, Workspace};

/// One SOP, as it is listed.
#[derive(Debug, Serialize)]
pub struct ListedSop {
    /// Its name.
    pub name: String,
    /// What a violation does.
    pub severity: SopSeverity,
    /// Its category.
    pub category: Option<String>,
    /// Whether reviewers of code are shown it.
    pub for_code: bool,
    /// Patterns of the files that it is for.
    pub applies_to: Vec<String>,
    /// Domains that it is for.
    pub domains: Vec<String>,
    /// Its tokens.
    pub tokens: u64,
    /// How many checks the embedded reviewers have for it.
    pub checks: usize,
    /// What it is about.
    pub summary: Option<String>,
}

/// Something that is wrong.
#[derive(Debug, Serialize)]
pub struct SopProblem {
    /// The SOP's file, or the file that too many apply to.
    pub file: String,
    /// Whether a review would fail for it.
    pub error: bool,
    /// What is wrong.
    pub message: String,
}

/// What applies to a file.
#[derive(Debug, Serialize)]
pub struct ExplainedSops {
    /// The file.
    pub file: String,
    /// The file's domains.
    pub domains: Vec<&'static str>,
    /// Every SOP.
    pub sops: Vec<ApplyingSop>,
    /// Tokens of those that apply.
    pub tokens: u64,
    /// Tokens that are kept for them.
    pub reserve: u64,
    /// Whether there is room for them.
    pub fits: bool,
}

/// Whether an SOP applies.
#[derive(Debug, Serialize)]
pub struct ApplyingSop {
    /// Its name.
    pub name: String,
    /// What a violation does.
    pub severity: SopSeverity,
    /// Whether it does.
    pub applies: bool,
    /// Why.
    pub reason: String,
    /// Its tokens.
    pub tokens: u64,
}

/// What is wrong with the SOPs of a repository.
#[derive(Debug)]
pub struct CheckedSops {
    /// How many files there are.
    pub files: usize,
    /// What is wrong with them.
    pub problems: Vec<SopProblem>,
}

/// Lists the SOPs of the repository around `folder`.
pub fn list(folder: &Path, environment: &Environment) -> Result<Vec<ListedSop>, EngineError> {
    let repository = Repository::discover(folder)?;
    let policy = Policy::new(Some(&repository), PolicySource::WorkTree);
    let listed = |sop: &Sop| ListedSop {
        name: sop.name.clone(),
        severity: sop.severity,
        category: sop.category.clone(),
        for_code: sop.is_for_code(),
        applies_to: sop.patterns().to_vec(),
        domains: sop.domains.clone(),
        tokens: sop.tokens,
        checks: sop.checks.len(),
        summary: sop.summary.clone(),
    };
    Ok(read(&policy, counter(&policy, environment)?)?.iter().map(listed).collect())
}

/// Looks for mistakes in the SOPs of the repository around `folder`.
pub fn check(folder: &Path, environment: &Environment) -> Result<CheckedSops, EngineError> {
    let repository = Repository::discover(folder)?;
    let policy = Policy::new(Some(&repository), PolicySource::WorkTree);
    let counter = counter(&policy, environment)?;
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
                problems.push(SopProblem { file: file.path.clone(), error: true, message });
            }
        }
    }
    for sop in &sops {
        problems.extend(problems_of(sop, &paths, &rules));
    }
    let shown: Vec<Sop> = sops.into_iter().filter(Sop::is_for_code).collect();
    problems.extend(crowded(&shown, &paths));
    Ok(CheckedSops { files: files.len(), problems })
}

/// Says which SOPs apply to `file`, which is relative to `folder` and need not exist.
pub fn explain(
    folder: &Path,
    environment: &Environment,
    file: &str,
) -> Result<ExplainedSops, EngineError> {
    let repository = Repository::discover(folder)?;
    let policy = Policy::new(Some(&repository), PolicySource::WorkTree);
    let sops = read(&policy, counter(&policy, environment)?)?;
    let path = format!("{}{}", repository.prefix(), file.strip_prefix("./").unwrap_or(file));
    let applying = sops.iter().map(|sop| {
        let (applies, reason) = match sop.why(&path) {
            _ if !sop.is_for_code() => (false, "is for planning".to_owned()),
            Some(why) => (true, why.to_string()),
            None => (false, "does not match".to_owned()),
        };
        let (name, severity, tokens) = (sop.name.clone(), sop.severity, sop.tokens);
        ApplyingSop { name, severity, applies, reason, tokens }
    });
    let sops: Vec<ApplyingSop> = applying.collect();
    let tokens = sops.iter().filter(|sop| sop.applies).map(|sop| sop.tokens).sum();
    let domains = domain::of(&path);
    Ok(ExplainedSops { file: path, domains, sops, tokens, reserve: SOPS, fits: tokens <= SOPS })
}

/// The names and texts of all SOPs of the repository around `folder`.
pub fn texts(folder: &Path) -> Result<Vec<(String, String)>, EngineError> {
    let repository = Repository::find(folder)?;
    let files = Policy::new(repository.as_ref(), PolicySource::WorkTree).markdown("sops")?;
    let named = files.iter().map(|file| {
        let sop = sop::parse(&file.path, &file.text, |_| 0)?;
        Ok((sop.name, sop.text))
    });
    named.collect()
}

/// Reads all SOPs of a policy and refuses those that a review could not follow; how many there are.
pub fn validate(policy: &Policy<'_>, counter: Counter) -> Result<usize, EngineError> {
    let sops = read(policy, counter)?;
    refuse_bad_checks(&sops, policy)?;
    Ok(sops.len())
}

fn counter(policy: &Policy<'_>, environment: &Environment) -> Result<Counter, EngineError> {
    Ok(Counter::new(workspace::load(policy, environment, Vec::new())?.config.tokenizer))
}

/// The team's SOPs that reviewers of code are shown, with their tokens.
pub(crate) fn for_code(workspace: &Workspace) -> Result<Vec<Sop>, EngineError> {
    let policy = workspace.policy();
    let mut sops = read(&policy, Counter::new(workspace.loaded.config.tokenizer))?;
    sops.retain(Sop::is_for_code);
    refuse_bad_checks(&sops, &policy)?;
    Ok(sops)
}

/// The SOPs that `policy` has, with their tokens.
pub(crate) fn read(policy: &Policy<'_>, counter: Counter) -> Result<Vec<Sop>, EngineError> {
    let files = policy.markdown("sops")?;
    let count = |text: &str| counter.count(text.as_bytes());
    let sops = files.iter().map(|file| sop::parse(&file.path, &file.text, count));
    Ok(sops.collect::<Result<_, _>>()?)
}

/// Refuses checks that cannot be made, before a review is started that needs them.
pub(crate) fn refuse_bad_checks(sops: &[Sop], policy: &Policy<'_>) -> Result<(), EngineError> {
    if sops.iter().all(|sop| sop.checks.is_empty()) {
        return Ok(());
    }
    let rules = RuleSet::with_team(&policy.rules()?)?;
    Checks::new(sops, |id| rules.get(id).is_some())?;
    Ok(())
}

/// What is wrong with one SOP.
fn problems_of(sop: &Sop, paths: &[String], rules: &RuleSet) -> Vec<SopProblem> {
    let problem =
        |error: bool, message: String| SopProblem { file: sop.path.clone(), error, message };
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
fn crowded(sops: &[Sop], paths: &[String]) -> Option<SopProblem> {
    let tokens = |path: &&String| {
        sops.iter().filter(|sop| sop.applies(path)).map(|sop| sop.tokens).sum::<u64>()
    };
    let over: Vec<&String> = paths.iter().filter(|path| tokens(path) > SOPS).collect();
    let (first, more) = over.split_first()?;
    let applying: Vec<&str> =
        sops.iter().filter(|sop| sop.applies(first)).map(|sop| sop.name.as_str()).collect();
    let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
    Some(SopProblem {
        file: (*first).clone(),
        error: true,
        message: format!(
            "the SOPs that apply take {} tokens, more than {SOPS}: {}{more}",
            tokens(first),
            applying.join(", ")
        ),
    })
}
