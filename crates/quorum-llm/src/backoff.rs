//! How long to wait before another try.

use std::time::Duration;

/// Waits that double, each somewhere between half of it and all of it.
///
/// Where it falls follows from a seed and the attempt alone, so that tests and recorded runs see the
/// same waits, while two reviewers with different seeds do not come back at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// What makes this one's waits its own.
    pub seed: u64,
}

impl Backoff {
    /// The wait after attempt number `attempt`, counted from 1.
    pub fn wait(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let whole = self.first.saturating_mul(doubled).min(self.longest);
        let part = u32::from(noise(self.seed, attempt));
        // Between 128/256 and 255/256 of the whole.
        whole.saturating_mul(128 + part / 2) / 256
    }
}

/// A byte that looks random and depends on its arguments alone.
fn noise(seed: u64, attempt: u32) -> u8 {
    let mut input = [0; 12];
    input[..8].copy_from_slice(&seed.to_le_bytes());
    input[8..].copy_from_slice(&attempt.to_le_bytes());
    blake3::hash(&input).as_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn waits_grow_to_their_limit_and_are_repeatable(seed: u64, attempt in 1u32..80) {
            let backoff = Backoff { first: Duration::from_millis(500), longest: Duration::from_secs(8), seed };
            let wait = backoff.wait(attempt);
            let whole = Duration::from_millis(500).saturating_mul(2_u32.saturating_pow(attempt - 1));
            let whole = whole.min(Duration::from_secs(8));
            prop_assert!(wait >= whole / 2 && wait <= whole);
            prop_assert_eq!(wait, backoff.wait(attempt));
        }
    }

    #[test]
    fn two_seeds_do_not_come_back_together() {
        let wait = |seed| {
            let longest = Duration::from_mins(1);
            Backoff { first: Duration::from_secs(1), longest, seed }.wait(3)
        };
        assert_ne!(wait(1), wait(2));
    }
}
