//! From clusters to the findings of a result.

use std::collections::{BTreeMap, BTreeSet};

use quorum_model::finding::{Finding, FindingState, Position, Refutation};
use quorum_model::outcome::Reaction;
use quorum_model::severity::Severity;

use crate::coverage::Covers;
use crate::decide::Names;
use crate::fingerprint;
use crate::seat::{Seat, short_name};
use crate::sighting::Sighting;

/// A cluster: the sightings of one defect, the one that speaks for it first.
#[derive(Debug)]
pub(crate) struct Cluster<'a> {
    pub(crate) members: Vec<Sighting<'a>>,
    /// Unique among the clusters of a run.
    pub(crate) fingerprint: String,
    /// The seats of agents that confirmed it when they were asked.
    pub(crate) confirmed: BTreeSet<usize>,
    /// The seats of agents that disputed it.
    pub(crate) disputed: BTreeSet<usize>,
    /// Who refuted it in a second look, and how.
    pub(crate) refuted: Option<(usize, &'a Reaction)>,
}

impl<'a> Cluster<'a> {
    pub(crate) fn of(members: Vec<Sighting<'a>>) -> Self {
        let (confirmed, disputed) = (BTreeSet::new(), BTreeSet::new());
        let fingerprint = String::new();
        let mut cluster = Self { members, fingerprint, confirmed, disputed, refuted: None };
        cluster.sort();
        cluster.fingerprint = cluster.most_stable();
        cluster
    }

    /// Puts the members in the order of their rank.
    pub(crate) fn sort(&mut self) {
        self.members.sort_by(Sighting::outranks);
    }

    /// The seats of the agents that could have seen it: that were shown the place, or saw it.
    pub(crate) fn electorate(&self, seats: usize, covers: &Covers<'_>) -> BTreeSet<usize> {
        let leader = self.leader();
        let own = self.seats();
        let shown = |seat: &usize| covers.saw(*seat, leader.file, leader.lines());
        (0..seats).filter(|seat| own.contains(seat) || shown(seat)).collect()
    }

