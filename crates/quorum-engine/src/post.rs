//! A review on its pull or merge request: comments, one summary, a status.

use std::path::PathBuf;

use bstr::{BString, ByteSlice as _};
use jiff::Timestamp;
use quorum_consensus::{Input, decide as conclude};
use quorum_forge::post::{
    Anchors, Annotation, DISMISS, Decision, Light, Limits, Posted, Rehearsed, Stand, decide,
    paginate,
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

use crate::decided_by::DecidedBy;
use crate::environment::Environment;
use crate::error::{EngineError, ErrorCode};
use crate::history::{self, Around};
use crate::kept::Kept;
use crate::observer::{Observer, Progress};
use crate::policy::Policy;
use crate::rounds::{self, Round};
use crate::workspace;

/// Marks in the diff; more are noise, and the summary has all.
const MOST_ANNOTATIONS: usize = 100;

/// What came of posting a run.
#[derive(Debug)]
pub enum PostReport {
    /// What was written, in one line.
    Written(String),
    /// What would be written.
    Rehearsed(Vec<Rehearsed>),
    /// The token may not write, as in a job for a fork: what would be posted is in a file.
    KeptAsFile {
        /// What the host said.
        cause: String,
        /// The file.
        path: PathBuf,
    },
}

/// Writes the run that `name` means below the repository of `kept` to a pull or merge request.
pub fn post(
    kept: &Kept,
    name: &str,
    number: u64,
    dry_run: bool,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<PostReport, EngineError> {
    let run = Run::find(&kept.root, name)?;
    let Some(result) = run.result()? else {
        return Err(EngineError::unavailable(format!("run {} has no verdict yet", run.id()))
            .with_hint("`quorum resume` finishes it"));
    };
    let policy = Policy::new(Some(&kept.repository), PolicySource::WorkTree);
    let loaded = workspace::load(&policy, environment, Vec::new())?;
    if let Some(refused) = loaded.warning("forge.") {
        observer.observe(Progress::Notice(&refused));
    }
    let config = loaded.config.forge;
    let forge = rounds::connect(Some(&kept.repository), &config, environment)?;
    if dry_run {
        forge.rehearse();
    }
    let account = match rounds::account(&*forge, &config) {
        Ok(account) => Ok(account),
        Err(error @ ForgeError::Unauthorized { .. }) => Err(EngineError::Forge(error)),
        Err(error) => return Err(rounds::no_account(&error)),
    };
    let now = environment.clock.now();
    let posting = Posting { forge: &*forge, kept, run: &run, recorded: &result, observer, now };
    match account.and_then(|account| posting.post(number, &account)) {
        Ok(_) if dry_run => Ok(PostReport::Rehearsed(forge.rehearsed())),
        Ok(done) => Ok(PostReport::Written(done)),
        // A fork's job has no token that may write: what would be posted is kept as a file.
        Err(error) if may_not_write(&error) => {
            let plan = run.plan()?;
            let text = markdown::render(&Report::new(&result, &plan));
            let path = run.directory().join("comment.md");
            std::fs::write(&path, text)
                .map_err(|cause| EngineError::failed(format!("{}: {cause}", path.display())))?;
            Ok(PostReport::KeptAsFile { cause: error.to_string(), path })
        }
        Err(error) => Err(error),
    }
}

/// A run that is posted.
struct Posting<'a> {
    forge: &'a dyn Forge,
    kept: &'a Kept,
    run: &'a RunSummary,
    recorded: &'a ReviewResult,
    observer: &'a dyn Observer,
    now: Timestamp,
}

impl Posting<'_> {
    fn post(&self, number: u64, account: &str) -> Result<String, EngineError> {
        let forge = self.forge;
        let request = forge.pull_request(number)?;
        let plan = self.run.plan()?;
        refuse_moved(&request, plan.scope.head.as_deref(), self.run.id())?;
        let diff = forge.diff(number)?;
        let anchors = anchors(&diff.text)?;
        let posted = forge.posted(number, account)?;
        let round = rounds::read(forge, &posted);
        let (base, head) = (plan.scope.base.as_deref(), plan.scope.head.as_deref());
        let snapshot = Snapshot::between(&self.kept.repository, base, head);
        let around = Around::of(&snapshot, self.now);
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
            self.observer.observe(Progress::Notice(&problem));
        }
        Ok(account_of(&request, &posted, &decision))
    }

    /// The run's result, with the ids and states that the pull request gives its findings.
    fn settled(
        &self,
        plan: &Plan,
        round: &Round,
        around: &Around<'_>,
    ) -> Result<ReviewResult, EngineError> {
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
            let text = format!(
                "the pull request remembers all but {} findings, which get new ids next time",
                pages.forgotten
            );
            self.observer.observe(Progress::Notice(&text));
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
fn refuse_moved(
    request: &PullRequest,
    reviewed: Option<&str>,
    run: &str,
) -> Result<(), EngineError> {
    if reviewed.is_none_or(|head| head == request.head_sha) {
        return Ok(());
    }
    let head = request.head_sha.get(..12).unwrap_or(&request.head_sha);
    Err(EngineError::new(
        ErrorCode::Changed,
        format!("run {run} reviewed another commit than {head}"),
    )
    .with_hint(format!("`quorum review --pr {}` reviews the present one", request.number)))
}

fn anchors(diff: &[u8]) -> Result<Anchors, EngineError> {
    let mut anchors = Anchors::default();
    let unreadable = |error: DiffError| EngineError::failed(format!("the host's diff: {error}"));
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
    let word = result.verdict.as_str();
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

fn may_not_write(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Forge(ForgeError::Unauthorized { .. } | ForgeError::Forbidden { .. })
    )
}
