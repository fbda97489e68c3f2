//! `quorum report`.

use std::io::Write as _;
use std::path::Path;

use quorum_engine::kept::Kept;
use quorum_engine::reports;
use quorum_report::{Format, Report, markdown, render};
use quorum_store::Run;

use super::review;
use crate::cli::{Cli, ReportArgs, ResultFormat};
use crate::failure::Failure;
use crate::{browser, output, process};

/// Where a workflow of GitHub wants a summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

pub(super) fn run(cli: &Cli, arguments: &ReportArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
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

/// Whether reports of this format say what happened when.
pub(super) fn tells_when(format: ResultFormat) -> bool {
    matches!(format, ResultFormat::Html | ResultFormat::Sarif)
}

/// Writes the report to standard output or to `file`; absent for the terminal's format.
pub(super) fn write(
    report: &Report<'_>,
    format: ResultFormat,
    file: Option<&Path>,
) -> Option<Result<(), Failure>> {
    let format = machine_format(format)?;
    let written = output::raw(&render(report, format), file);
    let summary = match format {
        Format::Github => step_summary(report),
        _ => Ok(()),
    };
    Some(written.and(summary))
}

fn machine_format(format: ResultFormat) -> Option<Format> {
    Some(match format {
        ResultFormat::Terminal => return None,
        ResultFormat::Json => Format::Json,
        ResultFormat::Markdown => Format::Markdown,
        ResultFormat::Sarif => Format::Sarif,
        ResultFormat::Html => Format::Html,
        ResultFormat::Gitlab => Format::Gitlab,
        ResultFormat::Junit => Format::Junit,
        ResultFormat::Rdjsonl => Format::Rdjsonl,
        ResultFormat::Github => Format::Github,
    })
}

/// Adds to the summary of the step that this runs in, where it is one.
fn step_summary(report: &Report<'_>) -> Result<(), Failure> {
    let Some(path) = std::env::var_os(STEP_SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let mut options = std::fs::OpenOptions::new();
    let file = options.append(true).create(true).open(&path);
    let written =
        file.and_then(|mut file| file.write_all(markdown::step_summary(report).as_bytes()));
    written.map_err(|error| {
        Failure::new(format!("{STEP_SUMMARY}: {}: {error}", Path::new(&path).display()))
    })
}
