//! How demanding a change is.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How demanding a change is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Tier {
    /// Up to 11 points.
    Simple,
    /// 12 to 16 points.
    Standard,
    /// From 17 points.
    Complex,
}

impl Tier {
    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Simple => "SIMPLE",
            Self::Standard => "STANDARD",
            Self::Complex => "COMPLEX",
        }
    }
}

/// One of the seven things that make a change demanding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// How many files.
    Scope,
    /// How many other services.
    Integration,
    /// Machines, containers, databases, settings.
    Infrastructure,
    /// How deep the knowledge that it takes.
    Knowledge,
    /// What breaks when it is wrong.
    Risk,
    /// What kind of tests it takes.
    Testing,
    /// Whether it can be reviewed in parts.
    Decomposability,
}

impl Dimension {
    /// All seven, in the order in which they are reported.
    pub const ALL: [Self; 7] = [
        Self::Scope,
        Self::Integration,
        Self::Infrastructure,
        Self::Knowledge,
        Self::Risk,
        Self::Testing,
        Self::Decomposability,
    ];

    /// The spelling used in documents and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Integration => "integration",
            Self::Infrastructure => "infrastructure",
            Self::Knowledge => "knowledge",
            Self::Risk => "risk",
            Self::Testing => "testing",
            Self::Decomposability => "decomposability",
        }
    }
}

/// A score from 1 to 3 and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Score {
    /// 1 to 3.
    pub score: u8,
    /// What it rests on.
    pub reason: String,
}

/// A circumstance that makes every point count for more. Only the highest is applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Multiplier {
    /// Its name, such as `data_migration`.
    pub name: String,
    /// The factor, such as 1.3.
    pub factor: f64,
    /// What it rests on.
    pub reason: String,
    /// Whether it is the one that was applied.
    pub applied: bool,
}

/// The tier of a change and how it came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TierAssessment {
    /// The tier that the plan uses.
    pub name: Tier,
    /// The sum of the seven scores, 7 to 21.
    pub base_score: u8,
    /// The sum times the highest multiplier, before it is rounded to the nearest whole number.
    pub adjusted_score: f64,
    /// The tier that the score gives, where `--tier` or configuration overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<Tier>,
    /// The seven scores with their reasons.
    pub dimensions: BTreeMap<Dimension, Score>,
    /// The multipliers that hold.
    pub multipliers: Vec<Multiplier>,
}
