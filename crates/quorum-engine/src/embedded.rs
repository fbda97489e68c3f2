//! The embedded reviewers on the files of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use quorum_advisories::Database;
use quorum_dispatch::sops::Checks;
use quorum_dispatch::{BUILTIN, Readings, Reviewed, UNLOADED};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::SopStatus;
use quorum_model::scope::{Change, FileEntry, Flag};
use quorum_plan::sop::Sop;
use quorum_rules::{LineSet, RuleSet, Side, SourceFile, Sources};
use quorum_scope::content::{Content, Contents};
use quorum_scope::files::RawFile;
use quorum_scope::snapshot::Snapshot;
use quorum_scope::versions;

use crate::advisories;
use crate::error::EngineError;
use crate::observer::{Observer, Progress, Stage};
use crate::workspace::Workspace;

/// Reviews the files of `plan`, which `files` are in the same order, with the embedded rules.
pub(crate) fn review(
    run: &str,
    plan: &Plan,
    files: &[RawFile],
    workspace: &Workspace,
    sops: &[Sop],
    observer: &dyn Observer,
) -> Result<Reviewed, EngineError> {
    let team = workspace.policy().rules()?;
    let own;
    let rules = if team.is_empty() {
        RuleSet::embedded()
    } else {
        own = RuleSet::with_team(&team)?;
        &own
    };
    let repository = workspace.repository.as_ref();
    let contents = Contents::new(repository);
    let around = Around {
        snapshot: workspace.snapshot(),
        advisories: advisories::open(&workspace.environment)?,
    };
    let readings = Mutex::new(Readings::default());
    let checks = Checks::new(sops, |id| rules.get(id).is_some())?;
    let unreadable = |entry: &FileEntry, reason: &str| {
        // What a worker that panicked noted still holds: without it a file that nobody could read
        // would count as one that was read.
        let mut readings = readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings.unreadable.insert(entry.path.to_string(), reason.to_owned());
    };
    let load = |number: usize| {
        let (entry, raw) = (plan.scope.files.get(number)?, files.get(number)?);
        observer.observe(Progress::FileDone { stage: Stage::Reviewing });
        if entry.has(Flag::Unreadable) {
            let why = entry.flag_reasons.get(&Flag::Unreadable);
            unreadable(entry, why.map_or(NO_TEXT, String::as_str));
        }
        match contents.read(raw) {
            Ok(Content::Unreadable(_)) | Err(_) => {
                if !entry.has(Flag::Unreadable) {
                    unreadable(entry, UNLOADED);
                }
                None
            }
            Ok(content) => {
                let source = source(entry, raw, content);
                match &source {
                    None if is_opaque(entry) => unreadable(entry, NO_TEXT),
                    None => {}
                    Some(source) => {
                        checks.look(source);
                        let known = reviewers(rules, plan, source);
                        let mut readings = readings.lock().unwrap_or_else(PoisonError::into_inner);
                        readings.rules.insert(entry.path.to_string(), known);
                    }
                }
                source
            }
        }
    };
    let review = quorum_rules::review_with(rules, files.len(), &load, &around);
    let readings = readings.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut reviewed = quorum_dispatch::outcomes(run, plan, review, &readings, &checks);
    judge_suppressions(&mut reviewed.outcomes, plan, workspace);
    Ok(reviewed)
}

/// Comments of which git is asked who wrote them.
const MOST_AUTHORS: usize = 50;

/// Says who wrote the comments that suppress findings, and keeps those of the change itself from
/// lifting a veto, unless policy lets them.
fn judge_suppressions(outcomes: &mut [AgentOutcome], plan: &Plan, workspace: &Workspace) {
    let head = workspace.target.head.as_deref();
    let suppressed = outcomes.iter_mut().flat_map(|outcome| &mut outcome.suppressed);
    for held in suppressed.take(MOST_AUTHORS) {
        let repository = workspace.repository.as_ref();
        let place = held.suppression.place.rsplit_once(':');
        let author = repository.zip(place).and_then(|(repository, (path, line))| {
            repository.line_author(head, path, line.parse().ok()?)
        });
        held.suppression.author = author;
    }
    if workspace.loaded.config.suppressions.allow_new_vetoes {
        return;
    }
    let may_veto = |name: &str| plan.agents.iter().any(|agent| agent.name == name && agent.veto);
    let members = workspace.roster.members();
    quorum_dispatch::hold_vetoes(outcomes, &|name, finding| {
        let member = members.iter().find(|member| member.agent.name == name);
        may_veto(name)
            && member.is_some_and(|member| quorum_consensus::is_veto(&member.agent, finding))
    });
}

