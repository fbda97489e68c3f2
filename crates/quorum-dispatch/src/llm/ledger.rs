//! What a run may cost at most, and what it has cost. No call is made that could pass it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quorum_llm::{Believed, Prices, Usage};
use quorum_model::plan::{Plan, WaveCeilings};
use tokio::time::Instant;

/// A ceiling that does not allow another call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached(pub(crate) String);

/// What is set aside for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    tokens: u64,
    usd: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    calls: u64,
    tokens: u64,
    usd: f64,
    held_tokens: u64,
    held_usd: f64,
}

/// The accounts of a run.
#[derive(Debug)]
pub(crate) struct Ledger {
    most: WaveCeilings,
    deadline: Instant,
    spent: Mutex<Spent>,
}

impl Ledger {
    /// The ceilings of `plan`: of its first wave, unless everything is to be covered.
    /// What was `spent` before the run went on counts.
    pub(crate) fn new(plan: &Plan, complete: bool, spent: quorum_model::outcome::Usage) -> Self {
        let all = plan.ceilings;
        let all = WaveCeilings {
            calls: all.calls,
            tokens: all.tokens,
            seconds: all.seconds,
            usd: all.usd,
        };
        let most = plan.ceilings.first_wave.filter(|_| !complete).unwrap_or(all);
        let deadline = Instant::now() + Duration::from_secs(most.seconds.min(u64::from(u32::MAX)));
        let ledger = Self { most, deadline, spent: Mutex::default() };
        ledger.recall(spent.calls, spent.tokens, spent.usd);
        ledger
    }

    /// When the run has to be over.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Sets aside the most that a request can cost: what a server can make of `input` tokens of
    /// ours, and an answer of full length.
    pub(crate) fn hold(
        &self,
        input: u64,
        output: u64,
        prices: Option<Prices>,
    ) -> Result<Held, Reached> {
        let input = Usage::most_input(input);
        let tokens = input.saturating_add(output);
        let usage = Believed { input, output, cache_written: input, ..Believed::default() };
        let usd = prices.map_or(0.0, |prices| prices.of(&usage));
        let mut spent = self.spent();
        let total = spent.tokens.saturating_add(spent.held_tokens).saturating_add(tokens);
        if total > self.most.tokens {
            return Err(Reached(format!("the run may take {} tokens", self.most.tokens)));
        }
        if let Some(most) = self.most.usd
            && spent.usd + spent.held_usd + usd > most
        {
            return Err(Reached(format!("the run may cost ${most}")));
        }
        spent.held_tokens += tokens;
        spent.held_usd += usd;
        Ok(Held { tokens, usd })
    }

    /// Counts one attempt.
    pub(crate) fn attempt(&self) -> Result<(), Reached> {
        if self.time_left().is_zero() {
            return Err(Reached(format!("the run may take {} s", self.most.seconds)));
        }
        let mut spent = self.spent();
        if spent.calls >= self.most.calls {
            return Err(Reached(format!("the run may make {} calls", self.most.calls)));
        }
        spent.calls += 1;
        Ok(())
    }

    /// Takes what a call cost, and gives back what was set aside for it.
    pub(crate) fn settle(&self, held: Held, tokens: u64, usd: f64) {
        let mut spent = self.spent();
        spent.held_tokens = spent.held_tokens.saturating_sub(held.tokens);
        spent.held_usd = (spent.held_usd - held.usd).max(0.0);
        spent.tokens = spent.tokens.saturating_add(tokens.min(held.tokens));
        spent.usd += usd;
    }

    /// Takes what a call cost that was paid for before the run was resumed.
    pub(crate) fn recall(&self, calls: u64, tokens: u64, usd: f64) {
        let mut spent = self.spent();
        spent.calls = spent.calls.saturating_add(calls);
        spent.tokens = spent.tokens.saturating_add(tokens);
        spent.usd += usd;
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::testing::empty_plan;
    use proptest::prelude::*;
    use quorum_model::plan::Ceilings;

    fn ledger(calls: u64, tokens: u64, usd: Option<f64>) -> Ledger {
        let ceilings = Ceilings { calls, tokens, seconds: 60, usd, first_wave: None };
        let nothing = quorum_model::outcome::Usage::default();
        Ledger::new(&Plan { ceilings, ..empty_plan() }, false, nothing)
    }

    #[test]
    fn calls_are_counted_one_by_one() {
        let ledger = ledger(2, 1_000_000, None);
        assert!(ledger.attempt().is_ok() && ledger.attempt().is_ok());
        assert_eq!(ledger.attempt(), Err(Reached("the run may make 2 calls".to_owned())));
    }

    #[test]
    fn money_is_set_aside_before_it_is_spent() {
        let ledger = ledger(9, 1_000_000, Some(0.02));
        let prices = Some(Prices::new(1.0, 1.0));
        let held = ledger.hold(4_000, 1_000, prices).unwrap();
        assert!(ledger.hold(4_000, 1_000, prices).is_err(), "the first is still under way");
        ledger.settle(held, 5_000, 0.005);
        assert!(ledger.hold(4_000, 1_000, prices).is_ok());
    }

    #[test]
    fn what_was_paid_before_a_crash_counts() {
        let ledger = ledger(2, 10_000, None);
        ledger.recall(1, 9_000, 0.0);
        assert!(ledger.attempt().is_ok());
        assert!(ledger.attempt().is_err());
        assert!(ledger.hold(2_000, 0, None).is_err());
    }

    proptest! {
        #[test]
        fn no_usage_passes_the_ceiling(
            calls in proptest::collection::vec((0u64..3_000, 0u64..500, any::<u64>()), 0..40),
        ) {
            let ledger = ledger(1_000, 20_000, None);
            for (input, output, claimed) in calls {
                if let Ok(held) = ledger.hold(input, output, None) {
                    ledger.settle(held, claimed, 0.0);
                }
                prop_assert!(ledger.spent().tokens <= 20_000);
            }
        }
    }
}
