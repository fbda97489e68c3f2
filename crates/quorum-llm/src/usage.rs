//! What a call cost, and how much of what a provider says about it is believed.

use serde::{Deserialize, Serialize};

/// Tokens of one call, as a provider counts them. Absent where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, those from the cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens sent that came from the provider's cache.
    #[serde(default)]
    pub cached: u64,
    /// Tokens sent that were put into the provider's cache.
    #[serde(default)]
    pub cache_written: u64,
    /// Tokens received, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens received that were reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

/// Our own count of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Tokens of everything that was sent.
    pub input: u64,
    /// Tokens of everything that came back and that we can see.
    pub output: u64,
    /// The most that the model was allowed to write.
    pub max_output: u64,
}

/// What a call is taken to have cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Believed {
    /// Tokens sent.
    pub input: u64,
    /// Of these, tokens from the cache.
    pub cached: u64,
    /// Of these, tokens put into the cache.
    pub cache_written: u64,
    /// Tokens received.
    pub output: u64,
    /// What the provider said that cannot be.
    pub doubt: Option<String>,
}

/// Vocabularies differ by less than this; a figure that is further off is not a count of the text.
const MOST_TIMES: u64 = 2;

/// What servers add around a conversation, such as the marks of a turn.
const FRAMING: u64 = 512;

impl Usage {
    /// The larger of what the provider says and what we count, as far as the former can be true.
    ///
    /// A figure that is too small would let a reviewer spend more than it has. One that is far too
    /// large would stop it for no reason, and pass every ceiling: a server that is wrong by more
    /// than vocabularies differ is not believed.
    pub fn believed(&self, counted: Counted) -> Believed {
        let mut doubts = Vec::new();
        let mut take = |what: &str, said: Option<u64>, ours: u64, most: u64| match said {
            Some(said) if said > most => {
                doubts.push(format!("{said} tokens {what} where we count {ours}"));
                ours
            }
            Some(said) => {
                // A provider may leave out what it did not bill; half of the text it cannot.
                if said.saturating_mul(MOST_TIMES).saturating_add(FRAMING) < ours {
                    doubts.push(format!("{said} tokens {what} where we count {ours}"));
                }
                said.max(ours)
            }
            None => ours,
        };
        let most_input = Self::most_input(counted.input);
        let input = take("sent", self.input, counted.input, most_input);
        let most_output = counted.max_output.max(counted.output.saturating_mul(MOST_TIMES));
        let output = take("received", self.output, counted.output, most_output);
        Believed {
            input,
            cached: self.cached.min(input),
            cache_written: self.cache_written.min(input.saturating_sub(self.cached.min(input))),
            output,
            doubt: (!doubts.is_empty())
                .then(|| format!("usage figures that cannot be true: {}", doubts.join(", "))),
        }
    }

    /// The most that a provider can make of a text that we count as `input` tokens.
    pub fn most_input(input: u64) -> u64 {
        input.saturating_mul(MOST_TIMES).saturating_add(FRAMING)
    }
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Sent.
    pub input: f64,
    /// Received.
    pub output: f64,
    /// Sent, and found in the cache, as a share of `input`.
    pub cached_share: f64,
    /// Sent, and put into the cache, as a share of `input`.
    pub written_share: f64,
}

impl Prices {
    /// The prices of a model whose cache has the usual discount.
    pub fn new(input: f64, output: f64) -> Self {
        Self { input, output, cached_share: 0.1, written_share: 1.25 }
    }

    /// What a call cost, in US dollars.
    #[expect(clippy::cast_precision_loss, reason = "no call has 2^53 tokens")]
    pub fn of(&self, usage: &Believed) -> f64 {
        let plain = usage.input.saturating_sub(usage.cached).saturating_sub(usage.cache_written);
        let sent = plain as f64
            + usage.cached as f64 * self.cached_share
            + usage.cache_written as f64 * self.written_share;
        (sent * self.input + usage.output as f64 * self.output) / 1_000_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OURS: Counted = Counted { input: 10_000, output: 200, max_output: 1_000 };

    fn said(input: u64, output: u64) -> Believed {
        Usage { input: Some(input), output: Some(output), ..Usage::default() }.believed(OURS)
    }

    #[test]
    fn the_larger_figure_counts() {
        let believed = said(12_000, 300);
        assert_eq!((believed.input, believed.output, believed.doubt), (12_000, 300, None));
        let believed = said(9_000, 150);
        assert_eq!((believed.input, believed.output, believed.doubt), (10_000, 200, None));
    }

    #[test]
    fn a_figure_that_cannot_be_is_named_and_not_taken() {
        let believed = said(1_000_000_000, 999_999);
        assert_eq!((believed.input, believed.output), (10_000, 200));
        let doubt = believed.doubt.expect("it is named");
        assert!(doubt.contains("1000000000") && doubt.contains("999999"), "{doubt}");
        assert!(said(3, 200).doubt.is_some_and(|doubt| doubt.contains("3 tokens sent")));
    }

    #[test]
    fn without_figures_our_count_stands() {
        let believed = Usage::default().believed(OURS);
        assert_eq!((believed.input, believed.output, believed.doubt), (10_000, 200, None));
    }

    #[test]
    fn hidden_reasoning_is_paid_up_to_what_was_allowed() {
        assert_eq!(said(10_000, 1_000).output, 1_000);
    }

    #[test]
    fn a_cached_prefix_is_cheaper() {
        let usage = Believed { input: 1_000_000, cached: 500_000, ..Believed::default() };
        let usd = Prices::new(2.0, 10.0).of(&usage);
        assert!((usd - 1.1).abs() < 1e-9, "{usd}");
    }

    proptest! {
        #[test]
        fn what_is_believed_is_never_below_our_count_nor_above_what_can_be(
            input: u64, output: u64, cached: u64, cache_written: u64,
            ours in 0u64..1 << 40, seen in 0u64..1 << 40, most in 0u64..1 << 40,
        ) {
            let usage = Usage { input: Some(input), output: Some(output), cached, cache_written, reasoning: 0 };
            let counted = Counted { input: ours, output: seen, max_output: most };
            let believed = usage.believed(counted);
            prop_assert!(believed.input >= ours && believed.input <= Usage::most_input(ours));
            prop_assert!(believed.output >= seen && believed.output <= most.max(seen * 2));
            prop_assert!(believed.cached + believed.cache_written <= believed.input);
        }
    }
}
