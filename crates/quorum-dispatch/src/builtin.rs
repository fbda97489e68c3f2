//! The `builtin` engine: rules in code, offline.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::agent::Agent;
use quorum_model::budget::Mode;
use quorum_model::finding::{
    AgentFinding, SuppressedFinding, Suppression, SuppressionKind, SuppressionStatus,
};
use quorum_model::outcome::{
    AgentOutcome, Covered, Message, OutcomeStatus, Reaction, Stance, Usage,
};
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::report::CutoffReason;
use quorum_model::result::SopResult;
use quorum_rules::{Note, Review, Suppressed};

use crate::sops::Checks;

/// The engine's name in plans and results.
pub const BUILTIN: &str = "builtin";

/// What the embedded reviewers of a plan returned.
#[derive(Debug, Default)]
pub struct Reviewed {
    /// What each agent found.
    pub outcomes: Vec<AgentOutcome>,
    /// What each agent noticed and is not sure enough of to report, by its name.
    pub hints: BTreeMap<String, Vec<AgentFinding>>,
    /// SOPs that checks found violated, for agents whose work a model does.
    pub violated: BTreeMap<String, Vec<SopResult>>,
    /// What comments in the code suppress, for agents whose work a model does.
    pub suppressed: BTreeMap<String, Vec<SuppressedFinding>>,
}

/// What each agent of the plan that runs on this engine found, from one review of all files.
///
/// `unread` are files that could not be loaded: no agent has seen them.
pub fn outcomes(
    run: &str,
    plan: &Plan,
    review: Review,
    unread: &BTreeSet<String>,
    checks: &Checks<'_>,
) -> Reviewed {
    // A change does not lift an order by a comment that it brings.
    let brought = review.suppressed.iter().filter(|one| one.by_change);
    let judged: Vec<_> =
        review.findings.iter().chain(brought.map(|one| &one.finding)).cloned().collect();
    let answers = |agent: &PlannedAgent| checks.answers(agent, &judged, unread);
    let mut sops: BTreeMap<String, Vec<SopResult>> =
        plan.agents.iter().map(|agent| (agent.name.clone(), answers(agent))).collect();
    let mut hints: BTreeMap<String, Vec<AgentFinding>> = BTreeMap::new();
    for hint in review.hints {
        hints.entry(hint.agent.to_string()).or_default().push(hint.into());
    }
    let mut found: BTreeMap<String, Vec<AgentFinding>> = BTreeMap::new();
    for finding in review.findings {
        found.entry(finding.agent.to_string()).or_default().push(finding.into());
    }
    let mut suppressed: BTreeMap<String, Vec<SuppressedFinding>> = BTreeMap::new();
    for one in review.suppressed {
        suppressed.entry(one.finding.agent.to_string()).or_default().push(set_aside(one));
    }
    let agents = plan.agents.iter().filter(|agent| agent.engine == BUILTIN);
    let outcomes = agents
        .map(|agent| {
            let findings = found.remove(&agent.name).unwrap_or_default();
            let notes = notes_for(agent, &review.notes);
            let sops = sops.remove(&agent.name).unwrap_or_default();
            let suppressed = suppressed.remove(&agent.name).unwrap_or_default();
            outcome(run, agent, Found { findings, suppressed, notes, sops }, unread)
        })
        .collect();
    Reviewed { outcomes, hints, violated: BTreeMap::new(), suppressed: BTreeMap::new() }
}

/// What a comment suppresses, in the form of documents. Who wrote it is not known here.
fn set_aside(one: Suppressed) -> SuppressedFinding {
    let suppression = Suppression {
        kind: SuppressionKind::InSource,
        status: SuppressionStatus::Accepted,
        reason: one.reason,
        author: None,
        place: format!("{}:{}", one.finding.file, one.line),
        by_change: one.by_change,
    };
    SuppressedFinding { finding: one.finding.into(), suppression }
}

/// Puts back what a comment of the change itself would take from the verdict though it is a veto.
/// It stays listed as suppressed, under review.
pub fn hold_vetoes(outcomes: &mut [AgentOutcome], is_veto: &dyn Fn(&str, &AgentFinding) -> bool) {
    for outcome in outcomes {
        for held in &mut outcome.suppressed {
            if held.suppression.by_change && is_veto(&outcome.agent, &held.finding) {
                held.suppression.status = SuppressionStatus::UnderReview;
                outcome.findings.push(held.finding.clone());
            }
        }
    }
}

