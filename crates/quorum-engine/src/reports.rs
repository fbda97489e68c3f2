//! A result with what its reader needs beside it: the code around each finding, and what happened
//! when.

mod timeline;

use std::collections::BTreeMap;

use quorum_model::finding::Finding;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_model::scope::{Scope, ScopeKind};
use quorum_report::{Excerpt, Report};
use quorum_scope::content::{Content, Contents, Revision};
use quorum_scope::repository::Repository;
use quorum_store::RunSummary;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

/// Lines of code on either side of a finding.
const CONTEXT: u64 = 3;

/// The report of a recorded result, with the code around its findings.
pub fn report<'a>(
    result: &'a ReviewResult,
    plan: &'a Plan,
    repository: Option<&Repository>,
    run: Option<&RunSummary>,
) -> Report<'a> {
    assemble(result, plan, excerpts(result, &plan.scope, repository), run)
}

/// The report of a result; `run` is where it is kept, if it is and what happened when is told.
pub(crate) fn assemble<'a>(
    result: &'a ReviewResult,
    plan: &'a Plan,
    excerpts: BTreeMap<String, Excerpt>,
    run: Option<&RunSummary>,
) -> Report<'a> {
    let timeline = run.map(|run| timeline::of(run, result, plan)).unwrap_or_default();
    Report {
        excerpts,
        events: timeline.events,
        started: timeline.started,
        ended: timeline.ended,
        ..Report::new(result, plan)
    }
}

/// The code around each finding, at the reviewed revision, with its secrets masked.
pub(crate) fn excerpts(
    result: &ReviewResult,
    scope: &Scope,
    repository: Option<&Repository>,
) -> BTreeMap<String, Excerpt> {
    let Some((repository, revision)) = repository.zip(revision(scope)) else {
        return BTreeMap::new();
    };
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
pub fn unmasked(finding: &Finding, scope: &Scope, repository: &Repository) -> Option<String> {
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
