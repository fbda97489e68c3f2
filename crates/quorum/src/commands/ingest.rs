//! `quorum ingest`.

use quorum_engine::ingest::{self, TakenFile};
use quorum_engine::kept::Kept;
use quorum_store::Run;

use crate::cli::{Cli, Format, IngestArgs, OutputArgs};
use crate::failure::Failure;
use crate::{output, process, render};

/// The exit code where a file could not be used.
const UNHEARD: u8 = 2;

pub(super) fn run(cli: &Cli, arguments: &IngestArgs) -> Result<u8, Failure> {
    let folder = process::folder(cli)?;
    let kept = Kept::open(&folder)?;
    let found = match Run::find(&kept.root, &arguments.run.run) {
        Ok(found) => Some(found),
        Err(_) if arguments.check => None,
        Err(error) => return Err(error.into()),
    };
    let report = match found {
        Some(found) if !arguments.check => {
            let environment = process::environment();
            ingest::ingest(&kept.root, &folder, &arguments.files, found, &environment)?
        }
        found => ingest::check(&folder, &arguments.files, found.as_ref())?,
    };
    print(&report.taken, &arguments.output)?;
    let Some(result) = report.result else {
        return Ok(if report.unheard { UNHEARD } else { 0 });
    };
    if arguments.output.format != Format::Json {
        output::text(&format!("{}\n", result.verdict.as_str()), None)?;
    }
    Ok(if report.unheard && result.exit_code == 0 { UNHEARD } else { result.exit_code })
}

fn print(taken: &[TakenFile], arguments: &OutputArgs) -> Result<(), Failure> {
    let file = arguments.output.as_deref();
    if arguments.format == Format::Json {
        return output::json(&taken, file);
    }
    output::text(&render::ingest::list(taken), file)
}
