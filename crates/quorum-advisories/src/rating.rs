//! How bad an advisory is: CVSS where there is one, by the bands of the vulnerability reviewer.

use std::str::FromStr as _;

use cvss::Cvss;
use quorum_model::severity::Severity;

use crate::osv::{Advisory, Affected, Score};

/// How bad an advisory is, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// The severity.
    pub severity: Severity,
    /// The CVSS base score.
    pub score: Option<f64>,
    /// The kind, where it is no vulnerability, such as `unmaintained`.
    pub informational: Option<String>,
}

/// Rates an advisory for one affected package.
pub fn rate(advisory: &Advisory, affected: &Affected) -> Rating {
    let informational = affected
        .database_specific
        .informational
        .clone()
        .or_else(|| advisory.database_specific.informational.clone());
    let scores = if affected.severity.is_empty() { &advisory.severity } else { &affected.severity };
    let score = best(scores);
    let severity = match (score, &informational) {
        (Some(score), _) => band(score),
        (None, Some(_)) => Severity::Low,
        (None, None) => {
            let word = affected.database_specific.severity.as_deref();
            let word = word.or(advisory.database_specific.severity.as_deref());
            word.and_then(spoken).unwrap_or_else(|| by_effect(advisory))
        }
    };
    Rating { severity, score, informational }
}

/// The score in the newest form that can be read.
fn best(scores: &[Score]) -> Option<f64> {
    let mut read: Vec<(&str, f64)> = scores
        .iter()
        .filter_map(|score| Some((score.kind.as_str(), base_score(&score.score)?)))
        .collect();
    // Most advisories that have both were rated in version 3 first; the bands were made for it.
    read.sort_by_key(|(kind, _)| match *kind {
        "CVSS_V3" => 0,
        "CVSS_V4" => 1,
        _ => 2,
    });
    read.first().map(|(_, score)| *score)
}

/// The base score of a CVSS vector of version 2, 3 or 4.
pub(crate) fn base_score(vector: &str) -> Option<f64> {
    let vector = vector.trim();
    // A vector that lacks a base metric would score as if that metric did no harm.
    let parts = vector.split('/').count();
    let whole = match vector.get(..7) {
        Some("CVSS:4.") => parts >= 12,
        Some("CVSS:3.") => parts >= 9,
        _ => parts >= 6,
    };
    Cvss::from_str(vector).ok().filter(|_| whole).map(|cvss| cvss.score())
}

fn band(score: f64) -> Severity {
    match score {
        score if score >= 9.0 => Severity::Critical,
        score if score >= 7.0 => Severity::High,
        score if score >= 4.0 => Severity::Medium,
        _ => Severity::Low,
    }
}

fn spoken(word: &str) -> Option<Severity> {
    match word.to_ascii_uppercase().as_str() {
        "CRITICAL" => Some(Severity::Critical),
        "HIGH" => Some(Severity::High),
        "MODERATE" | "MEDIUM" => Some(Severity::Medium),
        "LOW" => Some(Severity::Low),
        _ => None,
    }
}

/// Without a score, what the advisory says can happen.
fn by_effect(advisory: &Advisory) -> Severity {
    let text = format!("{} {}", advisory.summary, advisory.details).to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if advisory.id.starts_with("MAL-") || says(&["malicious code", "malicious package"]) {
        Severity::Critical
    } else if says(&[
        "remote code execution",
        "arbitrary code",
        "code execution",
        "command injection",
        "authentication bypass",
        "sql injection",
        "privilege escalation",
    ]) {
        Severity::High
    } else {
        Severity::Medium
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_all_versions_have_a_score() {
        for (vector, score) in [
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8),
            ("CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 10.0),
            ("CVSS:3.1/AV:L/AC:H/PR:L/UI:R/S:U/C:L/I:N/A:N", 2.2),
            ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H", 10.0),
            ("CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", 9.3),
            ("AV:N/AC:L/Au:N/C:P/I:P/A:P", 7.5),
        ] {
            let read = base_score(vector).expect("the vector is valid");
            assert!((read - score).abs() < 0.05, "{vector}: {read}");
        }
        assert_eq!(base_score("CVSS:3.1/AV:N"), None);
        assert_eq!(base_score("high"), None);
    }

    #[test]
    fn bands_are_the_reviewers() {
        let bands = [(10.0, Severity::Critical), (9.0, Severity::Critical), (8.9, Severity::High)];
        let rest = [(7.0, Severity::High), (6.9, Severity::Medium), (4.0, Severity::Medium)];
        for (score, severity) in bands.into_iter().chain(rest).chain([(3.9, Severity::Low)]) {
            assert_eq!(band(score), severity);
        }
    }

    #[test]
    fn an_unscored_advisory_is_rated_by_its_words() {
        let advisory = |json: &str| Advisory::parse(json).expect("a record");
        let rated = |json: &str| rate(&advisory(json), &Affected::default()).severity;
        assert_eq!(
            rated(r#"{"id":"X","database_specific":{"severity":"MODERATE"}}"#),
            Severity::Medium
        );
        assert_eq!(rated(r#"{"id":"X","summary":"Remote code execution in y"}"#), Severity::High);
        assert_eq!(rated(r#"{"id":"MAL-2024-1"}"#), Severity::Critical);
        assert_eq!(
            rated(r#"{"id":"X","database_specific":{"informational":"unmaintained"}}"#),
            Severity::Low
        );
    }
}
