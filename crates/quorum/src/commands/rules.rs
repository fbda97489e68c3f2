//! `quorum rules`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorum_engine::policy::Policy;
use quorum_rules::rule::{CaseReport, run_cases};
use quorum_rules::{Rule, RuleSet};
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;

use crate::cli::{Cli, Format, OutputArgs, RulesAction, RulesArgs};
use crate::failure::Failure;
use crate::{output, process, render};

/// The exit code when a case went wrong.
const WRONG: u8 = 1;

pub(super) fn run(cli: &Cli, arguments: &RulesArgs) -> Result<u8, Failure> {
    match &arguments.action {
        RulesAction::List { output } => list(&load(cli)?, output),
        RulesAction::Show { id, output } => show(&load(cli)?, id, output),
        RulesAction::Test { files, output } if files.is_empty() => {
            let set = load(cli)?;
            test(&run_cases(set.rules().map(AsRef::as_ref)), output)
        }
        RulesAction::Test { files, output } => {
            let rules = files.iter().map(|path| read(cli, path)).collect::<Result<Vec<_>, _>>()?;
            test(&run_cases(&rules), output)
        }
    }
}

/// The rules here: in a repository with the team's own, elsewhere the embedded ones.
fn load(cli: &Cli) -> Result<RuleSet, Failure> {
    let folder = process::folder(cli)?;
    let repository = Repository::find(&folder)?;
    let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
    Ok(RuleSet::with_team(&policy.rules()?)?)
}

fn read(cli: &Cli, path: &PathBuf) -> Result<Rule, Failure> {
    let path = process::folder(cli)?.join(path);
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::new(format!("{name}: {error}")).with_hint("name a rule file"))?;
    let set = RuleSet::with_team(&[(name.clone(), text.clone())])?;
    let id = Rule::parse(&name, &text)?.id;
    set.get(&id)
        .map(|rule| (**rule).clone())
        .ok_or_else(|| Failure::new(format!("{name}: no rule")))
}

fn list(set: &RuleSet, output: &OutputArgs) -> Result<u8, Failure> {
    let rules: Vec<&Arc<Rule>> = set.rules().collect();
    let file = output.output.as_deref();
    match output.format {
        Format::Json => output::json(&rules, file)?,
        Format::Terminal => {
            output::text(&render::rules::list(set, output::width()), file)?;
        }
    }
    Ok(0)
}

fn show(set: &RuleSet, id: &str, output: &OutputArgs) -> Result<u8, Failure> {
    let Some(rule) = set.get(id) else {
        return Err(Failure::new(format!("there is no rule `{id}`"))
            .with_hint("`quorum rules list` has all ids"));
    };
    let file: Option<&Path> = output.output.as_deref();
    match output.format {
        Format::Json => output::json(rule, file)?,
        Format::Terminal => output::text(&render::rules::one(rule, set.is_team(id)), file)?,
    }
    Ok(0)
}

fn test(report: &CaseReport, output: &OutputArgs) -> Result<u8, Failure> {
    let file = output.output.as_deref();
    match output.format {
        Format::Json => output::json(report, file)?,
        Format::Terminal => output::text(&render::rules::cases(report), file)?,
    }
    Ok(if report.failures.is_empty() { 0 } else { WRONG })
}
