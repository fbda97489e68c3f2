//! Reviews that a host's own agents carry out: begun, reported to, and decided here.
//!
//! Everything is in the run's directory: a brief for each part in `tasks/`, what was reported in
//! `parts/`, accounts in `branches.json`. Nothing is kept in memory between two calls.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use quorum_dispatch::branch::BranchState;
use quorum_dispatch::llm::delegate::{self, Brief, Checked, Closing, Part, Submitted, Taken};
use quorum_engine::Begun;
use quorum_model::severity::Severity;
use quorum_store::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::arguments::SubmitFindings;
use crate::branches::{Branch, NewBranch, Session, Shelf, Task};
use crate::digest;
use crate::error::{Code, ToolError};
use crate::operations::{Metering, Operations};

/// Parts that an answer names; the file beside the briefs names all.
const MOST_NAMED: usize = 48;
/// The most findings of one call.
const MOST_FINDINGS: usize = 200;
/// Where the briefs are, in a run's directory.
const TASKS: &str = "tasks";
/// Where reports are.
const PARTS: &str = "parts";

/// A part with what its agent may still correct.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Report {
    part: Part,
    /// Findings that were refused once, by what tells them apart.
    #[serde(default)]
    refused: BTreeMap<String, String>,
    /// Whether it was asked for standing orders that it left out: that is done once.
    #[serde(default)]
    asked_for_sops: bool,
}

/// Writes the briefs of a review and makes a branch for each; returns what the host reads.
pub(crate) fn begin(root: &Path, begun: &Begun, metering: Metering) -> Result<String, ToolError> {
    let mut session = Session { session_id: begun.run.clone(), ..Session::default() };
    for folder in [TASKS, PARTS] {
        let folder = begun.directory.join(folder);
        quorum_store::private::folder(&folder).map_err(|error| failed(&folder, &error))?;
    }
    let named = hand_out(&mut session, &begun.directory, &begun.briefs, metering)?;
    Shelf::of_run(&begun.directory).change(|kept| {
        *kept = session;
        Ok(())
    })?;
    let Begun { run, files, tier, .. } = begun;
    let mut head = format!("Run {run}: {files} files, tier {tier}, {} parts.", named.len());
    if begun.unassigned > 0 {
        // Writing to a string cannot fail.
        _ = write!(head, " {} files are in no agent's domain.", begun.unassigned);
    }
    Ok(instruction(&head, run, &named, &shown(root, &begun.directory.join(TASKS))))
}

/// Writes a file for each brief and makes its branch; returns a line for each.
fn hand_out(
    session: &mut Session,
    directory: &Path,
    briefs: &[Brief],
    metering: Metering,
) -> Result<Vec<String>, ToolError> {
    let tasks = directory.join(TASKS);
    let mut named = Vec::new();
    for brief in briefs {
        let mine = |other: &&Brief| other.agent == brief.agent;
        let waves = briefs.iter().filter(mine).map(|other| other.wave).max().unwrap_or(1);
        let receipt = receipt();
        let task = Task {
            agent: brief.agent.clone(),
            wave: brief.wave,
            waves,
            receipt: receipt.clone(),
            sops: brief.sops.clone(),
            second: brief.second.clone(),
        };
        let description = format!("{} of run {}", brief.agent, session.session_id);
        let new = NewBranch {
            description: &description,
            parent: None,
            budget: brief.budget,
            deadline: None,
            task: Some(task),
        };
        let branch = session.create(new)?;
        let (id, node) = (branch.id.clone(), branch.node);
        session.forest.settle(node, 0, brief.tokens);
        let closing = Closing { branch: &id, receipt: &receipt, thresholds: metering.thresholds };
        let text = format!("{}\n\n{}\n", brief.text, delegate::closing(brief, closing));
        write_whole(&tasks.join(format!("{id}.md")), text.as_bytes())?;
        let place = if waves > 1 { format!(" {}/{waves}", brief.wave) } else { String::new() };
        named.push(format!("{id} {}{place}", brief.agent));
    }
    let all = named.join("\n") + "\n";
    write_whole(&tasks.join("README.md"), all.as_bytes())?;
    Ok(named)
}

