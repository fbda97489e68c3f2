//! How much of a budget is used, and what an engine may still do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an engine may still do at a given share of its budget.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All severities, detailed evidence.
    FullAnalysis,
    /// CRITICAL and HIGH only, with `file:line` evidence and counts of what was left out.
    HighSeverityOnly,
    /// No new content; the agent may only finish what it is writing.
    ForceReturn,
    /// The call in flight is cancelled; what was already reported stands.
    Cut,
}

/// The shares of a budget at which the mode changes, increasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thresholds {
    /// Up to here: full analysis.
    pub full_analysis: Share,
    /// Up to here: high severity only.
    pub high_severity: Share,
    /// Up to here: force return; from here on: cut.
    pub force_return: Share,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            full_analysis: Share::percent(80),
            high_severity: Share::percent(95),
            force_return: Share::percent(98),
        }
    }
}

impl Thresholds {
    /// The mode when `used` of `budget` tokens are charged.
    pub fn mode(self, used: u64, budget: u64) -> Mode {
        if self.force_return.reached(used, budget) {
            Mode::Cut
        } else if self.high_severity.reached(used, budget) {
            Mode::ForceReturn
        } else if self.full_analysis.reached(used, budget) {
            Mode::HighSeverityOnly
        } else {
            Mode::FullAnalysis
        }
    }

    /// Whether the thresholds are increasing above zero and at most the whole budget.
    pub fn is_increasing(self) -> bool {
        Share::percent(0) < self.full_analysis
            && self.full_analysis < self.high_severity
            && self.high_severity < self.force_return
            && self.force_return <= Share::percent(100)
    }
}

/// A share of a whole, in ten-thousandths, so that comparisons are exact.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Share(u16);

impl Share {
    /// Ten-thousandths in the whole.
    const WHOLE: u128 = 10_000;

    /// A whole number of hundredths.
    pub const fn percent(percent: u8) -> Self {
        Self(percent as u16 * 100)
    }

    /// A fraction such as 0.8, to four decimals; absent when it is not within 0 and 1.
    pub fn from_fraction(fraction: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&fraction) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked above"
        )]
        let parts = (fraction * 10_000.0).round() as u16;
        Some(Self(parts))
    }

    /// Whether `part` is at least this share of `whole`; exact, nothing is rounded.
    pub fn reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * Self::WHOLE >= u128::from(whole) * u128::from(self.0)
    }

    /// This share of `whole`, rounded down.
    pub fn floor_of(self, whole: u64) -> u64 {
        let share = u128::from(whole) * u128::from(self.0) / Self::WHOLE;
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn modes_switch_at_the_documented_shares() {
        let thresholds = Thresholds::default();
        let cases = [
            (0, Mode::FullAnalysis),
            (7_999, Mode::FullAnalysis),
            (8_000, Mode::HighSeverityOnly),
            (9_499, Mode::HighSeverityOnly),
            (9_500, Mode::ForceReturn),
            (9_799, Mode::ForceReturn),
            (9_800, Mode::Cut),
            (20_000, Mode::Cut),
        ];
        for (used, mode) in cases {
            assert_eq!(thresholds.mode(used, 10_000), mode, "at {used}");
        }
    }

    #[test]
    fn out_of_order_thresholds_are_noticed() {
        let thresholds = Thresholds { full_analysis: Share::percent(96), ..Thresholds::default() };
        assert!(!thresholds.is_increasing());
        assert!(Thresholds::default().is_increasing());
    }

    proptest! {
        #[test]
        fn spending_more_never_loosens_the_mode(budget in 1u64..1 << 50, a: u32, b: u32) {
            let (less, more) = (a.min(b), a.max(b));
            let thresholds = Thresholds::default();
            prop_assert!(
                thresholds.mode(u64::from(less), budget) <= thresholds.mode(u64::from(more), budget)
            );
        }
    }
}
