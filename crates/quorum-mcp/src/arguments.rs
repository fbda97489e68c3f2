//! What the tools take. The doc comments are what a model reads, so that every word costs tokens.

use quorum_model::config::TierName;
use quorum_model::plan::Protocol;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepositoryIndex {
    /// Default: the root
    pub(crate) path: Option<String>,
    /// Globs; default: everything
    #[serde(default)]
    pub(crate) include_patterns: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum ContentMode {
    Minimal,
    #[default]
    Preview,
    Full,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum SearchMode {
    #[default]
    Ranked,
    Exact,
    Regex,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SemanticSearch {
    pub(crate) query: String,
    pub(crate) project_path: Option<String>,
    #[serde(default)]
    pub(crate) paths: Vec<String>,
    #[serde(default)]
    pub(crate) mode: SearchMode,
    /// Default 10
    pub(crate) limit: Option<usize>,
    #[serde(default)]
    pub(crate) content_mode: ContentMode,
    /// Most tokens of content; default 2000
    pub(crate) budget: Option<u64>,
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Symbol {
    /// Declarations and callers of a name
    pub(crate) name: Option<String>,
    /// Signatures of a file
    pub(crate) file: Option<String>,
    /// Most tokens; default 2000
    pub(crate) budget: Option<u64>,
    pub(crate) project_path: Option<String>,
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepositoryMap {
    /// Most tokens; default 1000
    pub(crate) budget: Option<u64>,
    pub(crate) project_path: Option<String>,
    pub(crate) branch_id: Option<String>,
}

/// What is under review and how; shared by `plan`, `review` and `review_begin`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    /// all, staged, unstaged, uncommitted, base:REV, commit:REV, A..B, #PR, or paths; default: what differs from the default branch, else uncommitted work
    pub(crate) scope: Option<String>,
    #[serde(default)]
    pub(crate) paths: Vec<String>,
    /// Such as security, go; default: by the change
    #[serde(default)]
    pub(crate) agents: Vec<String>,
    #[schemars(schema_with = "protocols")]
    pub(crate) protocol: Option<Protocol>,
    #[schemars(schema_with = "tiers")]
    pub(crate) tier: Option<TierName>,
    /// Why vetoes do not block
    pub(crate) ignore_vetos: Option<String>,
    #[serde(default)]
    pub(crate) strict: bool,
    /// review: seconds to wait for the result
    pub(crate) wait: Option<u64>,
    pub(crate) project_path: Option<String>,
    #[schemars(skip)]
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizeTask {
    pub(crate) files: Vec<String>,
    /// The task's own text
    #[serde(default)]
    pub(crate) task: String,
    pub(crate) model: Option<String>,
    pub(crate) window: Option<u64>,
    pub(crate) project_path: Option<String>,
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gates {
    /// As for review
    pub(crate) scope: Option<String>,
    /// Names of gates
    #[serde(default)]
    pub(crate) only: Vec<String>,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewStatus {
    /// Default: latest
    pub(crate) run: Option<String>,
    #[serde(default)]
    pub(crate) cancel: bool,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verdicts {
    /// Default: latest
    pub(crate) run: Option<String>,
    /// Only agents that need a look
    #[serde(default)]
    pub(crate) attention: bool,
    pub(crate) project_path: Option<String>,
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finding {
    /// Such as SEC-001, or a fingerprint
    pub(crate) id: String,
    pub(crate) run: Option<String>,
    pub(crate) project_path: Option<String>,
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewFinish {
    pub(crate) run: String,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmitFindings {
    pub(crate) branch_id: String,
    /// Ends the brief; without it nothing counts as read
    pub(crate) receipt: Option<String>,
    /// {severity, category, file, line, evidence, issue, recommendation, …}
    pub(crate) findings: Vec<Value>,
    #[serde(default)]
    pub(crate) done: bool,
    #[serde(default)]
    pub(crate) skipped_medium: u64,
    #[serde(default)]
    pub(crate) skipped_low: u64,
    /// {sop, status, evidence}
    #[serde(default)]
    pub(crate) sops: Vec<Value>,
    #[serde(default)]
    pub(crate) patterns: Vec<Value>,
    /// Second round: {finding, stance, evidence, severity}
    #[serde(default)]
    pub(crate) reactions: Vec<Value>,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BranchCreate {
    pub(crate) description: String,
    /// Default: main
    pub(crate) session_id: Option<String>,
    /// Tokens; default 8192
    pub(crate) budget: Option<u64>,
    /// Default 300
    pub(crate) timeout_seconds: Option<u64>,
    /// Nest under this branch; without it, siblings
    pub(crate) parent: Option<String>,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BranchReturn {
    pub(crate) branch_id: String,
    pub(crate) message: Option<String>,
    #[serde(default)]
    pub(crate) findings: Vec<Value>,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BranchStatus {
    pub(crate) branch_id: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) project_path: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Outcome {
    #[default]
    Success,
    Failure,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryRecord {
    pub(crate) title: String,
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) outcome: Outcome,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySearch {
    pub(crate) query: String,
    /// Default 5
    pub(crate) limit: Option<usize>,
    pub(crate) project_path: Option<String>,
    pub(crate) branch_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryFeedback {
    pub(crate) memory_id: String,
    pub(crate) helpful: bool,
    pub(crate) project_path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dismiss {
    /// Such as SEC-001, or a fingerprint
    pub(crate) id: String,
    pub(crate) reason: String,
    /// Last day, as 2027-01-31
    pub(crate) expires: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) project_path: Option<String>,
}

/// The words alone: what they mean would cost every caller tokens.
fn protocols(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "enum": ["veto", "aad", "ci", "vote", null] })
}

fn tiers(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "enum": ["simple", "standard", "complex", null] })
}
