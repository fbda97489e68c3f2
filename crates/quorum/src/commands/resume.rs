//! `quorum resume`.

use quorum_store::Run;

use super::review::Asked;
use super::{plan, review};
use crate::cli::{Cli, LiveArgs, ResultArgs};
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::kept::Kept;
use crate::record::Recorder;
use crate::{kept, models, reports, request};

pub(super) fn run(
    cli: &Cli,
    name: &str,
    output: &ResultArgs,
    live: &LiveArgs,
) -> Result<u8, Failure> {
    let kept = Kept::open(cli)?;
    let found = Run::find(&kept.root, name)?;
    if let Some(result) = found.result()? {
        let plan = found.plan()?;
        let report = reports::report(&result, &plan, Some(&kept.repository), Some(&found));
        return review::print(&report, output);
    }
    let own = kept::own(&kept.root, found)?;
    let found = own.summary();
    let (mut asked, arguments) = request::load(&own)?;
    asked.quiet = cli.quiet;
    // Nobody else works on it from here on.
    let recorder = Recorder::resume(&kept.root, found.id())?;
    let mut made = plan::make(&asked, &arguments.scope, &arguments.run, Purpose::Review)?;
    let planned = found.plan()?;
    request::check_unchanged(found.id(), &planned.scope, &made.plan.scope)?;
    made.plan = planned;
    let engines = models::engines(&made.plan, &made.workspace)?;
    let gates = match recorder.gates() {
        Some(_) => None,
        None => review::gates(&made.workspace, &arguments.run)?,
    };
    let work = review::Work { cli: &asked, made: &made, engines: &engines, gates: gates.as_ref() };
    let rest = Asked { run: &arguments.run, output, live };
    review::go_on(&work, &recorder, &rest)
}
