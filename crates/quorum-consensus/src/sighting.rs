//! One agent's finding, made comparable with the others'.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use quorum_model::finding::{AgentFinding, SuppressedFinding, Suppression, SuppressionStatus};
use quorum_model::severity::Severity;

use crate::cluster::{Place, Remark};
use crate::coverage::Covers;
use crate::fingerprint;
use crate::seat::Seat;

/// How sure an agent is that does not say.
const UNSAID: f64 = 0.5;

/// One agent's finding.
#[derive(Clone, Debug)]
pub(crate) struct Sighting<'a> {
    /// The index of the agent's seat.
    pub(crate) seat: usize,
    pub(crate) agent: &'a str,
    pub(crate) source: &'a AgentFinding,
    /// As the agent gave it, or as it may give it at most.
    pub(crate) severity: Severity,
    /// As the agent gave it, within 0 and 1.
    pub(crate) confidence: f64,
    /// The confidence times the share of its files that the agent was shown.
    pub(crate) weighed: f64,
    pub(crate) file: &'a str,
    pub(crate) line: u64,
    pub(crate) end_line: u64,
    pub(crate) snippet: String,
    pub(crate) fingerprint: String,
    /// The comment in the code that suppresses it.
    pub(crate) suppression: Option<&'a Suppression>,
}

impl Sighting<'_> {
    /// The finding as clustering sees it.
    pub(crate) fn remark(&self) -> Remark<'_> {
        let place = Place { file: self.file, lines: self.lines(), quote: &self.snippet };
        Remark {
            agent: self.agent,
            text: &self.source.issue,
            place: Some(place),
            rule: self.source.rule.as_deref(),
            cwe: self.source.cwe.as_deref(),
            category: &self.source.category,
        }
    }

    /// Whether a comment in the code takes it out of the verdict.
    pub(crate) fn is_suppressed(&self) -> bool {
        self.suppression.is_some_and(|one| one.status == SuppressionStatus::Accepted)
    }

    /// First and last line, where they are known.
    pub(crate) fn lines(&self) -> Option<(u64, u64)> {
        (self.line > 0).then_some((self.line, self.end_line))
    }

    /// An order that does not depend on the order in which agents finished or wrote.
    pub(crate) fn canonical(&self, other: &Self) -> Ordering {
        let key = |s: &Self| (s.line, s.end_line, s.seat);
        let text = |s: &Self| format!("{:?}", s.source);
        self.file
            .cmp(other.file)
            .then_with(|| key(self).cmp(&key(other)))
            .then_with(|| other.severity.cmp(&self.severity))
            .then_with(|| self.source.issue.cmp(&other.source.issue))
            .then_with(|| text(self).cmp(&text(other)))
    }

    /// Whether this one speaks for a cluster rather than `other`: worse first, then surer.
    pub(crate) fn outranks(&self, other: &Self) -> Ordering {
        other
            .severity
            .cmp(&self.severity)
            .then_with(|| other.weighed.total_cmp(&self.weighed))
            .then_with(|| other.source.rule.is_some().cmp(&self.source.rule.is_some()))
            .then_with(|| self.canonical(other))
    }
}

/// All findings of this run, in canonical order.
pub(crate) fn collect<'a>(seats: &[Seat<'a>], covers: &Covers<'_>) -> Vec<Sighting<'a>> {
    let mut sightings = Vec::new();
    for (index, seat) in seats.iter().enumerate() {
        let shares = covers.of_seat(index, seat.planned);
        let whole = shares.reviewed + shares.read;
        // What a parser could not read was shown all the same.
        let share = share(whole + shares.shown, whole + shares.rest.len() as u64);
        let Some(outcome) = seat.outcome else { continue };
        let mut suppressed: BTreeMap<_, Vec<&SuppressedFinding>> = BTreeMap::new();
        for held in &outcome.suppressed {
            suppressed.entry(held.finding.place()).or_default().push(held);
        }
        for source in &outcome.findings {
            let mut sighting = of(index, seat, source, share);
            let held = suppressed.get(&source.place()).into_iter().flatten();
            let held = held.into_iter().find(|held| held.finding == *source);
            sighting.suppression = held.map(|held| &held.suppression);
            sightings.push(sighting);
        }
        for held in &outcome.suppressed {
            if held.suppression.status == SuppressionStatus::Accepted {
                let mut sighting = of(index, seat, &held.finding, share);
                sighting.suppression = Some(&held.suppression);
                sightings.push(sighting);
            }
        }
    }
    sightings.sort_by(Sighting::canonical);
    number(&mut sightings);
    sightings
}

fn of<'a>(index: usize, seat: &Seat<'a>, source: &'a AgentFinding, share: f64) -> Sighting<'a> {
    let (file, line) = source.place().unwrap_or_default();
    let line = line.unwrap_or(0);
    let confidence = match source.confidence {
        Some(confidence) if confidence.is_finite() => confidence.clamp(0.0, 1.0),
        _ => UNSAID,
    };
    Sighting {
        seat: index,
        agent: seat.name(),
        source,
        severity: seat.cap(source.severity),
        confidence,
        // A rule that ran beside a model saw its file, whatever the model was shown.
        weighed: if source.rule.is_some() && seat.planned.engine != "builtin" {
            round(confidence)
        } else {
            round(confidence * share)
        },
        file,
        line,
        end_line: source.end_line.unwrap_or(line).max(line),
        snippet: fingerprint::normalise(source.evidence.as_deref().unwrap_or_default()),
        fingerprint: String::new(),
        suppression: None,
    }
}

/// A part of a whole; what has nothing to see has seen all of it.
#[expect(clippy::cast_precision_loss, reason = "files are counted, not measured")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// To four decimals, so that what is printed is what was compared.
fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Gives every sighting its fingerprint; those that read the same are counted by line.
fn number(sightings: &mut [Sighting<'_>]) {
    let key =
        |s: &Sighting<'_>| (s.file.to_owned(), s.snippet.clone(), fingerprint::class(s.source));
    let mut lines: BTreeMap<_, BTreeMap<u64, u64>> = BTreeMap::new();
    for sighting in &*sightings {
        lines.entry(key(sighting)).or_default().insert(sighting.line, 0);
    }
    for occurrences in lines.values_mut() {
        for (number, occurrence) in (0..).zip(occurrences.values_mut()) {
            *occurrence = number;
        }
    }
    for sighting in sightings {
        let occurrence = lines[&key(sighting)][&sighting.line];
        sighting.fingerprint = fingerprint::fingerprint(sighting.source, occurrence);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A finding with a quote, at one line.
    pub(crate) fn finding(file: &str, line: u64, category: &str, issue: &str) -> AgentFinding {
        serde_json::from_value(serde_json::json!({
            "severity": "HIGH", "category": category, "file": file, "line": line,
            "evidence": format!("run({line}, query)"), "issue": issue, "recommendation": "Fix it.",
            "confidence": 0.8,
        }))
        .expect("a finding")
    }
}
