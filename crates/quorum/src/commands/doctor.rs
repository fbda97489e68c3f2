//! `quorum doctor`.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use quorum_engine::policy::Policy;
use quorum_engine::workspace;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;
use quorum_store::{Folder, Run};

use super::config;
use crate::cli::Cli;
use crate::failure::Failure;
use crate::{output, process};

/// How one thing stands.
enum State {
    Good,
    /// It works, but not as well as it could.
    Note,
    /// A review cannot do its work.
    Bad,
}

/// One thing that a review depends on.
struct Check {
    state: State,
    what: String,
    advice: Option<String>,
}

impl Check {
    fn good(what: impl Into<String>) -> Self {
        Self { state: State::Good, what: what.into(), advice: None }
    }

    fn note(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { state: State::Note, what: what.into(), advice: Some(advice.into()) }
    }

    fn bad(what: impl Into<String>, advice: Option<String>) -> Self {
        Self { state: State::Bad, what: what.into(), advice }
    }

    fn failed(failure: &Failure) -> Self {
        Self::bad(failure.message(), failure.hint().map(str::to_owned))
    }
}

/// Looks at everything that a review depends on; exit code 2 where one could not do its work.
pub(super) fn run(cli: &Cli) -> Result<u8, Failure> {
    let checks = checks(&process::folder(cli)?);
    let mut page = String::new();
    for check in &checks {
        let (sign, color) = match check.state {
            State::Good => ("ok", AnsiColor::Green),
            State::Note => ("note", AnsiColor::Yellow),
            State::Bad => ("bad", AnsiColor::Red),
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{style}{sign:>4}{style:#}  {}", check.what);
        if let Some(advice) = &check.advice {
            let _ = writeln!(page, "      {advice}");
        }
    }
    output::text(&page, None)?;
    let bad = checks.iter().any(|check| matches!(check.state, State::Bad));
    Ok(if bad { 2 } else { 0 })
}

fn checks(folder: &Path) -> Vec<Check> {
    let repository = match Repository::discover(folder) {
        Ok(repository) => repository,
        Err(error) => return vec![Check::bad(error.to_string(), error.hint())],
    };
    let mut checks = vec![git(&repository), history(&repository)];
    checks.extend(configuration(&repository));
    checks.push(store(&repository));
    checks.push(host());
    checks
}

fn git(repository: &Repository) -> Check {
    let version = repository.git().output(["--version"]).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    match repository.work_tree() {
        Some(root) => Check::good(format!("{version}, repository {}", root.display())),
        None => Check::note(
            format!("{version}, a repository without a work tree"),
            "commits and ranges can be reviewed; runs are not kept",
        ),
    }
}

fn history(repository: &Repository) -> Check {
    if repository.is_shallow() {
        let text = "the clone is shallow, so a merge base may be missing";
        return Check::note(text, "`git fetch --unshallow`, or `fetch-depth: 0` in a workflow");
    }
    match repository.default_branch() {
        Err(error) => Check::bad(error.to_string(), error.hint()),
        Ok(Some((_, name))) => Check::good(format!("the default branch is {name}")),
        Ok(None) => Check::note(
            "the default branch is not known",
            "name a base with `--base`, or `git remote set-head origin --auto`",
        ),
    }
}

fn configuration(repository: &Repository) -> Vec<Check> {
    let policy = Policy::new(Some(repository), PolicySource::WorkTree);
    let valid = match config::validate(&policy) {
        Ok(text) => {
            let first = text.lines().next().unwrap_or_default();
            Check::good(first.trim_end_matches('.').to_owned())
        }
        Err(failure) => return vec![Check::failed(&failure)],
    };
    match workspace::load(&policy, &process::environment(), Vec::new()) {
        Ok(loaded) => {
            let hint = "`quorum config trust`, or set them yourself";
            let refused = loaded.warning("").map(|text| Check::note(text, hint));
            [valid, provider(&loaded.config.provider)].into_iter().chain(refused).collect()
        }
        Err(error) => vec![valid, Check::failed(&error.into())],
    }
}

/// Whether the provider's key is there; never what it is.
fn provider(name: &str) -> Check {
    let variable = match name {
        "builtin" => return Check::good("provider builtin: offline, nothing is sent"),
        "anthropic" => "ANTHROPIC_API_KEY",
        "openai" => "OPENAI_API_KEY",
        "gemini" => "GEMINI_API_KEY",
        other => return Check::good(format!("provider {other}")),
    };
    if process::is_set(variable) {
        Check::good(format!("provider {name}, with a key in {variable}"))
    } else {
        let text = format!("provider {name} has no key");
        Check::bad(text, Some(format!("set {variable}, or review with `--provider builtin`")))
    }
}

fn store(repository: &Repository) -> Check {
    let Some(root) = repository.work_tree() else {
        return Check::good("there is no work tree, so runs are not kept");
    };
    let runs = Folder::at(root).and_then(|folder| folder.entry("runs"));
    let (runs, kept) = match (runs, Run::list(root)) {
        (Ok(runs), Ok(kept)) => (runs, kept),
        (Err(error), _) | (_, Err(error)) => return Check::bad(error.to_string(), error.hint()),
    };
    // Whoever looks after things leaves nothing behind: the file is gone when this returns.
    let there = runs.ancestors().find(|folder| folder.is_dir()).unwrap_or(root);
    match tempfile::tempfile_in(there) {
        Ok(_) => Check::good(format!("{} runs are kept in .quorum/runs", kept.len())),
        Err(error) => Check::bad(
            format!("{}: {error}", there.display()),
            Some("runs are not kept where nothing can be written".to_owned()),
        ),
    }
}

fn host() -> Check {
    let variables = ["GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN"];
    match variables.into_iter().find(|variable| process::is_set(variable)) {
        Some(variable) => Check::good(format!("pull requests are read with {variable}")),
        None => Check::note(
            "no token for a code host",
            format!("`--pr` reads public requests only; set one of {}", variables.join(", ")),
        ),
    }
}
