//! The last commits of a repository, reviewed one by one, for noise.

use std::path::Path;

use quorum_model::severity::{Counts, Severity};
use quorum_scope::repository::Repository;
use serde::Serialize;

use crate::environment::Environment;
use crate::error::EngineError;
use crate::gather::Purpose;
use crate::observer::{Observer, Progress, Stage, silent};
use crate::request::{ReviewRequest, ReviewSelection};
use crate::{embedded, plan};

/// What the embedded reviewers say about each of the last commits.
#[derive(Debug, Serialize)]
pub struct Noise {
    /// The repository, as it was named.
    pub repository: String,
    /// Each of them.
    pub commits: Vec<CommitNoise>,
    /// Findings of the commit in the middle.
    pub median: u64,
    /// Commits with a HIGH or CRITICAL finding.
    pub with_high: usize,
}

/// What was found in one commit.
#[derive(Debug, Serialize)]
pub struct CommitNoise {
    /// Its id.
    pub commit: String,
    /// Its subject.
    pub subject: String,
    /// Findings by severity.
    pub counts: Counts,
    /// Each of them, in a line.
    pub findings: Vec<String>,
}

/// Reviews the last `number` commits of the repository around `folder` one by one.
pub fn review_commits(
    folder: &Path,
    name: &str,
    number: u32,
    agents: &[String],
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<Noise, EngineError> {
    let git = Repository::discover(folder)?;
    let count = format!("--max-count={number}");
    let listed = git.git().output(["log", "--no-merges", "--format=%H %s", count.as_str()])?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let total_commits = listed.lines().count() as u64;
    observer
        .observe(Progress::StageStarted { stage: Stage::ReviewingCommits, total: total_commits });
    let (mut commits, mut failed) = (Vec::new(), Vec::new());
    for line in listed.lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        let subject = quorum_rules::secrets::redact(subject);
        match review(folder, commit, &subject, agents, environment) {
            Ok(noise) => commits.push(noise),
            Err(error) => failed.push((commit, error)),
        }
        observer.observe(Progress::FileDone { stage: Stage::ReviewingCommits });
    }
    observer.observe(Progress::StageEnded { stage: Stage::ReviewingCommits });
    // A clone that lacks an object has other commits.
    for (commit, error) in &failed {
        let text = format!("{commit} cannot be reviewed: {error}");
        observer.observe(Progress::Notice(&text));
    }
    if let (true, Some((_, error))) = (commits.is_empty(), failed.pop()) {
        return Err(error);
    }
    let mut totals: Vec<u64> = commits.iter().map(|commit| total(commit.counts)).collect();
    totals.sort_unstable();
    Ok(Noise {
        repository: name.to_owned(),
        median: totals.get(totals.len() / 2).copied().unwrap_or_default(),
        with_high: commits.iter().filter(|c| c.counts.critical + c.counts.high > 0).count(),
        commits,
    })
}

fn total(counts: Counts) -> u64 {
    counts.critical + counts.high + counts.medium + counts.low
}

fn review(
    folder: &Path,
    commit: &str,
    subject: &str,
    agents: &[String],
    environment: &Environment,
) -> Result<CommitNoise, EngineError> {
    let selection = ReviewSelection::Commit { revision: commit.to_owned() };
    let mut request = ReviewRequest::new(folder, selection);
    request.options.agents = agents.to_vec();
    let prepared = plan::make(&request, environment, Purpose::Review, &*silent())?;
    let plan::Prepared { plan, files, workspace, sops, .. } = &prepared;
    let reviewed = embedded::review("eval", plan, files, workspace, sops, &*silent())?;
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
