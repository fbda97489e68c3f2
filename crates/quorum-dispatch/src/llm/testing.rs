//! What tests share.

use std::collections::BTreeMap;

use quorum_model::plan::{Ceilings, Isolation, Plan, Protocol};
use quorum_model::scope::{Scope, ScopeKind};
use quorum_model::tier::{Tier, TierAssessment};

/// A plan of nothing.
pub(crate) fn empty_plan() -> Plan {
    Plan {
        schema_version: 1,
        scope: Scope {
            kind: ScopeKind::Worktree,
            label: "test".to_owned(),
            base: None,
            head: None,
            files: Vec::new(),
            ignored: Vec::new(),
        },
        tokenizer: "chars4".to_owned(),
        total_tokens: 0,
        tier: TierAssessment {
            name: Tier::Simple,
            base_score: 7,
            adjusted_score: 7.0,
            overridden: None,
            dimensions: BTreeMap::new(),
            multipliers: Vec::new(),
        },
        isolation: Isolation::Branch,
        protocol: Protocol::Veto,
        agents: Vec::new(),
        unassigned: Vec::new(),
        ceilings: Ceilings {
            calls: 1_000,
            tokens: 100_000_000,
            seconds: 600,
            usd: None,
            first_wave: None,
        },
        warnings: Vec::new(),
    }
}
