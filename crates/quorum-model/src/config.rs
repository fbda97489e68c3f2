//! Policy: what a user or a team can set in `quorum.toml`.
//!
//! These are plain values. Where they come from, and which layer wins, is `quorum-config`'s job.

mod gates;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::{Share, Thresholds};
use crate::plan::Protocol;
use crate::severity::Severity;
use crate::tier::Tier;

pub use gates::{AdditionalGate, GateLimits, GateOverride, GatesConfig, Presets};

/// Everything that can be set. Every key has a default, so an empty file is a valid one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub struct Config {
    /// What does the reviewers' work: `builtin` needs nothing; others are named in `models`.
    pub provider: String,
    /// The model that a provider uses; the provider's preferred one where it is not set.
    pub model: Option<String>,
    /// Use this tier instead of the one that the change scores.
    pub tier: Option<TierName>,
    /// Use these agents instead of the ones that the change selects.
    pub agents: Vec<String>,
    /// How findings become a verdict; follows from `review_type` where it is not set.
    pub protocol: Option<Protocol>,
    /// What sort of review it is; it chooses the default protocol.
    pub review_type: ReviewType,
    /// The least severity that fails a review.
    pub fail_on: FailOn,
    /// Any finding fails a review.
    pub strict: bool,
    /// The share of all agents that must finish, more than 0 and at most 1; where it is not set,
    /// every agent with a veto and two thirds of the others.
    pub quorum_share: Option<f64>,
    /// Follow up on what the budget left out until everything is covered.
    pub complete: bool,
    /// Have every blocking finding looked at a second time.
    pub verify: bool,
    /// Plant a defect in what each reviewer that is a model is shown; one that does not report it
    /// has not finished.
    pub canary: bool,
    /// How tokens are counted.
    pub tokenizer: Tokenizer,
    /// The work is wanted quickly: raises the tier's score by a tenth.
    pub time_pressure: bool,
    /// The shares of a budget at which a reviewer does less.
    pub progressive_summarization: Progressive,
    /// The most that a run may cost.
    pub limits: Limits,
    /// What belongs to a scope.
    pub scope: ScopeConfig,
    /// How closely every file must be looked at.
    pub coverage: CoverageConfig,
    /// Changes to single agents, by name.
    pub agent: BTreeMap<String, AgentConfig>,
    /// Models that are not known, or known with other figures, by name.
    pub models: BTreeMap<String, ModelConfig>,
    /// Which models to take for which kind of work, by capability.
    pub capabilities: BTreeMap<String, Capability>,
    /// The commands that check a change before any reviewer is asked.
    pub gates: GatesConfig,
    /// What comments in the code may silence.
    pub suppressions: SuppressionsConfig,
    /// The code host that `--pr` asks.
    pub forge: ForgeConfig,
    /// Where advisories come from.
    pub advisories: AdvisoriesConfig,
    /// The model that search by meaning uses; without one, search is by words.
    pub embeddings: EmbeddingsConfig,
}

/// What comments in the code may silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SuppressionsConfig {
    /// A `quorum:ignore` that a change brings lifts a veto on that change; otherwise it takes effect
    /// after the merge. Read from the base, as all policy is.
    pub allow_new_vetoes: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            provider: "builtin".to_owned(),
            model: None,
            tier: None,
            agents: Vec::new(),
            protocol: None,
            review_type: ReviewType::default(),
            fail_on: FailOn::default(),
            strict: false,
            quorum_share: None,
            complete: false,
            verify: false,
            canary: true,
            tokenizer: Tokenizer::default(),
            time_pressure: false,
            progressive_summarization: Progressive::default(),
            limits: Limits::default(),
            scope: ScopeConfig::default(),
            coverage: CoverageConfig::default(),
            agent: BTreeMap::new(),
            models: BTreeMap::new(),
            capabilities: BTreeMap::new(),
            gates: GatesConfig::default(),
            suppressions: SuppressionsConfig::default(),
            forge: ForgeConfig::default(),
            advisories: AdvisoriesConfig::default(),
            embeddings: EmbeddingsConfig::default(),
        }
    }
}