/// Why a file is there that nobody can read.
const NO_TEXT: &str = "it is not text";

/// Whether there is something in the file that nobody can read. A file that is gone has nothing, and
/// all that there is of a link or another repository is its name.
fn is_opaque(entry: &FileEntry) -> bool {
    let is_text = !entry.has(Flag::Binary) && !entry.has(Flag::Media);
    !is_text && entry.change != Change::Deleted && !entry.has(Flag::Unreadable)
}

/// The agents of the plan that have rules for a file.
fn reviewers(rules: &RuleSet, plan: &Plan, source: &SourceFile) -> BTreeSet<String> {
    let text = source.head.as_deref().or(source.base.as_deref());
    let agents = plan.agents.iter().map(|agent| &agent.name);
    agents
        .filter(|agent| quorum_rules::has_rules_for(rules, agent, &source.entry, text))
        .cloned()
        .collect()
}

/// What the embedded rules found for each agent, whatever does its work: outcomes of those that rules
/// do the work of, and findings for the others.
pub(crate) fn review_all(
    run: &str,
    plan: &Plan,
    files: &[RawFile],
    workspace: &Workspace,
    sops: &[Sop],
    observer: &dyn Observer,
) -> Result<(Reviewed, BTreeMap<String, Vec<AgentFinding>>), EngineError> {
    let mut by_rules = plan.clone();
    for agent in &mut by_rules.agents {
        BUILTIN.clone_into(&mut agent.engine);
    }
    let reviewed = review(run, &by_rules, files, workspace, sops, observer)?;
    let is_builtin = |outcome: &AgentOutcome| {
        plan.agents.iter().any(|agent| agent.name == outcome.agent && agent.engine == BUILTIN)
    };
    let (outcomes, beside): (Vec<_>, Vec<_>) = reviewed.outcomes.into_iter().partition(is_builtin);
    let violated = |outcome: &AgentOutcome| {
        let violated = outcome.sops.iter().filter(|sop| sop.status == SopStatus::Violated);
        (outcome.agent.clone(), violated.cloned().collect())
    };
    let violated = beside.iter().map(violated).collect();
    let held = |outcome: &AgentOutcome| (outcome.agent.clone(), outcome.suppressed.clone());
    let suppressed = beside.iter().map(held).collect();
    let mut beside = beside;
    let take =
        |outcome: &mut AgentOutcome| (outcome.agent.clone(), std::mem::take(&mut outcome.findings));
    let found = beside.iter_mut().map(take).collect();
    Ok((Reviewed { outcomes, hints: reviewed.hints, violated, suppressed, beside }, found))
}

/// The file as the rules read it; absent where there is no text.
fn source(entry: &FileEntry, raw: &RawFile, content: Content) -> Option<SourceFile> {
    let no_text = [Flag::Binary, Flag::Symlink, Flag::Submodule];
    if entry.flags.iter().any(|flag| no_text.contains(flag)) {
        return None;
    }
    let versions = versions::of(raw, content);
    let text = |bytes: Vec<u8>| Arc::<str>::from(String::from_utf8_lossy(&bytes));
    Some(SourceFile {
        entry: entry.clone(),
        head: versions.head.map(text),
        base: versions.base.map(text),
        added: versions.added.map(LineSet::from_ranges),
        removed: LineSet::from_ranges(versions.removed),
    })
}

/// The repository around the change.
struct Around<'a> {
    snapshot: &'a Snapshot,
    advisories: Option<Database>,
}

impl Sources for Around<'_> {
    fn read(&self, path: &str, side: Side) -> Option<Arc<str>> {
        match side {
            Side::Head => self.snapshot.head(path),
            Side::Base => self.snapshot.base(path),
        }
    }

    fn paths(&self) -> &[String] {
        self.snapshot.paths()
    }

    fn advisories(&self) -> Option<&Database> {
        self.advisories.as_ref()
    }
}
