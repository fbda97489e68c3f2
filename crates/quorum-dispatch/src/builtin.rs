//! The `builtin` engine: rules in code, offline.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::agent::Agent;
use quorum_model::budget::Mode;
use quorum_model::coverage::CoverageEngine;
use quorum_model::finding::{
    AgentFinding, SuppressedFinding, Suppression, SuppressionKind, SuppressionStatus,
};
use quorum_model::outcome::{
    AgentOutcome, Bounded, Covered, Depth, Message, OutcomeStatus, Reaction, Stance, Unreadable,
    Usage,
};
use quorum_model::plan::{Plan, PlannedAgent};
use quorum_model::report::CutoffReason;
use quorum_model::result::SopResult;
use quorum_model::unit::UnitKind;
use quorum_rules::{Limit, Note, Review, Suppressed};

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
    /// What rules looked at for agents whose work a model does.
    pub beside: Vec<AgentOutcome>,
}

/// How the files of a plan could be read.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// Files of which nothing could be read, each with the reason.
    pub unreadable: BTreeMap<String, String>,
    /// For each file the agents that have rules for it; the others search it for secrets, hidden
    /// characters and injections alone.
    pub rules: BTreeMap<String, BTreeSet<String>>,
}

impl Readings {
    fn has_rules(&self, agent: &str, path: &str) -> bool {
        self.rules.get(path).is_some_and(|agents| agents.contains(agent))
    }
}

/// What each agent of the plan that runs on this engine found, from one review of all files.
///
/// `readings` says of every file how it could be read: what nobody could read, no agent has seen.
pub fn outcomes(
    run: &str,
    plan: &Plan,
    mut review: Review,
    readings: &Readings,
    checks: &Checks<'_>,
) -> Reviewed {
    let unread: BTreeSet<String> = readings.unreadable.keys().cloned().collect();
    // A change does not lift an order by a comment that it brings.
    let brought = review.suppressed.iter().filter(|one| one.by_change);
    let judged: Vec<_> =
        review.findings.iter().chain(brought.map(|one| &one.finding)).cloned().collect();
    let answers = |agent: &PlannedAgent| checks.answers(agent, &judged, &unread);
    let mut sops: BTreeMap<String, Vec<SopResult>> =
        plan.agents.iter().map(|agent| (agent.name.clone(), answers(agent))).collect();
    let mut hints: BTreeMap<String, Vec<AgentFinding>> = BTreeMap::new();
    for hint in std::mem::take(&mut review.hints) {
        hints.entry(hint.agent.to_string()).or_default().push(hint.into());
    }
    let mut found: BTreeMap<String, Vec<AgentFinding>> = BTreeMap::new();
    for finding in std::mem::take(&mut review.findings) {
        found.entry(finding.agent.to_string()).or_default().push(finding.into());
    }
    let mut suppressed: BTreeMap<String, Vec<SuppressedFinding>> = BTreeMap::new();
    for one in std::mem::take(&mut review.suppressed) {
        suppressed.entry(one.finding.agent.to_string()).or_default().push(set_aside(one));
    }
    let agents = plan.agents.iter().filter(|agent| agent.engine == BUILTIN);
    let outcomes = agents
        .map(|agent| {
            let mut findings = found.remove(&agent.name).unwrap_or_default();
            if agent.depth == Depth::Read {
                findings.retain(|finding| finding.category == SECRETS);
            }
            let notes = notes_for(agent, &review.notes);
            let sops = sops.remove(&agent.name).unwrap_or_default();
            let mut suppressed = suppressed.remove(&agent.name).unwrap_or_default();
            if agent.depth == Depth::Read {
                suppressed.retain(|held| held.finding.category == SECRETS);
            }
            let seen = Seen { plan, readings, review: &review };
            outcome(run, agent, Found { findings, suppressed, notes, sops }, &seen)
        })
        .collect();
    Reviewed {
        outcomes,
        hints,
        violated: BTreeMap::new(),
        suppressed: BTreeMap::new(),
        beside: Vec::new(),
    }
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

/// The agent that searches every file for secrets, and the category of what it finds there.
const SECURITY: &str = "security-reviewer";
const SECRETS: &str = "secrets";

/// Adds to what a model did for an agent what rules looked at beside it: files that models are shown
/// the names of alone, and files outside its domain that were searched for secrets.
pub fn add_rules(outcome: &mut AgentOutcome, rules: &AgentOutcome, plan: &Plan) {
    let Some(planned) = plan.agents.iter().find(|agent| agent.name == outcome.agent) else {
        return;
    };
    let units = || planned.shards.iter().flat_map(|shard| &shard.units);
    let shown: BTreeSet<&str> =
        units().filter(|unit| unit.kind != UnitKind::Name).map(|unit| &*unit.path).collect();
    let is_for_rules = |path: &str| !shown.contains(path);
    outcome.covered.retain(|covered| !is_for_rules(&covered.path));
    let by_rules = rules.covered.iter().filter(|covered| is_for_rules(&covered.path));
    outcome.covered.extend(
        by_rules.cloned().map(|covered| Covered { by: Some(CoverageEngine::Rules), ..covered }),
    );
    outcome.covered.sort();
    let unreadable = rules.unreadable.iter().filter(|file| is_for_rules(&file.path));
    outcome.unreadable.extend(unreadable.cloned());
    let bounded = rules.bounded.iter().filter(|bounded| is_for_rules(&bounded.path));
    outcome.bounded.extend(bounded.cloned());
    outcome.not_compared.clone_from(&rules.not_compared);
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

/// The agent that compares dependencies with advisories.
const VULNERABILITY: &str = "vulnerability-reviewer";

/// Why a file could not be read that is there and should be text.
pub const UNLOADED: &str = "it could not be read";

/// What the rules have to say for one agent.
struct Found {
    findings: Vec<AgentFinding>,
    suppressed: Vec<SuppressedFinding>,
    notes: Vec<String>,
    sops: Vec<SopResult>,
}

/// What agents' rules were given.
struct Seen<'a> {
    plan: &'a Plan,
    readings: &'a Readings,
    review: &'a Review,
}

impl Seen<'_> {
    /// What `agent` looked at, and how closely. Whoever searches for secrets does so in every file.
    fn covered(&self, agent: &PlannedAgent) -> Vec<Covered> {
        let mut unparsed: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        for limited in self.review.limited.iter().filter(|l| l.limit == Limit::Unparsed) {
            unparsed.entry(&limited.file).or_default().extend(&limited.lines);
        }
        let own = agent.shards.iter().flat_map(|shard| &shard.units);
        let own = own.filter(|unit| !self.readings.unreadable.contains_key(&*unit.path));
        let mut covered: Vec<Covered> = Vec::new();
        for unit in own {
            let (path, first, last) = (&*unit.path, unit.start_line, unit.end_line);
            let lines = unparsed.get(path).filter(|_| unit.bytes.is_none());
            // Dependencies that were compared with nothing were not reviewed.
            let uncompared = agent.name == VULNERABILITY && self.review.not_compared.is_some();
            match lines {
                _ if uncompared || !self.readings.has_rules(&agent.name, path) => {
                    covered.push(Covered::read(path, first, last));
                }
                None => covered.push(Covered::reviewed(path, first, last)),
                Some(lines) => covered.extend(split(path, (first, last), lines)),
            }
        }
        if agent.name == SECURITY {
            let own: BTreeSet<&str> = agent.files.iter().map(String::as_str).collect();
            // Several parts of one long line have the same lines and all count, so that what one
            // agent was planned with is taken and not what all were.
            let mut searched: BTreeMap<&str, &str> = BTreeMap::new();
            for other in &self.plan.agents {
                for unit in other.shards.iter().flat_map(|shard| &shard.units) {
                    let path = &*unit.path;
                    let skipped = own.contains(path) || self.readings.unreadable.contains_key(path);
                    if !skipped && *searched.entry(path).or_insert(&other.name) == other.name {
                        covered.push(Covered::read(path, unit.start_line, unit.end_line));
                    }
                }
            }
            let planned: BTreeSet<&str> = covered.iter().map(|c| c.path.as_str()).collect();
            let unassigned = self.plan.unassigned.iter().filter(|path| {
                !planned.contains(path.as_str()) && !self.readings.unreadable.contains_key(*path)
            });
            let unassigned: Vec<Covered> =
                unassigned.map(|path| Covered::read(path.as_str(), 0, 0)).collect();
            covered.extend(unassigned);
        }
        covered.sort();
        covered
    }

    /// Lines of `agent`'s files that met a bound of rules that it has for them.
    fn bounded(&self, agent: &PlannedAgent) -> Vec<Bounded> {
        let files: BTreeSet<&str> = agent.files.iter().map(String::as_str).collect();
        let bounded = self.review.limited.iter().filter(|limited| {
            limited.limit == Limit::Bound
                && files.contains(limited.file.as_str())
                && self.readings.has_rules(&agent.name, &limited.file)
        });
        let bounded = bounded.map(|limited| Bounded {
            path: limited.file.clone(),
            lines: limited.lines.clone(),
            reason: limited.cause.clone(),
        });
        bounded.collect()
    }

    fn unreadable(&self, agent: &PlannedAgent) -> Vec<Unreadable> {
        let files = agent.files.iter();
        let unreadable = files.filter_map(|path| {
            let reason = self.readings.unreadable.get(path)?;
            Some(Unreadable { path: path.clone(), reason: reason.clone() })
        });
        unreadable.collect()
    }
}