/// What the host does with the parts of a round.
fn instruction(head: &str, run: &str, named: &[String], tasks: &str) -> String {
    let mut text = format!(
        "{head} For each line below start one sub-agent (its type is the agent's name, if you have \
         it) and tell it only: \"Read {tasks}/BRANCH.md to its end and do what it says.\" with the \
         line's branch. They report to Quorum; ask them for nothing. When all are back call \
         review_finish with run \"{run}\".\n"
    );
    for line in named.iter().take(MOST_NAMED) {
        _ = writeln!(text, "{line}");
    }
    if named.len() > MOST_NAMED {
        _ = writeln!(text, "… {} more: {tasks}/README.md", named.len() - MOST_NAMED);
    }
    text
}

/// Takes what one part reports.
pub(crate) fn submit(
    operations: &Operations,
    root: &Path,
    arguments: &SubmitFindings,
) -> Result<Value, ToolError> {
    if arguments.findings.len().max(arguments.reactions.len()) > MOST_FINDINGS {
        let text = format!("{MOST_FINDINGS} findings are taken at a time");
        return Err(ToolError::new(Code::TooLarge, text).with_hint("submit them in several calls"));
    }
    let id = &arguments.branch_id;
    let shelf = Shelf::of_branch(root, id)?;
    let session = shelf.read()?;
    let (branch, _) = session.working(id)?;
    let task = branch.task.clone().ok_or_else(|| {
        ToolError::new(Code::NotDelegated, format!("branch {id} is no part of a review"))
            .with_hint("`branch_return` takes what such a branch found")
    })?;
    let second = task.second.as_ref();
    if second.is_some_and(|second| second.ballot) && !arguments.findings.is_empty() {
        let text = "a ballot takes `reactions`, and no new findings";
        return Err(ToolError::new(Code::InvalidArgument, text));
    }
    let submitted = Submitted {
        agent: &task.agent,
        mode: branch.told,
        findings: &arguments.findings,
        sops: &arguments.sops,
        patterns: &arguments.patterns,
        reactions: (&arguments.reactions, second),
    };
    let Checked { findings, sops, patterns, reactions } =
        operations.take(root, &session.session_id, submitted)?;
    let reactions = reactions.map_err(|wrong| ToolError::new(Code::InvalidArgument, wrong))?;
    let file = shelf.directory().join(PARTS).join(format!("{id}.json"));
    // The session's lock also keeps two reports of one part apart.
    shelf.change(|session| {
        session.working(id)?;
        let mut report = read(&file)?;
        let (part, refused) = (&mut report.part, &mut report.refused);
        part.agent.clone_from(&task.agent);
        part.wave = task.wave;
        part.calls += 1;
        let read = arguments.receipt.as_deref().map(str::trim) == Some(task.receipt.as_str());
        part.read |= read;
        part.done |= arguments.done;
        part.sops.extend(sops);
        part.patterns.extend(patterns);
        part.reactions.extend(reactions);
        remark(part, arguments, &findings);
        let answers = sort(part, refused, &arguments.findings, findings);
        let correctable = answers.iter().any(|answer| answer["correct"] == true);
        let mut wanted = delegate::unanswered(&task.sops, &part.sops);
        if !part.done || std::mem::replace(&mut report.asked_for_sops, part.done) {
            wanted.clear();
        }
        write(&file, &report)?;
        if report.part.done && !correctable && wanted.is_empty() && report.part.read {
            end(session, id)?;
        }
        let mut answer = answer(&report, answers, id, shelf.directory(), root);
        if !wanted.is_empty() {
            answer["unanswered"] = json!(format!(
                "answer in `sops`, with evidence and for a violation the `quote` that shows it, for: {}",
                wanted.join(", ")
            ));
        }
        Ok(answer)
    })
}

