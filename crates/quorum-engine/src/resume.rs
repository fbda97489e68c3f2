//! A review that was killed or interrupted goes on where it was.

use std::path::Path;

use quorum_model::scope::{FileEntry, Scope};
use quorum_store::{OwnRun, Run};
use tokio_util::sync::CancellationToken;

use crate::environment::Environment;
use crate::error::{EngineError, ErrorCode};
use crate::gather::Purpose;
use crate::observer::{Observer, SharedObserver};
use crate::plan::{self, Prepared};
use crate::record::Recorder;
use crate::review::{self, Review, Work};
use crate::{kept, models, request};

/// Goes on with the run that `name` means below `root`, which the user started there and which has no
/// result yet. What is recorded is not done again, and not paid for again.
pub fn resume(
    root: &Path,
    name: &str,
    environment: &Environment,
    observer: &SharedObserver,
    cancel: &CancellationToken,
) -> Result<Review, EngineError> {
    let own = kept::own(root, Run::find(root, name)?, environment)?;
    // A request that cannot be read is refused before anything is locked.
    request::load(&own)?;
    // Nobody else works on it from here on.
    let recorder = Recorder::resume(root, own.summary().id(), environment)?;
    let prepared = again(&own, environment, &**observer)?;
    let engines = models::engines(&prepared.plan, &prepared.workspace)?;
    let gates = match recorder.gates() {
        Some(_) => None,
        None => review::wanted_gates(&prepared, observer)?,
    };
    let gates = gates.as_ref();
    let work = Work { prepared: &prepared, engines: &engines, gates, observer, cancel };
    review::carry_on(&work, recorder)
}

/// The change of a run, read again with the plan that the run has; an error where the code is not what
/// it was.
pub(crate) fn again(
    run: &OwnRun,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<Prepared, EngineError> {
    let request = request::load(run)?;
    let run = run.summary();
    let scoped = plan::scope(&request, environment, Purpose::Review, observer)?;
    let planned = run.plan()?;
    if let Some(what) = what_changed(&planned.scope, &scoped.gathered.scope) {
        let text = format!("cannot resume run {}: {what}", run.id());
        return Err(EngineError::new(ErrorCode::Changed, text)
            .with_hint("`quorum review` starts a new one"));
    }
    Ok(scoped.with_plan(&request, planned))
}

/// In what the code under review is not what it was; absent where it is.
fn what_changed(then: &Scope, now: &Scope) -> Option<String> {
    let same_files = then.files.len() == now.files.len()
        && then.files.iter().zip(&now.files).all(|(then, now)| is_same(then, now));
    if same_files && (&then.base, &then.head) == (&now.base, &now.head) {
        return None;
    }
    let changed = now.files.iter().find(|file| !then.files.iter().any(|old| is_same(old, file)));
    let gone = then.files.iter().find(|file| now.files.iter().all(|other| other.path != file.path));
    Some(match (changed, gone) {
        (Some(file), _) => format!("{} has changed since it started", file.path),
        (None, Some(file)) => format!("{} is gone since it started", file.path),
        (None, None) => "the base or head commit has changed since it started".to_owned(),
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
