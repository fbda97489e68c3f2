//! `quorum review`.

use crate::cli::{ChangeArgs, Cli, Format};
use crate::commands::plan;
use crate::failure::Failure;
use crate::{output, render};

/// Plans the review, and says plainly that there is nobody to do it yet.
pub(super) fn run(cli: &Cli, arguments: &ChangeArgs) -> Result<u8, Failure> {
    let plan::Made { plan, workspace, .. } =
        plan::make(cli, &arguments.scope, &arguments.run, crate::gather::Purpose::Review)?;
    let file = arguments.output.output.as_deref();
    if arguments.output.format == Format::Terminal {
        let page = render::plan::page(&plan, &workspace.roster, output::width());
        output::text(&page, file)?;
    }
    Err(Failure::new("nothing was reviewed: this version plans reviews and has no reviewers yet")
        .with_hint(
            "`quorum plan` gives the plan alone; there is no verdict, so this is no approval",
        ))
}
