//! A result with what its reader needs beside it: the code around each finding, and what happened
//! when.

mod timeline;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use quorum_model::finding::Finding;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::scope::{Scope, ScopeKind};
use quorum_report::{Excerpt, Format, Report, markdown, render};
use quorum_scope::content::{Content, Contents, Revision};
use quorum_scope::repository::Repository;
use quorum_store::RunSummary;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::cli::ResultFormat;
use crate::failure::Failure;
use crate::output;

/// Lines of code on either side of a finding.
const CONTEXT: u64 = 3;
/// Where a workflow of GitHub wants a summary.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Whether reports of this format say what happened when.
pub(crate) fn tell_when(format: ResultFormat) -> bool {
    matches!(format, ResultFormat::Html | ResultFormat::Sarif)
}

/// The report of a result; `run` is where it is kept, if it is and what happened when is told.
pub(crate) fn report<'a>(
    result: &'a ReviewResult,
    plan: &'a Plan,
    repository: Option<&Repository>,
    run: Option<&RunSummary>,
) -> Report<'a> {
    let excerpts = repository.map(|repository| excerpts(result, &plan.scope, repository));
    let timeline = run.map(|run| timeline::of(run, result, plan)).unwrap_or_default();
    Report {
        excerpts: excerpts.unwrap_or_default(),
        events: timeline.events,
        started: timeline.started,
        ended: timeline.ended,
        ..Report::new(result, plan)
    }
}

/// Writes the report to standard output or to `file`; absent for the terminal's format.
pub(crate) fn write(
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

/// The code around each finding, at the reviewed revision, with its secrets masked.
fn excerpts(
    result: &ReviewResult,
    scope: &Scope,
    repository: &Repository,
) -> BTreeMap<String, Excerpt> {
    let Some(revision) = revision(scope) else { return BTreeMap::new() };
    let contents = Contents::new(Some(repository));
    let mut by_file: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in result.findings.iter().chain(&result.not_agreed) {
        by_file.entry(&finding.file).or_default().push(finding);
    }
    // Masking reads each file whole, so that every core takes some.
    let of_file = |(path, findings): (&str, Vec<&Finding>)| {
        // What cannot be read is shown as the finding quotes it.
        let Ok(Content::Whole(bytes)) = contents.read_at(&revision, path) else {
            return Vec::new();
        };
        let text = quorum_rules::secrets::redact_file(path, &String::from_utf8_lossy(&bytes));
        let lines: Vec<&str> = text.lines().collect();
        let excerpt = |finding: &Finding| {
            let excerpt = Excerpt::among(&lines, finding.line, finding.end_line, CONTEXT);
            let excerpt = excerpt.filter(|excerpt| shows(excerpt, finding))?;
            Some((finding.id.clone(), excerpt))
        };
        findings.into_iter().filter_map(excerpt).collect::<Vec<_>>()
    };
    by_file.into_par_iter().flat_map_iter(of_file).collect()
}

/// The lines that a finding quotes, with their secrets; absent where the file has moved on. For the
/// user's own eyes: nothing that is kept, sent or posted may hold it.
pub(crate) fn unmasked(
    finding: &Finding,
    scope: &Scope,
    repository: &Repository,
) -> Option<String> {
    let contents = Contents::new(Some(repository));
    let Ok(Content::Whole(bytes)) = contents.read_at(&revision(scope)?, &finding.file) else {
        return None;
    };
    let text = String::from_utf8_lossy(&bytes);
    let first = usize::try_from(finding.line).ok()?.checked_sub(1)?;
    let count = usize::try_from(finding.end_line.max(finding.line) - finding.line).ok()? + 1;
    let lines: Vec<&str> = text.lines().skip(first).take(count).collect();
    let quoted = finding.evidence.lines().map(str::trim).find(|line| !line.is_empty());
    let is_there = quoted.is_none_or(|quoted| lines.iter().any(|line| hides(line, quoted)));
    is_there.then(|| lines.join("\n"))
}

/// Whether `line` holds `quoted`, in which secrets are masked: by stars, of which some may be the word
/// that models are shown.
fn hides(line: &str, quoted: &str) -> bool {
    let stars = |word: &str| "*".repeat(word.len());
    let quoted: Vec<char> =
        quoted.replace("REDACTED", &stars("REDACTED")).chars().take(60).collect();
    let line: Vec<char> = line.chars().collect();
    let fits =
        |part: &[char]| part.iter().zip(&quoted).all(|(is, shown)| is == shown || *shown == '*');
    quoted.is_empty() || line.windows(quoted.len()).any(fits)
}

/// Where the reviewed files are now; a diff from elsewhere has none.
fn revision(scope: &Scope) -> Option<Revision> {
    match (scope.kind, &scope.head) {
        (ScopeKind::Diff, _) => None,
        (_, Some(head)) => Some(Revision::Commit(head.clone())),
        (ScopeKind::Staged, None) => Some(Revision::Index),
        (_, None) => Some(Revision::WorkTree),
    }
}

/// Whether the excerpt still has what the finding quotes: a work tree goes on.
fn shows(excerpt: &Excerpt, finding: &Finding) -> bool {
    let Some(quoted) = finding.evidence.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return true;
    };
    // A long line is cut in an excerpt.
    excerpt.lines.iter().any(|line| hides(line, quoted))
}