/// What was noted about an agent's files, files of which the same is true together.
fn notes_for(agent: &PlannedAgent, notes: &[Note]) -> Vec<String> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for note in notes {
        let is_owner = note.agent.is_none_or(|owner| owner == agent.name);
        if is_owner && agent.files.contains(&note.file) {
            files.entry(&note.cause).or_default().push(&note.file);
        }
    }
    let saying = |(cause, files): (&str, Vec<&str>)| match files.as_slice() {
        [file] => format!("{file}: {cause}"),
        files => format!("{cause}: {}", files.join(", ")),
    };
    files.into_iter().map(saying).collect()
}

/// How far apart two rules may point for one place, in lines.
const NEAR: u64 = 2;

/// What an embedded reviewer says about its peers' findings: it confirms what its own analysis of
/// the place shows as well, with its own evidence; it disputes what is in its competence and it
/// does not see; and about the rest it says nothing.
pub fn react(
    agent: &Agent,
    messages: &[Message],
    outcomes: &[AgentOutcome],
    hints: &[AgentFinding],
) -> Vec<Reaction> {
    let own = outcomes.iter().filter(|outcome| outcome.agent == agent.name);
    let own: Vec<&AgentFinding> = own.flat_map(|outcome| &outcome.findings).chain(hints).collect();
    let peers: Vec<&AgentFinding> = outcomes
        .iter()
        .filter(|outcome| outcome.agent != agent.name)
        .flat_map(|outcome| &outcome.findings)
        .collect();
    let mut reactions = Vec::new();
    for message in messages.iter().filter(|message| !message.own) {
        let at_place = |finding: &AgentFinding| {
            let (file, line) = finding.place().unwrap_or_default();
            file == message.file && line.is_some_and(|line| line.abs_diff(message.line) <= NEAR)
        };
        let Some(peer) = peers.iter().find(|peer| at_place(peer)) else { continue };
        let alike = |mine: &AgentFinding| {
            mine.category == peer.category || (mine.cwe.is_some() && mine.cwe == peer.cwe)
        };
        let mine = own.iter().find(|mine| at_place(mine) && alike(mine));
        let (stance, evidence) = match mine {
            Some(mine) => (Stance::Confirm, mine.evidence.clone()),
            None if agent.categories.contains(&peer.category) => (Stance::Dispute, None),
            None => continue,
        };
        let fingerprint = message.fingerprint.clone();
        reactions.push(Reaction { fingerprint, stance, evidence, severity: None, reason: None });
    }
    reactions
}

/// What the rules have to say for one agent.
struct Found {
    findings: Vec<AgentFinding>,
    suppressed: Vec<SuppressedFinding>,
    notes: Vec<String>,
    sops: Vec<SopResult>,
}

fn outcome(
    run: &str,
    agent: &PlannedAgent,
    found: Found,
    unread: &BTreeSet<String>,
) -> AgentOutcome {
    let known = quorum_rules::AGENTS.contains(&agent.name.as_str());
    let units = agent.shards.iter().flat_map(|shard| &shard.units);
    let (seen, missed): (Vec<_>, Vec<_>) =
        units.partition(|unit| known && !unread.contains(unit.path.as_ref()));
    let mut covered: Vec<Covered> = seen
        .into_iter()
        .map(|unit| Covered::reviewed(&*unit.path, unit.start_line, unit.end_line))
        .collect();
    covered.sort();
    let (status, error) = if !known {
        let error = format!(
            "the builtin engine has no rules for {}; give it a provider (`--provider`)",
            agent.name
        );
        (OutcomeStatus::Failed, Some(error))
    } else if missed.is_empty() {
        (OutcomeStatus::Completed, None)
    } else {
        (OutcomeStatus::Partial, Some("some files could not be read".to_owned()))
    };
    AgentOutcome {
        run: run.to_owned(),
        agent: agent.name.clone(),
        engine: BUILTIN.to_owned(),
        model: None,
        status,
        cutoff_reason: error.is_some().then_some(CutoffReason::Error),
        error,
        mode: Mode::FullAnalysis,
        // Rules cost no tokens: the budget is there and none of it is used.
        usage: Usage { budget: agent.budget, ..Usage::default() },
        covered,
        bounded: Vec::new(),
        unreadable: Vec::new(),
        not_compared: None,
        findings: found.findings,
        suppressed: found.suppressed,
        skipped: None,
        rejected: BTreeMap::new(),
        reactions: Vec::new(),
        sops: found.sops,
        patterns: Vec::new(),
        notes: found.notes,
    }
}
