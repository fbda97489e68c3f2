//! How bad a finding is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a finding is, from a suggestion to a reason to stop.
///
/// The order of the variants is the order of badness, so `max` finds the worst.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// A suggestion.
    Low,
    /// A quality problem or a minor bug.
    Medium,
    /// A significant bug: fix before merging.
    High,
    /// A vulnerability, data loss or a production break.
    Critical,
}

impl Severity {
    /// All severities, worst first, as reports list them.
    pub const WORST_FIRST: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Critical => "CRITICAL",
        }
    }
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// CRITICAL findings.
    pub critical: u64,
    /// HIGH findings.
    pub high: u64,
    /// MEDIUM findings.
    pub medium: u64,
    /// LOW findings.
    pub low: u64,
}

impl Counts {
    /// Counts `severities`.
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Self {
        let mut counts = Self::default();
        for severity in severities {
            match severity {
                Severity::Critical => counts.critical += 1,
                Severity::High => counts.high += 1,
                Severity::Medium => counts.medium += 1,
                Severity::Low => counts.low += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_is_the_maximum() {
        assert_eq!(Severity::WORST_FIRST.iter().max(), Some(&Severity::Critical));
        assert!(Severity::WORST_FIRST.is_sorted_by(|a, b| a > b));
    }

    #[test]
    fn counts_every_severity_once() {
        let counts = Counts::of(Severity::WORST_FIRST);
        assert_eq!(counts, Counts { critical: 1, high: 1, medium: 1, low: 1 });
    }
}
