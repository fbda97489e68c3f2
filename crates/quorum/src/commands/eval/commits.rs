//! The last commits of a repository, reviewed one by one, for noise.

use std::path::PathBuf;

use indicatif::ProgressBar;
use quorum_model::severity::{Counts, Severity};
use quorum_scope::repository::Repository;
use serde::Serialize;

use crate::cli::{Cli, EvalArgs, Format, ReviewArgs};
use crate::commands::plan;
use crate::failure::Failure;
use crate::gather::Purpose;
use crate::{embedded, output, progress, render};

/// What the embedded reviewers say about each of the last commits.
#[derive(Debug, Serialize)]
pub(crate) struct Noise {
    pub(crate) repository: String,
    pub(crate) commits: Vec<CommitNoise>,
    /// Findings of the commit in the middle.
    pub(crate) median: u64,
    /// Commits with a HIGH or CRITICAL finding.
    pub(crate) with_high: usize,
}

/// What was found in one commit.
#[derive(Debug, Serialize)]
pub(crate) struct CommitNoise {
    pub(crate) commit: String,
    pub(crate) subject: String,
    pub(crate) counts: Counts,
    pub(crate) findings: Vec<String>,
}

pub(super) fn run(
    cli: &Cli,
    arguments: &EvalArgs,
    repository: &str,
    number: &str,
) -> Result<u8, Failure> {
    let number: u32 = number.parse().map_err(|_| {
        Failure::new(format!("`{number}` is not a number of commits"))
            .with_hint("for example `--commits . 200`")
    })?;
    let folder = crate::workspace::folder(cli)?.join(repository);
    let git = Repository::discover(&folder)?;
    let count = format!("--max-count={number}");
    let listed = git.git().output(["log", "--no-merges", "--format=%H %s", count.as_str()])?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let bar = progress::files(listed.lines().count(), cli.quiet);
    bar.set_message("Reviewing commits");
    let (mut commits, mut failed) = (Vec::new(), Vec::new());
    for line in listed.lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        let subject = quorum_rules::secrets::redact(subject);
        match review(&folder, commit, &subject, &arguments.agents) {
            Ok(noise) => commits.push(noise),
            Err(error) => failed.push((commit, error)),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    // A clone that lacks an object has other commits.
    for (commit, error) in &failed {
        output::notice(&format!("{commit} cannot be reviewed: {}", error.message()));
    }
    if let (true, Some((_, error))) = (commits.is_empty(), failed.pop()) {
        return Err(error);
    }
    let mut totals: Vec<u64> = commits.iter().map(|commit| total(commit.counts)).collect();
    totals.sort_unstable();
    let noise = Noise {
        repository: repository.to_owned(),
        median: totals.get(totals.len() / 2).copied().unwrap_or_default(),
        with_high: commits.iter().filter(|c| c.counts.critical + c.counts.high > 0).count(),
        commits,
    };
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&noise, file)?,
        Format::Terminal => output::text(&render::eval::noise(&noise), file)?,
    }
    Ok(0)
}

fn total(counts: Counts) -> u64 {
    counts.critical + counts.high + counts.medium + counts.low
}

fn review(
    folder: &std::path::Path,
    commit: &str,
    subject: &str,
    agents: &[String],
) -> Result<CommitNoise, Failure> {
    let mut arguments = vec!["quorum".to_owned(), "review".to_owned()];
    arguments.extend(["--commit".to_owned(), commit.to_owned()]);
    if !agents.is_empty() {
        arguments.extend(["--agents".to_owned(), agents.join(",")]);
    }
    let mut cli: Cli = clap::Parser::try_parse_from(&arguments)
        .map_err(|error| Failure::new(error.to_string()))?;
    cli.directory = Some(PathBuf::from(folder));
    cli.quiet = true;
    let crate::cli::Command::Review(ReviewArgs { scope, run, .. }) = &cli.command else {
        return Err(Failure::new("the arguments of a review are no review"));
    };
    let made = plan::make(&cli, scope, run, Purpose::Review)?;
    let bar = ProgressBar::hidden();
    let reviewed = embedded::review("eval", &made.plan, &made.files, &made.workspace, &bar)?;
    let mut findings = Vec::new();
    let mut severities: Vec<Severity> = Vec::new();
    for finding in reviewed.outcomes.iter().flat_map(|outcome| &outcome.findings) {
        severities.push(finding.severity);
        let (file, line) = finding.place().unwrap_or(("", None));
        let rule = finding.rule.as_deref().unwrap_or("-");
        let title = finding.issue.split(". ").next().unwrap_or_default();
        let line = line.unwrap_or_default();
        findings.push(format!("{} {file}:{line} {rule}: {title}", finding.severity.as_str()));
    }
    findings.sort();
    Ok(CommitNoise {
        commit: commit.to_owned(),
        subject: subject.to_owned(),
        counts: Counts::of(severities),
        findings,
    })
}
