//! `quorum post`.

use std::io::Write as _;

use bstr::{BString, ByteSlice as _};
use quorum_forge::post::{
    Anchors, Annotation, Decision, Light, Limits, Posted, SUMMARY_MARKER, decide,
};
use quorum_forge::{Forge, ForgeError, PullRequest};
use quorum_model::finding::{Finding, FindingState};
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;
use quorum_report::{Report, markdown};
use quorum_scope::diff::{DiffError, PatchHunk, PatchReader};
use quorum_scope::request::PolicySource;
use quorum_store::{Run, RunSummary};
use serde_json::json;

use crate::cli::{Cli, PostArgs};
use crate::failure::Failure;
use crate::kept::Kept;
use crate::policy::Policy;
use crate::{output, render, workspace};

/// Marks in the diff; more are noise, and the summary has all.
const MOST_ANNOTATIONS: usize = 100;

pub(super) fn run(cli: &Cli, arguments: &PostArgs) -> Result<u8, Failure> {
    let kept = Kept::open(cli)?;
    let run = Run::find(&kept.root, &arguments.run)?;
    let Some(result) = run.result()? else {
        return Err(Failure::new(format!("run {} has no verdict yet", run.id()))
            .with_hint("`quorum resume` finishes it"));
    };
    let policy = Policy::new(Some(&kept.repository), PolicySource::WorkTree);
    let loaded = workspace::load(&policy, Vec::new())?;
    if let Some(refused) = loaded.warning("forge.") {
        output::notice(&refused);
    }
    let config = loaded.config.forge;
    let remote = config.remote.as_deref().unwrap_or("origin");
    let url = kept.repository.remote_url(remote);
    let variable = |name: &str| std::env::var(name).ok();
    let forge = quorum_forge::connect(&config, url.as_deref(), &variable)?;
    if arguments.dry_run {
        forge.rehearse();
    }
    match post(&*forge, arguments.pr, &run, &result) {
        Ok(done) => {
            if arguments.dry_run {
                print_rehearsal(&*forge)?;
            } else {
                say(cli, &done);
            }
            Ok(0)
        }
        // A fork's job has no token that may write: what would be posted is kept as a file.
        Err(error) if may_not_write(&error) => {
            let plan = run.plan()?;
            let text = markdown::render(&Report::new(&result, &plan));
            let path = run.directory().join("comment.md");
            std::fs::write(&path, text)
                .map_err(|cause| Failure::new(format!("{}: {cause}", path.display())))?;
            say(cli, &format!("{error}; nothing was posted, the text is in {}", path.display()));
            Ok(0)
        }
        Err(error) => Err(error.into()),
    }
}

fn post(
    forge: &dyn Forge,
    number: u64,
    run: &RunSummary,
    result: &ReviewResult,
) -> Result<String, PostError> {
    let request = forge.pull_request(number)?;
    let plan = run.plan().map_err(Failure::from)?;
    refuse_moved(&request, plan.scope.head.as_deref(), run.id())?;
    let diff = forge.diff(number)?;
    let anchors = anchors(&diff.text)?;
    let posted = forge.posted(number)?;
    let mut decision = decide(result, &anchors, &posted, Limits::of(forge.dialect()));
    if !decision.comments.is_empty() || posted.unpublished {
        let refused = forge.comment(&request, &decision.comments)?;
        for index in refused {
            let fingerprint = &decision.comments[index].fingerprint;
            let finding = result.findings.iter().find(|f| f.fingerprint == *fingerprint);
            decision.in_summary_only.extend(finding.map(|finding| finding.id.clone()));
        }
    }
    for amendment in &decision.amendments {
        forge.amend(&request, amendment)?;
    }
    let report = Report::new(result, &plan);
    let mut summary = markdown::render(&report);
    summary.extend(["\n\n", SUMMARY_MARKER]);
    forge.summarise(&request, posted.summary.as_ref(), &summary)?;
    forge.light(&request, &light(result))?;
    Ok(account(&request, &posted, &decision))
}