/// What a call says beside its findings; counts include what the budget has no room for.
fn remark(part: &mut Part, arguments: &SubmitFindings, taken: &[Taken]) {
    let counted = |wanted: fn(Severity) -> bool| {
        let held = |taken: &&Taken| matches!(taken, Taken::Counted(severity) if wanted(*severity));
        taken.iter().filter(held).count() as u64
    };
    let medium = counted(|severity| severity == Severity::Medium) + arguments.skipped_medium;
    let low = counted(|severity| severity != Severity::Medium) + arguments.skipped_low;
    if medium + low > 0 {
        part.remarks.push(json!({ "skipped_medium": medium, "skipped_low": low }));
    }
}

/// Sorts findings into the part, and says what became of those that are not taken.
fn sort(
    part: &mut Part,
    refused: &mut BTreeMap<String, String>,
    reported: &[Value],
    taken: Vec<Taken>,
) -> Vec<Value> {
    let mut answers = Vec::new();
    for (index, (value, taken)) in reported.iter().zip(taken).enumerate() {
        let key = key(value);
        match taken {
            Taken::Recorded(finding) => {
                refused.remove(&key);
                if !part.findings.contains(&finding) {
                    part.findings.push(*finding);
                }
            }
            Taken::Counted(_) => answers.push(json!({
                "finding": index, "counted": "only CRITICAL and HIGH are recorded now",
            })),
            Taken::Refused { reason, detail } => {
                // The second refusal is the last.
                let again = refused.remove(&key).is_some();
                if again {
                    *part.rejected.entry(reason.to_owned()).or_default() += 1;
                } else {
                    refused.insert(key, reason.to_owned());
                }
                answers.push(json!({
                    "finding": index, "refused": reason, "detail": detail, "correct": !again,
                }));
            }
        }
    }
    answers
}

/// What tells one finding from another when it comes again with another quote.
fn key(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let place = [text("file"), text("location"), text("issue")].join("\n");
    blake3::hash(place.as_bytes()).to_hex()[..16].to_owned()
}

fn answer(report: &Report, answers: Vec<Value>, id: &str, directory: &Path, root: &Path) -> Value {
    let mut answer = json!({ "recorded": report.part.findings.len(), "done": report.part.done });
    if !report.part.reactions.is_empty() {
        answer["reactions"] = json!(report.part.reactions.len());
    }
    if !answers.is_empty() {
        answer["not_recorded"] = Value::Array(answers);
    }
    if !report.part.read {
        let brief = directory.join(TASKS).join(format!("{id}.md"));
        answer["unread"] = json!(format!(
            "nothing counts as reviewed yet: give the `receipt` that ends {}",
            shown(root, &brief)
        ));
    }
    answer
}

/// Ends a branch that was returned; findings that came with it are a last report.
fn end(session: &mut Session, id: &str) -> Result<(), ToolError> {
    let (branch, _) = session.working(id)?;
    let node = branch.node;
    Ok(session.forest.fold(node, BranchState::Completed)?)
}

/// Decides a review from what its parts reported, or asks for the second round that its protocol has.
pub(crate) fn finish(
    operations: &Operations,
    root: &Path,
    directory: &Path,
    run: &str,
) -> Result<String, ToolError> {
    let shelf = Shelf::of_run(directory);
    if !shelf.exists() {
        let text = format!("run {run} was not begun with review_begin");
        return Err(ToolError::new(Code::NotDelegated, text));
    }
    let session = shelf.read()?;
    let parts = parts(&session, directory)?;
    if !has_second_round(&session) {
        let briefs = operations.second_round(root, run, &parts)?;
        if !briefs.is_empty() {
            let metering = operations.metering(root)?;
            let named = shelf.change(|session| {
                if has_second_round(session) {
                    let text = format!("another call began the second round of run {run}");
                    return Err(ToolError::new(Code::Busy, text));
                }
                hand_out(session, directory, &briefs, metering)
            })?;
            let head = format!(
                "Run {run}, second round: reviewers judge each other's findings; nothing is decided \
                 yet."
            );
            return Ok(instruction(&head, run, &named, &shown(root, &directory.join(TASKS))));
        }
    }
    Ok(digest::of(&operations.finish(root, run, &parts)?))
}

fn has_second_round(session: &Session) -> bool {
    let tasks = session.branches.iter().filter_map(|branch| branch.task.as_ref());
    tasks.into_iter().any(|task| task.second.is_some())
}

