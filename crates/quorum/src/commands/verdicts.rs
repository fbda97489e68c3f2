//! `quorum verdicts`.

use quorum_engine::kept::Kept;
use quorum_store::{Run, verdicts};

use crate::cli::{Cli, Format, VerdictsArgs};
use crate::failure::Failure;
use crate::{output, process, render};

pub(super) fn run(cli: &Cli, arguments: &VerdictsArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let run = Run::find(&kept.root, &arguments.run.run)?;
    let mut files = run.verdicts()?;
    if arguments.attention {
        files.retain(verdicts::needs_a_look);
    }
    let file = arguments.output.output.as_deref();
    if arguments.output.format == Format::Json {
        output::json(&files, file)?;
        return Ok(0);
    }
    let page = if arguments.count {
        format!("{}\n", verdicts::count_by_status(&files))
    } else if arguments.tokens {
        render::verdicts::tokens(&files)
    } else if arguments.attention {
        render::verdicts::attention(&files)
    } else {
        render::verdicts::lines(&render::verdicts::header(&run)?, &files)
    };
    output::text(&page, file)?;
    Ok(0)
}
