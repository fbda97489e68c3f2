//! Budgets and isolation.

use quorum_model::plan::Isolation;
use quorum_model::tier::Tier;

/// Tokens that add one more base budget, and up to which agents share one context.
pub const STEP: u64 = 16_384;

/// A budget never grows beyond this many times its base, before the tier counts.
const MOST_STEPS: u64 = 4;

/// `floor(base × min(4, 1 + total/16384) × multiplier)`, exact until it is floored once.
pub fn budget(base: u64, total_tokens: u64, tier: Tier) -> u64 {
    let (numerator, denominator) = multiplier(tier);
    let scale = STEP.saturating_add(total_tokens).min(MOST_STEPS * STEP);
    let scaled = u128::from(base) * u128::from(scale) * numerator;
    u64::try_from(scaled / (u128::from(STEP) * denominator)).unwrap_or(u64::MAX)
}

fn multiplier(tier: Tier) -> (u128, u128) {
    match tier {
        Tier::Simple => (3, 4),
        Tier::Standard => (1, 1),
        Tier::Complex => (3, 2),
    }
}

/// Shared up to 16,384 tokens, branches above.
pub fn isolation(total_tokens: u64) -> Isolation {
    if total_tokens <= STEP { Isolation::Shared } else { Isolation::Branch }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIERS: [Tier; 3] = [Tier::Simple, Tier::Standard, Tier::Complex];

    /// The whole budget table, for the security reviewer.
    #[test]
    fn the_budget_table() {
        let table = [
            (4_096, [7_680, 10_240, 15_360]),
            (16_384, [12_288, 16_384, 24_576]),
            (49_152, [24_576, 32_768, 49_152]),
            (1_000_000_000, [24_576, 32_768, 49_152]),
        ];
        for (total, budgets) in table {
            assert_eq!(TIERS.map(|tier| budget(8_192, total, tier)), budgets, "at {total}");
        }
    }

    #[test]
    fn rounding_happens_once_and_down() {
        // Rounding the scale to two places first would give 9,830.
        assert_eq!(budget(8_192, 3_268, Tier::Standard), 9_826);
        assert_eq!(budget(4_096, 1, Tier::Simple), 3_072);
    }

    #[test]
    fn the_switch_is_above_16384() {
        assert_eq!(isolation(16_384), Isolation::Shared);
        assert_eq!(isolation(16_385), Isolation::Branch);
    }

    proptest! {
        #[test]
        fn a_budget_never_falls_when_tokens_or_tier_rise(
            base in 0u64..1 << 40, a: u64, b: u64, i in 0usize..3, j in 0usize..3,
        ) {
            let (less, more) = (a.min(b), a.max(b));
            let (low, high) = (TIERS[i.min(j)], TIERS[i.max(j)]);
            prop_assert!(budget(base, less, low) <= budget(base, more, high));
        }
    }
}
