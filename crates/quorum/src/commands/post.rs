//! `quorum post`.

use std::io::Write as _;

use bstr::{BString, ByteSlice as _};
use quorum_consensus::{Input, decide as conclude};
use quorum_forge::post::{
    Anchors, Annotation, DISMISS, Decision, Light, Limits, Posted, Stand, decide, paginate,
};
use quorum_forge::{Forge, ForgeError, PullRequest};
use quorum_model::finding::{Finding, FindingState};
use quorum_model::plan::Plan;
use quorum_model::record::{FindingRecord, PullRequestState, RecordStatus};
use quorum_model::result::ReviewResult;
use quorum_model::severity::Severity;
use quorum_report::{Report, markdown};
use quorum_scope::diff::{DiffError, PatchHunk, PatchReader};
use quorum_scope::request::PolicySource;
use quorum_scope::snapshot::Snapshot;
use quorum_store::ledger::round::Records;
use quorum_store::{Run, RunSummary};
use serde_json::json;

use crate::cli::{Cli, PostArgs};
use crate::decided_by::DecidedBy;
use crate::failure::Failure;
use crate::history::{self, Around};
use crate::kept::Kept;
use crate::policy::Policy;
use crate::rounds::{self, Round};
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
    let forge = rounds::connect(Some(&kept.repository), &config)?;
    if arguments.dry_run {
        forge.rehearse();
    }
    let account = match rounds::account(&*forge, &config) {
        Ok(account) => Ok(account),
        Err(error @ ForgeError::Unauthorized { .. }) => Err(PostError::Forge(error)),
        Err(error) => return Err(rounds::no_account(&error)),
    };
    let posting = Posting { forge: &*forge, kept: &kept, run: &run, recorded: &result };
    match account.and_then(|account| posting.post(arguments.pr, &account)) {
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

/// A run that is posted.
struct Posting<'a> {
    forge: &'a dyn Forge,
    kept: &'a Kept,
    run: &'a RunSummary,
    recorded: &'a ReviewResult,
}

impl Posting<'_> {
    fn post(&self, number: u64, account: &str) -> Result<String, PostError> {
        let forge = self.forge;
        let request = forge.pull_request(number)?;
        let plan = self.run.plan().map_err(Failure::from)?;
        refuse_moved(&request, plan.scope.head.as_deref(), self.run.id())?;
        let diff = forge.diff(number)?;
        let anchors = anchors(&diff.text)?;
        let posted = forge.posted(number, account)?;
        let round = rounds::read(forge, &posted);
        let (base, head) = (plan.scope.base.as_deref(), plan.scope.head.as_deref());
        let snapshot = Snapshot::between(&self.kept.repository, base, head);
        let around = Around::of(&snapshot);
        let result = self.settled(&plan, &round, &around)?;
        let text = around.text();
        let stands = stands(&result, &round.state, &mut Records::new(&text));
        let mut decision = decide(&stands, &anchors, &posted, Limits::of(forge.dialect()));
        if !decision.comments.is_empty() || posted.unpublished {
            for index in forge.comment(&request, &decision.comments)? {
                decision.refused(index);
            }
        }
        for amendment in &decision.amendments {
            forge.amend(&request, amendment)?;
        }
        let mut problems = posted.problems.clone();
        for settlement in &decision.settlements {
            match forge.settle(&request, settlement) {
                // The comment's text says what the discussion cannot.
                Err(
                    error @ (ForgeError::Forbidden { .. }
                    | ForgeError::NotFound { .. }
                    | ForgeError::Rejected { .. }),
                ) => {
                    problems.push(format!("discussions are neither closed nor opened: {error}"));
                    break;
                }
                other => other?,
            }
        }
        self.summarise(&request, &posted, &decision, &result, &plan)?;
        forge.light(&request, &light(&result))?;
        for problem in problems {
            output::notice(&problem);
        }
        Ok(account_of(&request, &posted, &decision))
    }

    /// The run's result, with the ids and states that the pull request gives its findings.
    fn settled(
        &self,
        plan: &Plan,
        round: &Round,
        around: &Around<'_>,
    ) -> Result<ReviewResult, Failure> {
        let decided_by = DecidedBy::load(self.run)?;
        let policy = decided_by.policy(plan.protocol, self.recorded.ignored_vetos.clone())?;
        let outcomes = self.run.outcomes()?;
        let gates = &self.recorded.gates;
        let mut result =
            history::settle_for(self.run, plan, round, around, &outcomes, &|outcomes, ruling| {
                let (run, agents) = (self.run.id(), &decided_by.agents);
                let policy = ruling.clone().into(policy.clone());
                Ok(conclude(&Input { run, plan, agents, outcomes, gates, policy })?)
            })?;
        result.notes.clone_from(&self.recorded.notes);
        Ok(result)
    }

    fn summarise(
        &self,
        request: &PullRequest,
        posted: &Posted,
        decision: &Decision,
        result: &ReviewResult,
        plan: &Plan,
    ) -> Result<(), ForgeError> {
        let report = Report::new(result, plan);
        let hint = if result.findings.is_empty() {
            String::new()
        } else {
            format!("\n\n<sub>Set a finding aside with a comment: `{DISMISS}`</sub>")
        };
        let pages = paginate(&decision.state, self.forge.dialect(), |room| {
            markdown::render_within(&report, room.saturating_sub(hint.len())) + &hint
        });
        if pages.forgotten > 0 {
            output::notice(&format!(
                "the pull request remembers all but {} findings, which get new ids next time",
                pages.forgotten
            ));
        }
        self.forge.summarise(request, posted.summary.as_ref(), &pages.summary)?;
        let mut known = posted.pages.iter();
        for page in &pages.more {
            self.forge.summarise(request, known.next(), page)?;
        }
        // A page that is not needed any more must not be remembered.
        for page in known {
            let empty = paginate(&PullRequestState::default(), self.forge.dialect(), |_| {
                "Quorum does not need this comment any more.".to_owned()
            });
            let text = empty
                .summary
                .replace(quorum_forge::post::SUMMARY_MARKER, quorum_forge::post::PAGE_MARKER);
            self.forge.summarise(request, Some(page), &text)?;
        }
        Ok(())
    }
}

/// Every finding that the review can say something about, with what is to be remembered of it.
fn stands<'a>(
    result: &'a ReviewResult,
    state: &PullRequestState,
    records: &mut Records<'_>,
) -> Vec<Stand<'a>> {
    let all = result.findings.iter().chain(&result.suppressed).chain(&result.history);
    let known = |id: &str| state.records.iter().find(|record| record.id == id);
    all.map(|finding| {
        let status = match finding.state {
            FindingState::New | FindingState::Persisting | FindingState::NotReviewed => {
                RecordStatus::Open
            }
            FindingState::Resolved => RecordStatus::Resolved,
            FindingState::Dismissed => RecordStatus::Dismissed,
            FindingState::Suppressed => RecordStatus::Suppressed,
        };
        // What this review did not find keeps the place where it was found.
        let record = match known(&finding.id).filter(|_| finding.evidence.is_empty()) {
            Some(record) => FindingRecord { status, ..record.clone() },
            None => records.of(finding, status),
        };
        Stand { finding, record }
    })
    .collect()
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

fn account_of(request: &PullRequest, posted: &Posted, decision: &Decision) -> String {
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
