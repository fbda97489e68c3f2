//! `quorum gates`.

use quorum_engine::{Workspace, gates};

use crate::cli::{Cli, Format, GatesArgs};
use crate::failure::Failure;
use crate::{asked, output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &GatesArgs) -> Result<u8, Failure> {
    let mut request = asked::change(cli, &arguments.scope)?;
    request.options.allow_unsandboxed_gates = arguments.allow_unsandboxed_gates;
    let workspace = Workspace::open(&request, &process::environment())?;
    if !arguments.list {
        gates::require_trust(&workspace.target, arguments.trust_gates)?;
    }
    let observer = watching::terminal(cli.quiet);
    let prepared = gates::prepare(&workspace, &observer)?;
    let file = arguments.output.output.as_deref();
    if arguments.list {
        match arguments.output.format {
            Format::Json => output::json(&prepared.checks, file)?,
            Format::Terminal => output::text(&render::gates::list(&prepared.checks), file)?,
        }
        return Ok(0);
    }
    // Who asks for gates where nothing changed wants them all, not none.
    let named = arguments.scope.names_a_change() || !arguments.scope.paths.is_empty();
    let report = if named {
        prepared.run_for(&workspace, &observer)?
    } else {
        prepared.run_for_or_all(&workspace, &observer)?
    };
    match arguments.output.format {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::gates::report(&report, output::width()), file)?,
    }
    Ok(u8::from(!report.passed))
}
