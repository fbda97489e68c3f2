//! `quorum post`.

use quorum_engine::PostReport;
use quorum_engine::kept::Kept;
use serde_json::json;

use crate::cli::{Cli, PostArgs};
use crate::failure::Failure;
use crate::{output, process, watching};

pub(super) fn run(cli: &Cli, arguments: &PostArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let (environment, observer) = (process::environment(), watching::terminal(cli.quiet));
    let PostArgs { run, pr, dry_run } = arguments;
    match quorum_engine::post(&kept, run, *pr, *dry_run, &environment, &*observer)? {
        PostReport::Written(what) => say(cli, &what),
        PostReport::Rehearsed(calls) => {
            let calls = calls
                .into_iter()
                .map(|call| json!({ "method": call.method, "url": call.url, "body": call.body }));
            output::json(&calls.collect::<Vec<_>>(), None)?;
        }
        PostReport::KeptAsFile { cause, path } => {
            say(cli, &format!("{cause}; nothing was posted, the text is in {}", path.display()));
        }
    }
    Ok(0)
}

fn say(cli: &Cli, text: &str) {
    if !cli.quiet {
        output::notice(text);
    }
}