/// What the branches gave. One that never reported gave nothing, unless it was only asked about
/// others' findings: that it says nothing of them is worth knowing.
fn parts(session: &Session, directory: &Path) -> Result<Vec<Part>, ToolError> {
    let mut parts = Vec::new();
    for branch in &session.branches {
        let Some(task) = &branch.task else { continue };
        let mut report = read(&directory.join(PARTS).join(format!("{}.json", branch.id)))?;
        if report.part.calls == 0 && task.second.is_none() {
            continue;
        }
        for reason in report.refused.into_values() {
            *report.part.rejected.entry(reason).or_default() += 1;
        }
        let account = session.node(branch)?.account;
        parts.push(Part {
            agent: task.agent.clone(),
            wave: task.wave,
            budget: account.budget,
            used: account.used,
            mode: Some(branch.told),
            ..report.part
        });
    }
    Ok(parts)
}

/// How many parts of a review are back.
pub(crate) fn standing(directory: &Path) -> Result<Option<(usize, usize)>, ToolError> {
    let shelf = Shelf::of_run(directory);
    if !shelf.exists() {
        return Ok(None);
    }
    let session = shelf.read()?;
    let done = |branch: &&Branch| {
        let file = directory.join(PARTS).join(format!("{}.json", branch.id));
        read(&file).is_ok_and(|report| report.part.done)
    };
    Ok(Some((session.branches.iter().filter(done).count(), session.branches.len())))
}

fn read(file: &Path) -> Result<Report, ToolError> {
    let Ok(text) = fs::read(file) else { return Ok(Report::default()) };
    serde_json::from_slice(&text).map_err(|cause| failed(file, &cause))
}

fn write(file: &Path, report: &Report) -> Result<(), ToolError> {
    let text = serde_json::to_vec(report).map_err(|cause| failed(file, &cause))?;
    Ok(write_whole(file, &text)?)
}

fn failed(path: &Path, cause: &dyn std::fmt::Display) -> ToolError {
    ToolError::new(Code::Failed, format!("{}: {cause}", path.display()))
}

/// A path from the root, as agents open it.
fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Not guessed, and short enough to be copied.
fn receipt() -> String {
    uuid::Uuid::now_v7().simple().to_string()[20..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Taken {
        Taken::Refused { reason: "quote_not_found", detail: "copy it".to_owned() }
    }

    #[test]
    fn a_refused_finding_may_be_corrected_once() {
        let (mut part, mut pending) = (Part::default(), BTreeMap::new());
        let value = json!({ "file": "a.rs", "issue": "i", "evidence": "x" });
        let reported = std::slice::from_ref(&value);
        let first = sort(&mut part, &mut pending, reported, vec![refused()]);
        assert_eq!(first[0]["correct"], true);
        assert!(part.rejected.is_empty());
        let second = sort(&mut part, &mut pending, reported, vec![refused()]);
        assert_eq!(second[0]["correct"], false);
        assert_eq!(part.rejected["quote_not_found"], 1);
        assert!(pending.is_empty());
    }

    #[test]
    fn what_the_budget_has_no_room_for_is_counted() {
        let mut part = Part::default();
        let arguments: SubmitFindings = serde_json::from_value(json!({
            "branch_id": "b", "findings": [], "skipped_low": 2,
        }))
        .unwrap();
        let taken = [Taken::Counted(Severity::Medium), Taken::Counted(Severity::Low)];
        remark(&mut part, &arguments, &taken);
        assert_eq!(part.remarks[0]["skipped_medium"], 1);
        assert_eq!(part.remarks[0]["skipped_low"], 3);
    }

    #[test]
    fn instructions_for_many_parts_stay_short() {
        let named: Vec<String> = (0..300).map(|n| format!("br_{n:08} go-reviewer")).collect();
        let text = instruction("Run r: 400 files.", "r", &named, "d/tasks");
        assert!(text.lines().count() <= MOST_NAMED + 2, "{text}");
        assert!(text.contains("252 more: d/tasks/README.md"), "{text}");
    }
}
