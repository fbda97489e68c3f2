//! What was decided before anything is sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Share;
use crate::outcome::Depth;
use crate::scope::Scope;
use crate::tier::TierAssessment;
use crate::unit::Unit;

/// What would be reviewed, by whom, with which budget, and what it could cost at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// What is under review.
    pub scope: Scope,
    /// How tokens were counted.
    pub tokenizer: String,
    /// Tokens of all files in scope.
    pub total_tokens: u64,
    /// How demanding the change is.
    pub tier: TierAssessment,
    /// Whether agents share one context or have a branch each.
    pub isolation: Isolation,
    /// How findings become a verdict.
    pub protocol: Protocol,
    /// The selected reviewers, in the order in which they are reported.
    pub agents: Vec<PlannedAgent>,
    /// Files that no selected reviewer answers for.
    pub unassigned: Vec<String>,
    /// The most that the run can cost.
    pub ceilings: Ceilings,
    /// What the user should know before the run.
    pub warnings: Vec<String>,
}

/// Whether agents share one context or have a branch each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// One context, with a budget for each agent.
    Shared,
    /// A branch for each agent.
    Branch,
}

impl Isolation {
    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Branch => "branch",
        }
    }
}

/// How findings become a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Independent review in each agent's domain; any veto blocks.
    #[default]
    Veto,
    /// Every agent drafts over the whole scope with nothing shared.
    Aad,
    /// Two rounds with an exchange of findings between them.
    Ci,
    /// A finding counts when two thirds of those who could see it agree.
    Vote,
}

impl Protocol {
    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Veto => "veto",
            Self::Aad => "aad",
            Self::Ci => "ci",
            Self::Vote => "vote",
        }
    }
}

/// What a protocol needs from dispatch: data that it follows, so that no protocol is known by name
/// outside of here and the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// What every agent reviews.
    pub scope: ReviewScope,
    /// Rounds of review: 1, or 2 with an exchange between them.
    pub rounds: u8,
    /// Before the second round, every agent is told its peers' findings: severity, place and
    /// title, nothing more.
    pub exchange: bool,
    /// After the review, every agent says in one call which of the others' findings it sees, too.
    pub ballot: bool,
    /// Agents may be given memories and hints of rules.
    pub shares_hints: bool,
    /// The most of an agent's budget that exchange or ballot may take.
    pub exchange_share: Share,
}

/// What an agent reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewScope {
    /// The files of its domain.
    Domain,
    /// All files in scope.
    Whole,
}

impl Protocol {
    /// What the protocol needs from dispatch.
    pub const fn requirements(self) -> Requirements {
        let alone = Requirements {
            scope: ReviewScope::Domain,
            rounds: 1,
            exchange: false,
            ballot: false,
            shares_hints: true,
            exchange_share: Share::percent(0),
        };
        let quarter = Share::percent(25);
        match self {
            Self::Veto => alone,
            Self::Aad => Requirements { scope: ReviewScope::Whole, shares_hints: false, ..alone },
            Self::Ci => Requirements {
                rounds: 2,
                exchange: true,
                shares_hints: false,
                exchange_share: quarter,
                ..alone
            },
            Self::Vote => Requirements { ballot: true, exchange_share: quarter, ..alone },
        }
    }
}

/// One reviewer's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedAgent {
    /// The agent's name.
    pub name: String,
    /// Tokens that one branch of it may spend.
    pub budget: u64,
    /// Tokens before scaling.
    pub base_budget: u64,
    /// Whether its veto blocks.
    pub veto: bool,
    /// What does its work: `builtin` or a provider.
    pub engine: String,
    /// The model, where the engine has one.
    pub model: Option<String>,
    /// Why it was selected.
    pub reason: String,
    /// The files that it answers for, most urgent first.
    pub files: Vec<String>,
    /// The most file tokens that one of its requests may carry.
    pub shard_limit: u64,
    /// Its units, packed so that each shard fits one request and one branch.
    pub shards: Vec<Shard>,
    /// How closely it looks: `read` where it only searches all files for secrets.
    #[serde(default, skip_serializing_if = "Depth::is_reviewed")]
    pub depth: Depth,
    /// The change does not call for it: its rules run beside models, at no cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_models: bool,
}

/// Units that go to a reviewer together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// The wave in which it runs: 1 without `--complete`, later ones only with it.
    pub wave: u32,
    /// Tokens of all its units.
    pub tokens: u64,
    /// The SOPs that apply to it, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sops: Vec<String>,
    /// What is probably too much for one request, though it fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the reviewer is shown, most urgent first.
    pub units: Vec<Unit>,
}

/// The most that a run can cost. Dispatch cannot pass it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceilings {
    /// Requests to engines.
    pub calls: u64,
    /// Tokens sent and received, in all calls together.
    pub tokens: u64,
    /// Wall-clock seconds.
    pub seconds: u64,
    /// US dollars; absent when a model's price is not known.
    pub usd: Option<f64>,
    /// The same without `--complete`: first waves only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wave: Option<WaveCeilings>,
}

/// The most that the first wave of each agent can cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaveCeilings {
    /// Requests to engines.
    pub calls: u64,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Wall-clock seconds.
    pub seconds: u64,
    /// US dollars; absent when a model's price is not known.
    pub usd: Option<f64>,
}
