//! The most that a run can cost.

use quorum_model::config;
use quorum_model::plan::{Ceilings, PlannedAgent, Protocol, Shard, WaveCeilings};

use crate::models::BUILTIN;
use crate::sizing::{PLAN, SOPS, SYSTEM};

/// Seconds that the builtin engine may take for one shard.
const BUILTIN_SECONDS: u64 = 10;

/// An agent with the prices of its model.
#[derive(Clone, Copy, Debug)]
pub struct Priced<'a> {
    /// The agent.
    pub agent: &'a PlannedAgent,
    /// US dollars for a million tokens sent and received; absent when they are not known.
    pub prices: Option<(f64, f64)>,
}

/// What is asked of the agents.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// How findings become a verdict.
    pub protocol: Protocol,
    /// Whether findings that block are looked at a second time.
    pub verify: bool,
}

/// The most that all agents together can cost.
pub fn ceilings(
    agents: &[Priced<'_>],
    asked: Asked,
    limits: &config::Limits,
    jobs: u64,
    complete: bool,
) -> Ceilings {
    let all = sum(agents, asked, limits, jobs, |_| true);
    let first = sum(agents, asked, limits, jobs, |shard| shard.wave == 1);
    let cap = |cost: WaveCeilings| WaveCeilings {
        calls: cost.calls,
        tokens: limits.max_tokens.map_or(cost.tokens, |most| most.min(cost.tokens)),
        seconds: limits.max_seconds.map_or(cost.seconds, |most| most.min(cost.seconds)),
        usd: match (limits.max_usd, cost.usd) {
            (Some(most), Some(usd)) => Some(most.min(usd)),
            (most, usd) => most.or(usd),
        },
    };
    let (all, first) = (cap(all), cap(first));
    Ceilings {
        calls: all.calls,
        tokens: all.tokens,
        seconds: all.seconds,
        usd: all.usd,
        first_wave: (!complete && first != all).then_some(first),
    }
}

/// What one agent's share of a run can cost at most.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    calls: u64,
    sent: u64,
    received: u64,
    seconds: u64,
}

fn sum(
    agents: &[Priced<'_>],
    asked: Asked,
    limits: &config::Limits,
    jobs: u64,
    wanted: impl Fn(&Shard) -> bool,
) -> WaveCeilings {
    let mut total = WaveCeilings { calls: 0, tokens: 0, seconds: 0, usd: Some(0.0) };
    let mut all_seconds: u64 = 0;
    let mut longest = 0;
    for priced in agents {
        let shards = priced.agent.shards.iter().filter(|shard| wanted(shard));
        let cost = if priced.agent.engine == BUILTIN {
            builtin(shards, asked.protocol)
        } else {
            provider(priced, shards.count() as u64, asked, limits)
        };
        total.calls = total.calls.saturating_add(cost.calls);
        total.tokens = total.tokens.saturating_add(cost.sent).saturating_add(cost.received);
        total.usd = total.usd.zip(price(priced, cost)).map(|(sum, usd)| sum + usd);
        all_seconds = all_seconds.saturating_add(cost.seconds);
        longest = longest.max(cost.seconds);
    }
    // No schedule that keeps all workers busy takes longer than its share plus the longest chain.
    total.seconds = all_seconds.div_ceil(jobs.max(1)).saturating_add(longest).min(all_seconds);
    total.usd = total.usd.map(|usd| (usd * 10_000.0).ceil() / 10_000.0);
    total
}

/// The builtin engine reads a shard once, and once more where findings are exchanged or voted on.
/// Nothing is sent anywhere.
fn builtin<'a>(shards: impl Iterator<Item = &'a Shard>, protocol: Protocol) -> Cost {
    let passes = match protocol {
        Protocol::Veto | Protocol::Aad => 1,
        Protocol::Ci | Protocol::Vote => 2,
    };
    let mut cost = Cost::default();
    for shard in shards {
        cost.calls += passes;
        cost.sent = cost.sent.saturating_add(shard.tokens * passes);
        cost.seconds += BUILTIN_SECONDS * passes;
    }
    cost
}

/// A provider is sent the preamble and the whole branch with every call, and what it writes is
/// charged to the branch: a branch never holds more than its budget.
fn provider(priced: &Priced<'_>, shards: u64, asked: Asked, limits: &config::Limits) -> Cost {
    if shards == 0 {
        return Cost::default();
    }
    let rounds = if asked.protocol == Protocol::Ci { 2 } else { 1 };
    let questions = u64::from(asked.protocol == Protocol::Vote) + u64::from(asked.verify);
    let calls = shards
        .saturating_mul(rounds)
        .saturating_add(questions)
        .saturating_mul(limits.calls_per_shard);
    let preamble = SYSTEM + PLAN + SOPS;
    let context = preamble.saturating_add(priced.agent.budget);
    let branches = shards.saturating_mul(rounds).saturating_add(questions);
    Cost {
        calls,
        sent: calls.saturating_mul(context),
        received: branches.saturating_mul(priced.agent.budget),
        seconds: calls.saturating_mul(limits.seconds_per_call),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a price is an estimate from 2^53 tokens on")]
fn price(priced: &Priced<'_>, cost: Cost) -> Option<f64> {
    if priced.agent.engine == BUILTIN || cost.calls == 0 {
        return Some(0.0);
    }
    let (input, output) = priced.prices?;
    Some((cost.sent as f64 * input + cost.received as f64 * output) / 1_000_000.0)
}
