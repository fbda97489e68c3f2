//! `quorum resume`.

use quorum_engine::kept::Kept;
use quorum_engine::reports;
use quorum_store::Run;

use super::review;
use crate::cli::{Cli, LiveArgs, ResultArgs};
use crate::failure::Failure;
use crate::{process, watching};

pub(super) fn run(
    cli: &Cli,
    name: &str,
    output: &ResultArgs,
    live: &LiveArgs,
) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let found = Run::find(&kept.root, name)?;
    let plan = found.plan()?;
    if let Some(result) = found.result()? {
        let report = reports::report(&result, &plan, Some(&kept.repository), Some(&found));
        return review::print(&report, output);
    }
    let environment = process::environment();
    let observer = watching::with_events(cli.quiet, live.events.as_deref())?;
    let cancel = review::stopped_by_user(&plan);
    let resumed = quorum_engine::resume(&kept.root, found.id(), &environment, &observer, &cancel)?;
    review::shown(&resumed, output, live, &observer)
}
