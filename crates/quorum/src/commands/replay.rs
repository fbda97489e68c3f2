//! `quorum replay`.

use quorum_engine::kept::Kept;
use quorum_engine::{ReplayOptions, reports};
use quorum_store::Run;

use super::review;
use crate::cli::{Cli, ReplayArgs};
use crate::failure::Failure;
use crate::{process, watching};

/// Decides a recorded run again. Nothing is reviewed and nothing is written.
pub(super) fn run(cli: &Cli, arguments: &ReplayArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let found = Run::find(&kept.root, &arguments.run)?;
    let options = ReplayOptions {
        protocol: arguments.protocol,
        fail_on: arguments.fail_on,
        strict: arguments.strict,
        ignore_vetos: arguments.ignore_vetos.clone(),
        calls: arguments.calls,
    };
    let (environment, observer) = (process::environment(), watching::terminal(cli.quiet));
    let (result, plan) =
        quorum_engine::replay(&kept.root, &found, &options, &environment, &observer)?;
    let report = reports::report(&result, &plan, Some(&kept.repository), Some(&found));
    review::print(&report, &arguments.output)
}
