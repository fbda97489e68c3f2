//! Tier, agent selection, budgets, isolation, shards, ceilings and task sizing: pure functions.
