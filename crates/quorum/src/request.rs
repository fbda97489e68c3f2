//! What a review was asked for, kept with its run so that it can go on.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use quorum_model::scope::{FileEntry, Scope};
use quorum_rules::secrets::redact;
use quorum_scope::request::Sides;
use quorum_store::OwnRun;
use serde::{Deserialize, Serialize};

use crate::cli::{Cli, Command, ReviewArgs};
use crate::failure::Failure;
use crate::workspace::Workspace;

const FILE: &str = "request.json";
/// A diff that came from elsewhere, which may not be there any more.
const DIFF: &str = "request.diff";

/// What a review was asked for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Where.
    folder: PathBuf,
    /// What was typed after the program's name.
    arguments: Vec<String>,
}

impl Request {
    /// What this process was asked for; absent where it cannot be written down.
    pub(crate) fn of_process() -> Option<Self> {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.into_string().ok());
        Some(Self {
            folder: std::env::current_dir().ok()?,
            arguments: arguments.collect::<Option<_>>()?,
        })
    }

    /// What was asked for in `folder` in another way than on a command line, in its words.
    pub(crate) fn new(folder: PathBuf, arguments: Vec<String>) -> Self {
        Self { folder, arguments }
    }

    /// The command line that it stands for.
    pub(crate) fn parse(&self) -> Result<(Cli, ReviewArgs), clap::Error> {
        let arguments = std::iter::once("quorum").chain(self.arguments.iter().map(String::as_str));
        let mut cli = Cli::try_parse_from(arguments)?;
        cli.directory = Some(match &cli.directory {
            Some(directory) => self.folder.join(directory),
            None => self.folder.clone(),
        });
        match take_command(&mut cli) {
            Command::Review(review) => Ok((cli, review)),
            _ => Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand)),
        }
    }
}

/// An argument whose value is words for people.
const REASON: &str = "--ignore-vetos";

/// The request as it may be written down. Without a secret, the words of a reason are still a reason;
/// anything else, such as the command line of a program with a token in it, would be another request,
/// and is not kept.
fn without_secrets(request: &Request) -> Option<Request> {
    let mut arguments: Vec<String> = Vec::new();
    for argument in &request.arguments {
        let masked = redact(argument);
        let assigned = argument.split_once('=').is_some_and(|(name, _)| name == REASON);
        let is_reason = assigned || arguments.last().is_some_and(|before| before == REASON);
        if masked != *argument && !is_reason {
            return None;
        }
        arguments.push(masked);
    }
    Some(Request { folder: request.folder.clone(), arguments })
}

/// What is kept of a request with its run, by file name. A run whose request cannot be written down is
/// complete without it; it only cannot go on.
pub(crate) fn files(
    workspace: &Workspace,
    request: Option<&Request>,
) -> Vec<(&'static str, Vec<u8>)> {
    let text = request.and_then(without_secrets);
    let text = text.and_then(|request| serde_json::to_vec_pretty(&request).ok());
    let Some(text) = text else { return Vec::new() };
    let diff = match &workspace.target.sides {
        Sides::Patch(diff) => Some((DIFF, diff.clone())),
        _ => None,
    };
    diff.into_iter().chain([(FILE, text)]).collect()
}

/// The command line that a run was started with; its diff is read from the run's directory. Anybody
/// else's command line would send, pay and run what they like.
pub(crate) fn load(run: &OwnRun) -> Result<(Cli, ReviewArgs), Failure> {
    let run = run.summary();
    let lost = || {
        Failure::new(format!("run {} does not say what it was asked for", run.id()))
            .with_hint("`quorum review` starts a new one")
    };
    let text = std::fs::read(run.directory().join(FILE)).map_err(|_| lost())?;
    let request: Request = serde_json::from_slice(&text).map_err(|_| lost())?;
    let (cli, mut change) = request.parse().map_err(|_| lost())?;
    let diff = run.directory().join(DIFF);
    if diff.is_file() {
        change.scope.paths.retain(|path| path != "-");
        change.scope.pr = None;
        change.scope.diff = Some(text_of(&diff)?);
    }
    Ok((cli, change))
}

/// The command, out of a command line of which only the rest is needed.
fn take_command(cli: &mut Cli) -> Command {
    let shell = clap_complete::Shell::Bash;
    std::mem::replace(&mut cli.command, Command::Completions { shell })
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let named = path.to_str().map(str::to_owned);
    named.ok_or_else(|| Failure::new(format!("{}: the path is not UTF-8", path.display())))
}

/// Refuses to go on with a review of something else.
pub(crate) fn check_unchanged(run: &str, then: &Scope, now: &Scope) -> Result<(), Failure> {
    what_changed(then, now).map_or(Ok(()), |what| {
        Err(Failure::new(format!("run {run} cannot go on: {what}"))
            .with_hint("`quorum review` starts a new one"))
    })
}

/// In what the code under review is not what it was; absent where it is.
pub(crate) fn what_changed(then: &Scope, now: &Scope) -> Option<String> {
    let same_files = then.files.len() == now.files.len()
        && then.files.iter().zip(&now.files).all(|(then, now)| is_same(then, now));
    if same_files && (&then.base, &then.head) == (&now.base, &now.head) {
        return None;
    }
    let changed = now.files.iter().find(|file| !then.files.iter().any(|old| is_same(old, file)));
    let gone = then.files.iter().find(|file| now.files.iter().all(|other| other.path != file.path));
    Some(match (changed, gone) {
        (Some(file), _) => format!("{} is not as it was", file.path),
        (None, Some(file)) => format!("{} is not there any more", file.path),
        (None, None) => "the revision is another one".to_owned(),
    })
}

/// Whether a file is what it was, to the byte. Without a digest nobody can say so.
fn is_same(then: &FileEntry, now: &FileEntry) -> bool {
    then.digest.is_some() && then == now
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scope(tokens: u64, digest: Option<&str>) -> Scope {
        let file = json!({ "path": "a.py", "old_path": null, "change": "modified",
            "language": null, "kind": "code", "tokens": tokens, "flags": [], "hunks": [],
            "digest": digest });
        let scope = json!({ "kind": "worktree", "label": "l", "base": null, "head": null,
            "files": [file] });
        serde_json::from_value(scope).expect("a scope")
    }

    #[test]
    fn an_edit_of_the_same_length_is_a_change() {
        let changed = |then: &Scope, now: &Scope| what_changed(then, now).is_some();
        assert!(!changed(&scope(5, Some("a")), &scope(5, Some("a"))));
        assert!(changed(&scope(5, Some("a")), &scope(5, Some("b"))));
        assert!(changed(&scope(5, None), &scope(5, Some("b"))), "nobody knows");
        assert!(changed(&scope(5, None), &scope(5, None)), "nobody knows");
    }
}
