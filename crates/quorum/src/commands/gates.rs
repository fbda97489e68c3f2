//! `quorum gates`.

use crate::cli::{Cli, Format, GatesArgs};
use crate::failure::Failure;
use crate::gates::{self, Watcher};
use crate::gather::{Purpose, gather};
use crate::workspace::Workspace;
use crate::{output, render, settings};

pub(super) fn run(cli: &Cli, arguments: &GatesArgs) -> Result<u8, Failure> {
    let accepted = settings::unsandboxed(arguments.allow_unsandboxed_gates);
    let workspace = Workspace::open(cli, &arguments.scope, accepted)?;
    if !arguments.list {
        gates::require_trust(&workspace.target, arguments.trust_gates)?;
    }
    let prepared = gates::prepare(&workspace)?;
    let file = arguments.output.output.as_deref();
    if arguments.list {
        match arguments.output.format {
            Format::Json => output::json(&prepared.checks, file)?,
            Format::Terminal => output::text(&render::gates::list(&prepared.checks), file)?,
        }
        return Ok(0);
    }
    let scope = gather(&workspace, u64::MAX, Purpose::Plan, cli.quiet)?.scope;
    // Who asks for gates where nothing changed wants them all, not none.
    let named = arguments.scope.names_a_change() || !arguments.scope.paths.is_empty();
    let prepared = if scope.files.is_empty() && !named { prepared.whole() } else { prepared };
    let report = prepared.run(&workspace, &scope, &Watcher { quiet: cli.quiet, run: None })?;
    match arguments.output.format {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::gates::report(&report, output::width()), file)?,
    }
    Ok(u8::from(!report.passed))
}
