//! The way from reports to a result.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::SCHEMA_VERSION;
use quorum_model::agent::Agent;
use quorum_model::budget::Mode;
use quorum_model::finding::Finding;
use quorum_model::gate::GateResult;
use quorum_model::outcome::{AgentOutcome, OutcomeStatus};
use quorum_model::plan::{Plan, Protocol};
use quorum_model::result::{AgentExecution, Execution, ReviewResult, SkippedCounts};
use quorum_model::severity::{Counts, Severity};
use serde::{Deserialize, Serialize};

use crate::cluster::Remark;
use crate::coverage::Covers;
use crate::error::ConsensusError;
use crate::findings::{self, Cluster, Ids};
use crate::grounded::check_grounded;
use crate::quorum::Quorum;
use crate::seat::{self, Seat};
use crate::sighting::{self, Sighting};
use crate::verdict::{self, Facts, Opinion};
use crate::{cluster, links, reactions, refute, sops, vote, who};

/// What a decision is made from. A recorded run holds all of it.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// The run; reports of another are not counted.
    pub run: &'a str,
    /// What was decided before anything was sent.
    pub plan: &'a Plan,
    /// The selected agents' definitions, for their veto criteria and limits.
    pub agents: &'a [Agent],
    /// What the agents returned, in any order.
    pub outcomes: &'a [AgentOutcome],
    /// The checks that ran before them.
    pub gates: &'a [GateResult],
    /// What the user and the team decided beforehand.
    pub policy: Policy,
}

/// What the user and the team decided beforehand.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// How findings become a verdict.
    pub protocol: Protocol,
    /// The least severity that fails a review; none where only vetoes do.
    pub fail_on: Option<Severity>,
    /// Any finding fails a review, and what was only read leaves it incomplete.
    pub strict: bool,
    /// What was only read leaves a review incomplete.
    pub require_reviewed: bool,
    /// Why vetoes are ignored, where they are.
    pub ignore_vetos: Option<String>,
    /// How many agents must finish.
    pub quorum: Quorum,
    /// Findings that people set aside, by fingerprint: they are left out of everything.
    pub aside: BTreeSet<String>,
    /// Ids that findings have from earlier reviews.
    pub names: Names,
}

/// Ids that findings have from earlier reviews of the same pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The id of a finding, by its fingerprint.
    pub ids: BTreeMap<String, String>,
    /// The last number that was given with each prefix: an id never means two things.
    pub last: BTreeMap<String, u64>,
}

impl Policy {
    /// The least severity that fails a review.
    pub(crate) fn least_failing(&self) -> Option<Severity> {
        if self.strict { Some(Severity::Low) } else { self.fail_on }
    }

    /// Whether neither findings nor vetoes fail a review.
    pub(crate) fn lifts_all(&self) -> bool {
        self.least_failing().is_none()
    }

    /// Whether what was only read leaves a review incomplete.
    pub(crate) fn needs_review(&self) -> bool {
        self.strict || self.require_reviewed
    }
}

/// What the agents returned, clustered, before anything is decided.
#[derive(Debug)]
pub(crate) struct Deliberation<'a> {
    pub(crate) seats: Vec<Seat<'a>>,
    strangers: Vec<&'a AgentOutcome>,
    pub(crate) covers: Covers<'a>,
    /// In canonical order.
    pub(crate) clusters: Vec<Cluster<'a>>,
    /// What comments in the code suppress, in canonical order.
    suppressed: Vec<Cluster<'a>>,
}

impl<'a> Deliberation<'a> {
    pub(crate) fn open(input: &Input<'a>) -> Result<Self, ConsensusError> {
        let (seats, strangers) = seat::fill(input)?;
        let covers = Covers::compute(input.plan, &seats);
        let sightings = sighting::collect(&seats, &covers);
        // They are told apart only now, so that equal code is counted once for both.
        let (suppressed, open): (Vec<_>, Vec<_>) =
            sightings.into_iter().partition(Sighting::is_suppressed);
        let mut clusters = Self::clusters(&open);
        let count = clusters.len();
        clusters.extend(Self::clusters(&suppressed));
        findings::distinguish(&mut clusters);
        let suppressed = clusters.split_off(count);
        Ok(Self { seats, strangers, covers, clusters, suppressed })
    }

