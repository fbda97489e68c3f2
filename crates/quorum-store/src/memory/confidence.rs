//! How far a memory is to be trusted.
//!
//! A memory starts with the trust that its source has, as if a few readers had already judged it.
//! Readers who say that it helped, or that it did not, move it from there: the first always up, the
//! second always down. Being found or shown is no judgement. With time, trust fades, until somebody
//! says again that it helped.

use jiff::Timestamp;

use super::Source;

/// How many readers' judgements the trust in the source is worth.
const PRIOR: f64 = 5.0;
/// Days after which an unconfirmed memory has lost half of its trust.
const HALF_LIFE: f64 = 180.0;
const DAY: f64 = 86_400.0;

/// What readers said about a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// How many said that it helped.
    pub helpful: u32,
    /// How many said that it did not.
    pub unhelpful: u32,
}

/// The trust in a memory, 0 to 1, at a moment; `confirmed` is when it was made, or when somebody last
/// said that it helped. That it did not help is no confirmation, or it would undo the fading.
pub fn confidence(source: Source, signals: Signals, confirmed: Timestamp, now: Timestamp) -> f64 {
    let start = match source {
        Source::Recorded => 0.8,
        Source::Review => 0.6,
    };
    let helpful = f64::from(signals.helpful);
    let judged = helpful + f64::from(signals.unhelpful);
    let trust = (start * PRIOR + helpful) / (PRIOR + judged);
    let seconds = now.duration_since(confirmed).as_secs_f64();
    // A clock that was set back does not make a memory better than new.
    let age = (seconds / DAY).max(0.0);
    trust * 0.5_f64.powf(age / HALF_LIFE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(day: u32) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + i64::from(day) * 86_400).unwrap()
    }

    fn signals(helpful: u32, unhelpful: u32) -> Signals {
        Signals { helpful, unhelpful }
    }

    #[test]
    fn praise_never_hides_a_memory() {
        let mut last = confidence(Source::Recorded, signals(0, 0), at(0), at(0));
        assert!((last - 0.8).abs() < 1e-9);
        for helpful in 1..20 {
            let now = confidence(Source::Recorded, signals(helpful, 0), at(0), at(0));
            assert!(now > last, "{helpful}: {now} after {last}");
            last = now;
        }
    }

    #[test]
    fn trust_halves_in_half_a_year() {
        let fresh = confidence(Source::Review, signals(0, 0), at(0), at(0));
        let old = confidence(Source::Review, signals(0, 0), at(0), at(180));
        assert!((old * 2.0 - fresh).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn every_judgement_moves_trust_its_own_way(
            helpful in 0u32..1000, unhelpful in 0u32..1000, confirmed in 0u32..4000, wait in 0u32..4000,
        ) {
            let (then, now) = (at(confirmed), at(confirmed + wait));
            for source in [Source::Recorded, Source::Review] {
                let trust = confidence(source, signals(helpful, unhelpful), then, now);
                prop_assert!((0.0..=1.0).contains(&trust));
                prop_assert!(confidence(source, signals(helpful + 1, unhelpful), now, now) > trust);
                let worse = confidence(source, signals(helpful, unhelpful + 1), then, now);
                prop_assert!(worse < trust);
                let later = at(confirmed + wait + 1);
                prop_assert!(confidence(source, signals(helpful, unhelpful), then, later) < trust);
            }
        }
    }
}
