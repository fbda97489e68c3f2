//! Reviewers as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scope::FileEntry;
use crate::severity::Severity;

/// One reviewer: who it is, which files it answers for, what it may spend, what it may block.
///
/// Read from a Markdown file with front matter; the body is its checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    /// The name, such as `security-reviewer`.
    pub name: String,
    /// The name in table headings, such as `Security`.
    pub title: String,
    /// What it looks for, in one line.
    pub focus: String,
    /// Tokens before scaling.
    pub base_budget: u64,
    /// Whether its veto blocks a change.
    pub veto: bool,
    /// Findings above this are lowered to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_severity: Option<Severity>,
    /// The files that it answers for.
    pub domain: Domain,
    /// Takes the files that are in no other selected reviewer's domain.
    #[serde(default)]
    pub catch_all: bool,
    /// The categories that its findings may have.
    pub categories: Vec<String>,
    /// What makes a finding a veto.
    #[serde(default)]
    pub veto_criteria: Vec<VetoCriterion>,
    /// The provider's model to use, where it differs from the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The checklist and the rest of the Markdown body.
    pub instructions: String,
    /// Where the definition comes from.
    pub origin: AgentOrigin,
}

impl Agent {
    /// The name without `-reviewer`, as the command line accepts it.
    pub fn short_name(&self) -> &str {
        self.name.strip_suffix("-reviewer").unwrap_or(&self.name)
    }

    /// Whether `name` is this agent's name or short name.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.short_name() == name
    }
}

/// Where an agent's definition comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentOrigin {
    /// Part of Quorum.
    Embedded,
    /// The team's own file.
    Team(String),
    /// The team's own file, in place of the embedded agent of the same name.
    Override(String),
}

/// The files that an agent answers for: those that any of the three lists names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Kinds of content and flags, such as `code` or `lock_file`.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Languages, by GitHub Linguist's names.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Globs over the path.
    #[serde(default)]
    pub paths: Vec<String>,
}

impl Domain {
    /// Why `file` is in the domain by its kind, flags or language; globs are the caller's to match.
    pub fn reason_for(&self, file: &FileEntry) -> Option<String> {
        if let Some(language) = &file.language
            && self.languages.contains(language)
        {
            return Some(format!("language {language}"));
        }
        let kind = file.kind.as_str();
        if self.kinds.iter().any(|word| word == kind) {
            return Some(format!("kind {kind}"));
        }
        let flag = file.flags.iter().find(|flag| self.kinds.iter().any(|w| w == flag.as_str()))?;
        Some(format!("flag {}", flag.as_str()))
    }
}

/// A condition under which one finding is enough to block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VetoCriterion {
    /// A name for it, unique within the agent.
    pub id: String,
    /// The least severity that meets it.
    pub min_severity: Severity,
    /// The categories that meet it; empty for any.
    #[serde(default)]
    pub categories: Vec<String>,
    /// Only a finding that shows the way to the harm, step by step, meets it.
    #[serde(default)]
    pub traced: bool,
    /// The condition, in one sentence.
    pub when: String,
}