/// Comments on a head that is not the reviewed one would stand on the wrong lines.
fn refuse_moved(request: &PullRequest, reviewed: Option<&str>, run: &str) -> Result<(), Failure> {
    if reviewed.is_none_or(|head| head == request.head_sha) {
        return Ok(());
    }
    let head = request.head_sha.get(..12).unwrap_or(&request.head_sha);
    Err(Failure::new(format!("run {run} reviewed another commit than {head}"))
        .with_hint(format!("`quorum review --pr {}` reviews the present one", request.number)))
}

fn anchors(diff: &[u8]) -> Result<Anchors, Failure> {
    let mut anchors = Anchors::default();
    let unreadable = |error: DiffError| Failure::new(format!("the host's diff: {error}"));
    let mut reader = PatchReader::new(diff);
    while let Some(file) = reader.next_file().map_err(unreadable)? {
        let path = |path: Option<&BString>| path.map(|path| path.to_str_lossy().into_owned());
        let Some(new) = path(file.new_path.as_ref()) else { continue };
        let old = path(file.old_path.as_ref()).unwrap_or_else(|| new.clone());
        for PatchHunk { hunk, body } in &file.hunks {
            let body = file.text.get(body.clone()).unwrap_or_default();
            anchors.add(&new, &old, (hunk.old_start, hunk.new_start), body);
        }
    }
    Ok(anchors)
}

fn light(result: &ReviewResult) -> Light {
    let word = render::verdict::word(result.verdict);
    let title = match result.reasons.first() {
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    };
    let open =
        |finding: &&Finding| matches!(finding.state, FindingState::New | FindingState::Persisting);
    let mut findings: Vec<&Finding> = result.findings.iter().filter(open).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let annotations = findings.into_iter().take(MOST_ANNOTATIONS).map(|finding| Annotation {
        path: finding.file.clone(),
        start_line: finding.line.max(1),
        end_line: finding.end_line.max(finding.line).max(1),
        failure: finding.severity >= Severity::High,
        title: format!("{} {}", finding.severity.as_str(), finding.id),
        message: format!("{}\n\n{}", finding.issue, finding.recommendation),
    });
    Light {
        passed: result.exit_code == 0,
        title,
        summary: result.reasons.join("\n\n"),
        annotations: annotations.collect(),
    }
}

fn account(request: &PullRequest, posted: &Posted, decision: &Decision) -> String {
    let summary =
        if posted.summary.is_some() { "the summary brought up to date" } else { "a summary" };
    format!(
        "{} new comments, {} changed, {} findings in the summary only, {summary}: {}",
        decision.comments.len(),
        decision.amendments.len(),
        decision.in_summary_only.len(),
        request.url,
    )
}

fn print_rehearsal(forge: &dyn Forge) -> Result<(), Failure> {
    let calls: Vec<_> = forge
        .rehearsed()
        .into_iter()
        .map(|call| json!({ "method": call.method, "url": call.url, "body": call.body }))
        .collect();
    output::json(&calls, None)
}

fn say(cli: &Cli, text: &str) {
    if !cli.quiet {
        // There is nowhere left to say that standard error is gone.
        drop(writeln!(std::io::stderr(), "{text}"));
    }
}

fn may_not_write(error: &PostError) -> bool {
    matches!(
        error,
        PostError::Forge(ForgeError::Unauthorized { .. } | ForgeError::Forbidden { .. })
    )
}

/// Why nothing, or not all, was posted.
enum PostError {
    Forge(ForgeError),
    Failure(Failure),
}

impl From<ForgeError> for PostError {
    fn from(error: ForgeError) -> Self {
        Self::Forge(error)
    }
}

impl From<Failure> for PostError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<PostError> for Failure {
    fn from(error: PostError) -> Self {
        match error {
            PostError::Forge(error) => error.into(),
            PostError::Failure(failure) => failure,
        }
    }
}

impl std::fmt::Display for PostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forge(error) => error.fmt(f),
            Self::Failure(failure) => f.write_str(failure.message()),
        }
    }
}