impl Config {
    /// The protocol to use: the one that is set, or the review type's.
    pub fn effective_protocol(&self) -> Protocol {
        self.protocol.unwrap_or(match self.review_type {
            ReviewType::Code => Protocol::Veto,
            ReviewType::Research => Protocol::Vote,
            ReviewType::Architecture => Protocol::Aad,
            ReviewType::Improvement => Protocol::Ci,
        })
    }

    /// The share of all agents that must finish, exactly, where one is set.
    pub fn quorum(&self) -> Result<Option<Share>, Problem> {
        let Some(value) = self.quorum_share else { return Ok(None) };
        let share = Share::from_fraction(value).filter(|share| *share != Share::percent(0));
        share.map(Some).ok_or_else(|| Problem {
            key: "quorum_share".to_owned(),
            message: format!("{value} is not a share of more than 0 and at most 1"),
        })
    }

    /// What is wrong with the values themselves, though each of them parses.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Err(problem) = self.progressive_summarization.thresholds() {
            problems.push(problem);
        }
        problems.extend(self.quorum().err());
        problems.extend(self.gates.problems());
        for (name, agent) in &self.agent {
            if agent.base_budget.is_some_and(|budget| budget < MIN_BASE_BUDGET) {
                problems.push(Problem {
                    key: format!("agent.{name}.base_budget"),
                    message: format!("a reviewer needs at least {MIN_BASE_BUDGET} tokens"),
                });
            }
        }
        for (name, model) in &self.models {
            if model.max_tokens == Some(0) {
                problems.push(Problem {
                    key: format!("models.{name}.max_tokens"),
                    message: "a context window cannot be empty".to_owned(),
                });
            }
            for (key, price) in [
                ("usd_per_million_input", model.usd_per_million_input),
                ("usd_per_million_output", model.usd_per_million_output),
            ] {
                if price.is_some_and(|price| !price.is_finite() || price < 0.0) {
                    problems.push(Problem {
                        key: format!("models.{name}.{key}"),
                        message: "a price is a number from 0 up".to_owned(),
                    });
                }
            }
        }
        if self.limits.max_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            problems.push(Problem {
                key: "limits.max_usd".to_owned(),
                message: "a limit in dollars is a number from 0 up".to_owned(),
            });
        }
        for (key, value) in [
            ("limits.calls_per_shard", self.limits.calls_per_shard),
            ("limits.seconds_per_call", self.limits.seconds_per_call),
        ] {
            if value == 0 {
                problems.push(Problem {
                    key: key.to_owned(),
                    message: "with 0 no reviewer could run".to_owned(),
                });
            }
        }
        problems
    }
}

/// Fewer tokens than this hold neither a piece of code nor an answer.
pub const MIN_BASE_BUDGET: u64 = 512;

/// The most tokens that an embedded reviewer starts with.
pub const MAX_BASE_BUDGET: u64 = 8192;

/// A value that parses and makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, with dots.
    pub key: String,
    /// What is wrong with its value.
    pub message: String,
}

/// A tier, as users write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TierName {
    /// Up to 11 points.
    Simple,
    /// 12 to 16 points.
    Standard,
    /// From 17 points.
    Complex,
}

impl From<TierName> for Tier {
    fn from(name: TierName) -> Self {
        match name {
            TierName::Simple => Self::Simple,
            TierName::Standard => Self::Standard,
            TierName::Complex => Self::Complex,
        }
    }
}

/// What sort of review it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewType {
    /// A code change; protocol `veto`.
    #[default]
    Code,
    /// A body of knowledge; protocol `vote`.
    Research,
    /// A design; protocol `aad`.
    Architecture,
    /// Work that is improved in rounds; protocol `ci`.
    Improvement,
}

