//! `quorum report`.

use std::path::Path;

use quorum_report::Format;
use quorum_store::Run;

use super::review;
use crate::cli::{Cli, ReportArgs};
use crate::failure::Failure;
use crate::kept::Kept;
use crate::{browser, output, reports};

pub(super) fn run(cli: &Cli, arguments: &ReportArgs) -> Result<u8, Failure> {
    let kept = Kept::open(cli)?;
    let run = Run::find(&kept.root, &arguments.run)?;
    let Some(result) = run.result()? else {
        return Err(Failure::new(format!("run {} is not finished", run.id()))
            .with_hint(format!("`quorum resume {}` goes on with it", run.id())));
    };
    let plan = run.plan()?;
    let report = reports::report(&result, &plan, Some(&kept.repository), Some(&run));
    if arguments.open {
        let beside = run.directory().join(Format::Html.file_name());
        let path = arguments.output.output.as_deref().unwrap_or(&beside);
        return open(&quorum_report::html::render(&report), path).map(|()| result.exit_code);
    }
    review::print(&report, &arguments.output)
}

/// Writes the page and shows it.
fn open(page: &str, path: &Path) -> Result<(), Failure> {
    output::raw(page, Some(path))?;
    let shown = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    output::text(&format!("{}\n", shown.display()), None)?;
    browser::open(&shown)
}