/// The lines of a unit, those that no parser could read apart from the others.
fn split(path: &str, (first, last): (u64, u64), unparsed: &[(u64, u64)]) -> Vec<Covered> {
    let mut covered = Vec::new();
    let mut from = first;
    let mut sorted = unparsed.to_vec();
    sorted.sort_unstable();
    for (start, end) in sorted {
        let (start, end) = (start.max(from), end.min(last));
        if start > end {
            continue;
        }
        if start > from {
            covered.push(Covered::reviewed(path, from, start - 1));
        }
        covered.push(Covered::read(path, start, end));
        from = end + 1;
    }
    if from <= last {
        covered.push(Covered::reviewed(path, from, last));
    }
    covered
}

fn outcome(run: &str, agent: &PlannedAgent, found: Found, seen: &Seen<'_>) -> AgentOutcome {
    let known = quorum_rules::AGENTS.contains(&agent.name.as_str());
    let covered = if known { seen.covered(agent) } else { Vec::new() };
    let unreadable = seen.unreadable(agent);
    // What no reviewer could ever read is its own fact, and no failure of this one.
    let missed = unreadable.iter().any(|file| file.reason == UNLOADED);
    let (status, error) = if !known {
        let error = format!(
            "the builtin engine has no rules for {}; give it a provider (`--provider`)",
            agent.name
        );
        (OutcomeStatus::Failed, Some(error))
    } else if !missed {
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
        bounded: if known { seen.bounded(agent) } else { Vec::new() },
        unreadable,
        not_compared: seen.review.not_compared.clone().filter(|_| agent.name == VULNERABILITY),
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
