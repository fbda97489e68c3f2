//! `quorum config trust` and `untrust`.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use quorum_engine::config::Loaded;
use quorum_engine::consent;
use quorum_engine::policy::Policy;
use quorum_engine::workspace;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;

use crate::cli::TrustArgs;
use crate::failure::Failure;
use crate::{output, process};

/// Shows what the repository sets that needs the user's word, asks, and remembers the answer.
pub(super) fn trust(repository: Option<&Repository>, arguments: &TrustArgs) -> Result<(), Failure> {
    if arguments.list {
        return list();
    }
    let repository = required(repository)?;
    let source = match &arguments.at {
        Some(revision) => PolicySource::Commit(repository.commit(revision)?),
        None => PolicySource::WorkTree,
    };
    let policy = Policy::new(Some(repository), source);
    let loaded = workspace::load(&policy, &process::environment(), Vec::new())?;
    if loaded.held.is_empty() {
        return output::text("The repository sets nothing that needs your consent.\n", None);
    }
    let name = repository.identity()?;
    output::text(&page(&name, &loaded), None)?;
    if loaded.trusted {
        return output::text("You trust it with exactly these already.\n", None);
    }
    if !arguments.yes && !asked()? {
        return output::text("Nothing was changed.\n", None);
    }
    let since = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    consent::change(&process::environment(), |trust| trust.add(&name, &loaded, since))?;
    output::text(
        "Trusted, until one of them changes. `quorum config untrust` takes it back.\n",
        None,
    )
}

/// Takes back what the repository is trusted with.
pub(super) fn untrust(repository: Option<&Repository>) -> Result<(), Failure> {
    let name = required(repository)?.identity()?;
    let said = match consent::change(&process::environment(), |trust| trust.remove(&name))? {
        0 => "You did not trust it with anything.\n",
        _ => "It is not trusted any more.\n",
    };
    output::text(said, None)
}

fn required(repository: Option<&Repository>) -> Result<&Repository, Failure> {
    repository.ok_or_else(|| {
        Failure::new("there is no repository here").with_hint("stand in one, or name it with `-C`")
    })
}

fn page(name: &str, loaded: &Loaded) -> String {
    let mut text = format!("{name} wants these settings to be used:\n\n");
    for held in &loaded.held {
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {} = {}\n    {}: {}", held.key, held.value, held.place, held.why);
    }
    text.push('\n');
    text
}

/// Asks on the terminal. Where nobody can answer, the answer is no, and that is an error.
fn asked() -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::new("nobody is there to ask")
            .with_hint("if you agree to all of them, add `--yes`"));
    }
    let mut stderr = io::stderr().lock();
    let asking =
        write!(stderr, "Use them in this repository? [y/N] ").and_then(|()| stderr.flush());
    asking.map_err(|error| Failure::new(format!("asking: {error}")))?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| Failure::new(format!("reading the answer: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn list() -> Result<(), Failure> {
    let mut text = String::new();
    for trusted in consent::all(&process::environment())?.trusted {
        // Writing to a string cannot fail.
        _ = writeln!(text, "{}  since {}", trusted.repository, trusted.since);
        for setting in &trusted.settings {
            _ = writeln!(text, "  {setting}");
        }
    }
    if text.is_empty() {
        text.push_str("You trust no repository with settings of its own.\n");
    }
    output::text(&text, None)
}
