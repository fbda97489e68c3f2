//! What reviewers are told beside the code, and what they are not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What went into a reviewer's request beside the code, what was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextManifest {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The reviewer; absent where it is made for nobody in particular.
    pub agent: Option<String>,
    /// The files that it goes with.
    pub files: Vec<String>,
    /// The most tokens that it may take.
    pub limit: u64,
    /// Tokens of all that went in.
    pub tokens: u64,
    /// What went in, in the order in which it stands there.
    pub included: Vec<ContextItem>,
    /// What did not.
    pub left_out: Vec<ContextItem>,
}

/// One thing that a reviewer is told, or is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextItem {
    /// What it is.
    pub kind: ContextKind,
    /// Where it comes from: a file, an SOP's name, a finding, a memory.
    pub source: String,
    /// Its tokens; of something that went in cut, the tokens that went in.
    pub tokens: u64,
    /// Why it is of interest, or why it was left out.
    pub reason: String,
    /// What is missing of it, where it did not go in whole. SOPs always do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

/// What a piece of context is; the more important comes first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// A standing order, which goes in whole.
    Sop,
    /// What was decided before about this code.
    Decision,
    /// What a file declares.
    Summary,
    /// What tests there are.
    Test,
    /// How the team writes code.
    Convention,
}

impl ContextKind {
    /// The spelling used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sop => "sop",
            Self::Decision => "decision",
            Self::Summary => "summary",
            Self::Test => "test",
            Self::Convention => "convention",
        }
    }
}