    fn clusters(sightings: &[Sighting<'a>]) -> Vec<Cluster<'a>> {
        let remarks: Vec<Remark<'_>> = sightings.iter().map(Sighting::remark).collect();
        let groups = cluster::group(&remarks, cluster::ALIKE);
        let members = |group: Vec<usize>| group.into_iter().map(|i| sightings[i].clone()).collect();
        let mut clusters: Vec<Cluster<'a>> =
            groups.into_iter().map(|group| Cluster::of(members(group))).collect();
        clusters.sort_by(|a, b| a.leader().canonical(b.leader()));
        clusters
    }
}

/// What the agents returned, with everything that they said about each other taken into account.
struct Weighed<'a> {
    seats: Vec<Seat<'a>>,
    strangers: Vec<&'a AgentOutcome>,
    covers: Covers<'a>,
    /// How many findings their authors took back.
    withdrawn: u64,
    findings: Vec<(Finding, Cluster<'a>)>,
    not_agreed: Vec<(Finding, Cluster<'a>)>,
    suppressed: Vec<Finding>,
    /// What follows for each seat.
    opinions: Vec<Opinion>,
}

impl<'a> Weighed<'a> {
    fn of(input: &Input<'a>) -> Result<Self, ConsensusError> {
        let policy = &input.policy;
        let Deliberation { seats, strangers, covers, mut clusters, suppressed } =
            Deliberation::open(input)?;
        let withdrawn = reactions::apply(&mut clusters, policy.protocol, &seats, &covers);
        // Only now: fingerprints tell equal code apart by its order in the file, and that order must
        // not change with what is set aside.
        clusters.retain(|cluster| !policy.aside.contains(&cluster.fingerprint));
        let mut ids = Ids::after(&policy.names);
        let mut findings = findings::build(clusters, &seats, &covers, &mut ids);
        let suppressed = findings::build(suppressed, &seats, &covers, &mut ids);
        let suppressed = suppressed.into_iter().map(|(finding, _)| finding).collect();
        links::connect(&mut findings.iter_mut().map(|(finding, _)| finding).collect::<Vec<_>>());
        let (findings, not_agreed): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|(_, cluster)| {
                let outvoted =
                    policy.protocol == Protocol::Vote && !vote::agreed(cluster, &seats, &covers);
                !outvoted && !cluster.is_refuted(&seats)
            });
        let opinions: Vec<Opinion> = seats
            .iter()
            .enumerate()
            .map(|(index, seat)| verdict::of_agent(index, seat, &findings))
            .collect();
        Ok(Self { seats, strangers, covers, withdrawn, findings, not_agreed, suppressed, opinions })
    }
}

/// The findings that stand between a change and its approval: those behind a veto, and those that
/// fail a review.
pub fn blocking(input: &Input<'_>) -> Result<Vec<Finding>, ConsensusError> {
    let Weighed { findings, opinions, .. } = Weighed::of(input)?;
    let limit = input.policy.least_failing();
    let blocks = |finding: &Finding| {
        limit.is_some_and(|limit| finding.severity >= limit)
            || opinions.iter().any(|opinion| opinion.vetoed.contains(&finding.id))
    };
    Ok(findings.into_iter().map(|(finding, _)| finding).filter(blocks).collect())
}

/// Decides a review.
pub fn decide(input: &Input<'_>) -> Result<ReviewResult, ConsensusError> {
    let policy = &input.policy;
    if policy.ignore_vetos.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        return Err(ConsensusError::NoReason);
    }
    let Weighed { seats, strangers, covers, withdrawn, findings, not_agreed, suppressed, opinions } =
        Weighed::of(input)?;
    let sops = sops::merge(input.plan, &seats);
    let reviewed_by = who::looked(&seats);
    let unanswered = sops::unanswered(&seats);
    let (verdict, reasons) = verdict::overall(&Facts {
        reviewed_by: &reviewed_by,
        unanswered: &unanswered,
        plan: input.plan,
        policy,
        seats: &seats,
        covers: &covers,
        opinions: &opinions,
        findings: &findings,
        gates: input.gates,
        sops: &sops,
    });
    let agents = seats.iter().enumerate().zip(opinions);
    let agents =
        agents.map(|((index, seat), opinion)| execution(index, seat, opinion, &covers, &findings));
    let mut rejected = rejected(&seats);
    if withdrawn > 0 {
        *rejected.entry("withdrawn by its author".to_owned()).or_default() += withdrawn;
    }
    let agents: Vec<AgentExecution> = agents.collect();
    let mut result = ReviewResult {
        schema_version: SCHEMA_VERSION,
        run: input.run.to_owned(),
        verdict,
        exit_code: verdict.exit_code(),
        reasons,
        reviewed_by,
        scope: input.plan.scope.label.clone(),
        protocol: policy.protocol,
        ignored_vetos: policy.ignore_vetos.clone(),
        notes: notes(&seats, &agents, &strangers, input.run)
            .into_iter()
            .chain(sops::notes(&sops))
            // What the scope leaves out is as much a part of the answer as what was found.
            .chain(input.plan.warnings.iter().cloned())
            .chain(findings.iter().filter_map(|(finding, _)| after_the_merge(finding)))
            .chain(verdict::remarks(input.plan, &covers))
            .collect(),
        execution: Execution { agents },
        coverage: covers.matrix(input.plan, &seats),
        findings: findings.into_iter().map(|(finding, _)| finding).collect(),
        not_agreed: not_agreed.into_iter().map(|(finding, _)| finding).collect(),
        history: Vec::new(),
        suppressed,
        rejected,
        gates: input.gates.to_vec(),
        sops,
        delivery: Vec::new(),
    };
    refute::mark(&mut result.findings, input.gates);
    refute::mark(&mut result.not_agreed, input.gates);
    check_grounded(&result, input.outcomes)?;
    Ok(result)
}

fn execution(
    index: usize,
    seat: &Seat<'_>,
    opinion: Opinion,
    covers: &Covers<'_>,
    findings: &[(Finding, Cluster<'_>)],
) -> AgentExecution {
    let shares = covers.of_seat(index, seat.planned);
    let rest = shares.rest;
    let outcome = seat.outcome;
    let usage = outcome.map(|outcome| outcome.usage).unwrap_or_default();
    let own = findings.iter().flat_map(|(_, cluster)| &cluster.members);
    let own = own.filter(|member| member.seat == index);
    AgentExecution {
        name: seat.name().to_owned(),
        title: seat.title(),
        verdict: opinion.verdict,
        engine: outcome.map_or(&seat.planned.engine, |outcome| &outcome.engine).clone(),
        model: outcome.map_or(&seat.planned.model, |outcome| &outcome.model).clone(),
        partial: !rest.is_empty()
            || outcome.is_some_and(|outcome| outcome.status == OutcomeStatus::Partial),
        cutoff_reason: outcome.and_then(|outcome| outcome.cutoff_reason),
        error: seat.unfinished(),
        mode: outcome.map_or(Mode::FullAnalysis, |outcome| outcome.mode),
        budget: if usage.budget > 0 { usage.budget } else { seat.planned.budget },
        budget_used: usage.budget_used,
        tokens: usage.tokens,
        usd: usage.usd,
        calls: usage.calls,
        files_reviewed: shares.reviewed,
        files_read: shares.read,
        files_skipped: rest.len() as u64,
        skipped_files: rest.into_iter().map(str::to_owned).collect(),
        veto_reasons: opinion.vetoes,
        counts: Counts::of(own.map(|member| member.severity)),
        skipped: skipped(outcome),
        not_compared: outcome.and_then(|outcome| outcome.not_compared.clone()),
    }
}

fn skipped(outcome: Option<&AgentOutcome>) -> SkippedCounts {
    let skipped = outcome.and_then(|outcome| outcome.skipped).unwrap_or_default();
    SkippedCounts { medium: skipped.medium_count, low: skipped.low_count }
}

fn notes(
    seats: &[Seat<'_>],
    agents: &[AgentExecution],
    strangers: &[&AgentOutcome],
    run: &str,
) -> Vec<String> {
    let weighed =
        agents.iter().filter(|agent| agent.files_skipped > 0 && agent.counts != Counts::default());
    let weighed = weighed.map(|agent| {
        format!(
            "{} was shown {} of {} files whole: the confidence of its findings is weighed by that",
            agent.name,
            agent.files_reviewed + agent.files_read,
            agent.files_reviewed + agent.files_read + agent.files_skipped
        )
    });
    // What several agents say of the same files is said once.
    let mut sayings: Vec<(&str, Vec<&str>)> = Vec::new();
    for outcome in seats.iter().filter_map(|seat| seat.outcome) {
        for note in &outcome.notes {
            match sayings.iter_mut().find(|(said, _)| said == note) {
                Some((_, agents)) => agents.push(&outcome.agent),
                None => sayings.push((note, vec![&outcome.agent])),
            }
        }
    }
    let own = sayings.iter().map(|(note, agents)| format!("{}: {note}", agents.join(", ")));
    let foreign = strangers.iter().map(|stranger| {
        if stranger.run == run {
            format!("the report of {} is not counted: the plan does not name it", stranger.agent)
        } else {
            format!("a report of {} is not counted: it is of run {}", stranger.agent, stranger.run)
        }
    });
    weighed.chain(own).chain(foreign).collect()
}

/// Says of a finding that stands why a comment in the code does not silence it.
fn after_the_merge(finding: &Finding) -> Option<String> {
    let suppression = finding.suppression.as_ref()?;
    Some(format!(
        "{} stands: the suppression at {} comes with this change and would lift a veto, so it takes \
         effect after the merge",
        finding.id, suppression.place
    ))
}

fn rejected(seats: &[Seat<'_>]) -> BTreeMap<String, u64> {
    let mut rejected = BTreeMap::new();
    for outcome in seats.iter().filter_map(|seat| seat.outcome) {
        for (reason, count) in &outcome.rejected {
            *rejected.entry(reason.clone()).or_default() += count;
        }
    }
    rejected
}