    /// The sighting that speaks for the cluster: severity and confidence are both its own.
    pub(crate) fn leader(&self) -> &Sighting<'a> {
        &self.members[0]
    }

    /// The seats of the agents that saw it, without repetition.
    pub(crate) fn seats(&self) -> BTreeSet<usize> {
        self.members.iter().map(|member| member.seat).collect()
    }

    /// How many saw it for themselves: one rule that ran for two agents is one witness.
    pub(crate) fn witnesses(&self) -> u64 {
        let mut by_rule = BTreeSet::new();
        let mut agents = BTreeSet::new();
        for member in &self.members {
            match &member.source.rule {
                Some(rule) if !by_rule.insert((rule.as_str(), member.snippet.as_str())) => {}
                _ => {
                    agents.insert(member.seat);
                }
            }
        }
        agents.len() as u64
    }

    /// Whether it is a CRITICAL or HIGH one about security, which nobody talks away.
    pub(crate) fn is_protected(&self, seats: &[Seat<'_>]) -> bool {
        self.members.iter().any(|member| {
            member.severity >= Severity::High && seats[member.seat].is_security(member.source)
        })
    }

    /// Whether an agent that found it vetoes it.
    pub(crate) fn is_vetoed(&self, seats: &[Seat<'_>]) -> bool {
        let vetoes = |member: &Sighting<'_>| {
            seats[member.seat].veto(member.severity, member.source).is_some()
        };
        self.members.iter().any(vetoes)
    }

    /// Whether a second look sets it aside: it was refuted, one agent alone saw it, no rule proves it,
    /// and it is not protected.
    pub(crate) fn is_refuted(&self, seats: &[Seat<'_>]) -> bool {
        self.refuted.is_some()
            && self.members.iter().all(|member| member.source.rule.is_none())
            && self.witnesses() + (self.confirmed.len() as u64) < 2
            && !self.is_protected(seats)
    }

    fn finding(&self, seats: &[Seat<'_>], covers: &Covers<'_>) -> Finding {
        let leader = self.leader();
        let named = |chosen: &BTreeSet<usize>| -> Vec<String> {
            chosen.iter().map(|&seat| seats[seat].name().to_owned()).collect()
        };
        let source = leader.source;
        Finding {
            id: String::new(),
            fingerprint: self.fingerprint.clone(),
            severity: leader.severity,
            category: source.category.clone(),
            rule: self.first(|source| source.rule.as_ref()),
            file: leader.file.to_owned(),
            line: leader.line,
            end_line: leader.end_line,
            evidence: self.first(|source| source.evidence.as_ref()).unwrap_or_default(),
            issue: source.issue.clone(),
            recommendation: self.recommendations(),
            cwe: self.first(|source| source.cwe.as_ref()),
            agents: named(&self.seats()),
            corroboration: self.witnesses() + self.confirmed.len() as u64,
            covered_by: self.electorate(seats.len(), covers).len() as u64,
            confidence: leader.weighed,
            state: if leader.is_suppressed() {
                FindingState::Suppressed
            } else {
                FindingState::New
            },
            positions: self.members.iter().map(|member| self.position(member)).collect(),
            confirmed_by: named(&self.confirmed),
            disputed_by: named(&self.disputed),
            refutation: self.refuted.map(|(seat, reaction)| Refutation {
                by: seats[seat].name().to_owned(),
                reason: reaction.reason.clone().unwrap_or_default(),
                evidence: reaction.evidence.clone().unwrap_or_default(),
            }),
            same_place: Vec::new(),
            same_issue: Vec::new(),
            trace: self
                .members
                .iter()
                .find(|member| !member.source.trace.is_empty())
                .map(|member| member.source.trace.clone())
                .unwrap_or_default(),
            replacement: self.first(|source| source.replacement.as_ref()),
            references: self.references(),
            effort: self.first(|source| source.effort.as_ref()),
            dependency: self.first(|source| source.dependency.as_ref()),
            refuted_by: None,
            user_impact: self.first(|source| source.user_impact.as_ref()),
            suppression: self.members.iter().find_map(|member| member.suppression).cloned(),
        }
    }

    /// The first member's value that has one, in the order of rank.
    fn first<T: Clone + 'a>(
        &self,
        value: impl Fn(&'a quorum_model::finding::AgentFinding) -> Option<&'a T>,
    ) -> Option<T> {
        self.members.iter().find_map(|member| value(member.source)).cloned()
    }

    /// The fingerprint of the member whose class is most stable: a rule's, else a weakness's.
    fn most_stable(&self) -> String {
        let rank = |member: &&Sighting<'_>| {
            let source = member.source;
            (source.rule.is_none(), source.cwe.is_none(), member.fingerprint.clone())
        };
        self.members.iter().min_by_key(rank).map(|m| m.fingerprint.clone()).unwrap_or_default()
    }

    fn recommendations(&self) -> String {
        let mut all: Vec<&str> = Vec::new();
        for member in &self.members {
            let text = member.source.recommendation.trim();
            if !text.is_empty() && !all.contains(&text) {
                all.push(text);
            }
        }
        all.join("\n")
    }

    fn references(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for reference in self.members.iter().flat_map(|member| &member.source.references) {
            if !all.contains(reference) {
                all.push(reference.clone());
            }
        }
        all
    }

    fn position(&self, member: &Sighting<'_>) -> Position {
        let evidence = (member.snippet != self.leader().snippet)
            .then(|| member.source.evidence.clone())
            .flatten();
        Position {
            agent: member.agent.to_owned(),
            fingerprint: member.fingerprint.clone(),
            severity: member.severity,
            confidence: member.confidence,
            category: member.source.category.clone(),
            rule: member.source.rule.clone(),
            line: member.line,
            end_line: member.end_line,
            evidence,
            issue: member.source.issue.clone(),
            recommendation: member.source.recommendation.clone(),
        }
    }
}

/// Makes the clusters' fingerprints unique; the clusters are in canonical order.
pub(crate) fn distinguish(clusters: &mut [Cluster<'_>]) {
    let mut taken = BTreeSet::new();
    for cluster in clusters {
        while !taken.insert(cluster.fingerprint.clone()) {
            cluster.fingerprint = fingerprint::next(&cluster.fingerprint);
        }
    }
}

/// Gives ids: the ones that findings have already, else the next that is free.
#[derive(Debug)]
pub(crate) struct Ids<'a> {
    known: &'a BTreeMap<String, String>,
    last: BTreeMap<String, u64>,
}

impl<'a> Ids<'a> {
    pub(crate) fn after(names: &'a Names) -> Self {
        Self { known: &names.ids, last: names.last.clone() }
    }

    fn give(&mut self, fingerprint: &str, agent: &str) -> String {
        if let Some(id) = self.known.get(fingerprint) {
            return id.clone();
        }
        let prefix = prefix(agent);
        let number = self.last.entry(prefix.clone()).or_default();
        *number += 1;
        format!("{prefix}-{number:03}")
    }
}

/// The findings, worst first, with their ids; beside each, its cluster.
pub(crate) fn build<'a>(
    mut clusters: Vec<Cluster<'a>>,
    seats: &[Seat<'_>],
    covers: &Covers<'_>,
    ids: &mut Ids<'_>,
) -> Vec<(Finding, Cluster<'a>)> {
    clusters.sort_by(|a, b| {
        let (a, b) = (a.leader(), b.leader());
        b.severity.cmp(&a.severity).then_with(|| a.canonical(b))
    });
    let findings = clusters.into_iter().map(|cluster| {
        let mut finding = cluster.finding(seats, covers);
        finding.id = ids.give(&finding.fingerprint, cluster.leader().agent);
        (finding, cluster)
    });
    findings.collect()
}

/// `SEC` for `security-reviewer`, `CQ` for `code-quality-reviewer`.
fn prefix(agent: &str) -> String {
    let letters = |word: &str| word.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let words: Vec<String> =
        short_name(agent).split('-').map(letters).filter(|word| !word.is_empty()).collect();
    let prefix: String = match words.as_slice() {
        [] => "F".to_owned(),
        [word] => word.chars().take(3).collect(),
        words => words.iter().filter_map(|word| word.chars().next()).collect(),
    };
    prefix.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_start_with_a_short_form_of_the_agent() {
        let cases = [
            ("security-reviewer", "SEC"),
            ("code-quality-reviewer", "CQ"),
            ("go-reviewer", "GO"),
            ("-", "F"),
        ];
        for (agent, expected) in cases {
            assert_eq!(prefix(agent), expected);
        }
    }
}