/// The least severity that fails a review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// CRITICAL.
    Critical,
    /// HIGH and above.
    #[default]
    High,
    /// MEDIUM and above.
    Medium,
    /// LOW and above.
    Low,
    /// No finding and no veto fails a review. One that is incomplete, a failed gate and a violated
    /// SOP still do.
    None,
}

/// How closely every file must be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CoverageConfig {
    /// The least that a review is complete with; `strict` implies `reviewed`.
    pub require: CoverageNeed,
}

/// The least that a review is complete with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageNeed {
    /// Every file is at least searched for secrets, hidden characters and injections.
    #[default]
    Read,
    /// Rules for its kind, or a model, looked at every file.
    Reviewed,
}

impl FailOn {
    /// The severity, where one fails at all.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Critical => Some(Severity::Critical),
            Self::High => Some(Severity::High),
            Self::Medium => Some(Severity::Medium),
            Self::Low => Some(Severity::Low),
            Self::None => None,
        }
    }
}

/// How tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// The `o200k` vocabulary, exact.
    #[default]
    O200k,
    /// The `cl100k` vocabulary, exact.
    Cl100k,
    /// Four characters to a token: quick, and off by a quarter either way.
    Chars4,
}

impl Tokenizer {
    /// The spelling used in configuration and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::Chars4 => "chars4",
        }
    }
}

/// The shares of a budget at which a reviewer does less. They must be increasing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Progressive {
    /// Up to here: all severities, detailed evidence.
    pub full_analysis_threshold: f64,
    /// Up to here: CRITICAL and HIGH only.
    pub high_severity_threshold: f64,
    /// Up to here: the reviewer may finish its answer; from here on it is cut.
    pub force_return_threshold: f64,
}

impl Default for Progressive {
    fn default() -> Self {
        Self {
            full_analysis_threshold: 0.80,
            high_severity_threshold: 0.95,
            force_return_threshold: 0.98,
        }
    }
}

impl Progressive {
    /// The thresholds as exact shares.
    pub fn thresholds(&self) -> Result<Thresholds, Problem> {
        let share = |key: &str, value: f64| {
            Share::from_fraction(value).ok_or_else(|| Problem {
                key: format!("progressive_summarization.{key}"),
                message: format!("{value} is not a share between 0 and 1"),
            })
        };
        let thresholds = Thresholds {
            full_analysis: share("full_analysis_threshold", self.full_analysis_threshold)?,
            high_severity: share("high_severity_threshold", self.high_severity_threshold)?,
            force_return: share("force_return_threshold", self.force_return_threshold)?,
        };
        if thresholds.is_increasing() {
            return Ok(thresholds);
        }
        Err(Problem {
            key: "progressive_summarization".to_owned(),
            message: format!(
                "the thresholds must be increasing: full_analysis_threshold ({}) < \
                 high_severity_threshold ({}) < force_return_threshold ({}) <= 1",
                self.full_analysis_threshold,
                self.high_severity_threshold,
                self.force_return_threshold
            ),
        })
    }
}

/// The most that a run may cost, and how it is spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Tokens of all calls together.
    pub max_tokens: Option<u64>,
    /// US dollars.
    pub max_usd: Option<f64>,
    /// Wall-clock seconds.
    pub max_seconds: Option<u64>,
    /// Reviewers that run at once; the number of cores where it is not set.
    pub jobs: Option<u32>,
    /// Requests that one shard may take: the first, its tool turns, and one repair.
    pub calls_per_shard: u64,
    /// Seconds that one request may take.
    pub seconds_per_call: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_tokens: None,
            max_usd: None,
            max_seconds: None,
            jobs: None,
            calls_per_shard: 4,
            seconds_per_call: 120,
        }
    }
}

/// What belongs to a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeConfig {
    /// Patterns of files that are never reviewed, as in `.quorumignore`.
    pub ignore: Vec<String>,
    /// Globs of files that are security-sensitive beside the ones that Quorum knows.
    pub security_sensitive: Vec<String>,
    /// Globs of files that are written by a program.
    pub generated: Vec<String>,
}

/// Changes to one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Whether it can be selected at all.
    pub enabled: Option<bool>,
    /// Tokens before scaling.
    pub base_budget: Option<u64>,
    /// Whether its veto blocks.
    pub veto: Option<bool>,
    /// What does its work.
    pub provider: Option<String>,
    /// The model that the provider uses.
    pub model: Option<String>,
}

/// What is known about a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The provider that serves it.
    pub provider: Option<String>,
    /// The name that the provider knows it by.
    pub model: Option<String>,
    /// The context window.
    pub max_tokens: Option<u64>,
    /// File tokens with which it works best; 40 % of what is available where it is not set.
    pub sweet_spot: Option<u64>,
    /// US dollars for a million tokens sent.
    pub usd_per_million_input: Option<f64>,
    /// US dollars for a million tokens received.
    pub usd_per_million_output: Option<f64>,
}

/// Which models to take for one kind of work: the preferred ones first, then the fallbacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Capability {
    /// In this order.
    pub preferred: Vec<String>,
    /// Then in this one, when all of the preferred ones fail.
    pub fallback: Vec<String>,
}

/// Where advisories come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdvisoriesConfig {
    /// The address below which each ecosystem has its `all.zip`.
    pub url: Option<String>,
}

/// The code host that `--pr` asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForgeConfig {
    /// Which interface it speaks; guessed from the remote's host where it is not set.
    pub kind: Option<ForgeKind>,
    /// The address of its interface, for a host of one's own.
    pub api_url: Option<String>,
    /// `owner/name`; taken from the remote where it is not set.
    pub repository: Option<String>,
    /// The remote to take it from.
    pub remote: Option<String>,
    /// The account that posts, where the host does not say whom the token belongs to. Only comments
    /// of this account are taken for earlier postings.
    pub account: Option<String>,
}

/// The model that search by meaning uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// A folder with a static model in the format of `Model2Vec`; it needs no network.
    pub model_dir: Option<String>,
    /// An endpoint that speaks the protocol of `/v1/embeddings`, such as `https://api.openai.com/v1`.
    /// It is sent the text of the repository, without secrets, and the key in `OPENAI_API_KEY`.
    pub url: Option<String>,
    /// The endpoint's model.
    pub model: Option<String>,
}

/// Which interface a code host speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    /// GitHub and GitHub Enterprise.
    GitHub,
    /// GitLab.
    GitLab,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_have_no_problems() {
        assert_eq!(Config::default().problems(), []);
    }

    #[test]
    fn out_of_order_thresholds_name_all_three() {
        let progressive = Progressive { full_analysis_threshold: 0.96, ..Progressive::default() };
        let config = Config { progressive_summarization: progressive, ..Config::default() };
        let problems = config.problems();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].key, "progressive_summarization");
        assert!(problems[0].message.contains("0.96"), "{}", problems[0].message);
    }

    #[test]
    fn a_quorum_is_a_share_of_somebody() {
        let of = |quorum_share| Config { quorum_share, ..Config::default() };
        assert_eq!(of(None).quorum(), Ok(None));
        assert_eq!(of(Some(0.75)).quorum(), Ok(Some(Share::percent(75))));
        for wrong in [0.0, -0.5, 1.01, f64::NAN] {
            assert_eq!(of(Some(wrong)).problems()[0].key, "quorum_share", "{wrong}");
        }
    }

    #[test]
    fn the_review_type_chooses_the_protocol_unless_one_is_set() {
        let mut config = Config { review_type: ReviewType::Architecture, ..Config::default() };
        assert_eq!(config.effective_protocol(), Protocol::Aad);
        config.protocol = Some(Protocol::Vote);
        assert_eq!(config.effective_protocol(), Protocol::Vote);
    }
}
