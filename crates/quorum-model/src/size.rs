//! Whether a task fits one request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a task fits one request to a model, and how to split it where not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeReport {
    /// See [`crate::SCHEMA_VERSION`].
    #[serde(default = "crate::schema_version")]
    pub schema_version: u32,
    /// The model that it was sized for.
    pub model: String,
    /// The model's context window.
    pub window: u64,
    /// Whether it fits.
    pub fits: bool,
    /// What speaks against it; a note may stand here though it fits.
    pub reasons: Vec<String>,
    /// Tokens left for a task after everything that is always sent.
    pub available: u64,
    /// Tokens that the task's files may take of that.
    pub limit: u64,
    /// Tokens that the task takes.
    pub estimate: u64,
    /// Tokens of the SOPs that apply.
    pub sop_tokens: u64,
    /// The files with their tokens.
    pub files: Vec<SizedFile>,
    /// Parts that fit, where the whole does not.
    pub subtasks: Vec<Subtask>,
}

/// A file with its tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizedFile {
    /// The file.
    pub path: String,
    /// Its tokens.
    pub tokens: u64,
}

/// A part of a task that fits one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subtask {
    /// The files, or the parts of files.
    pub files: Vec<SubtaskFile>,
    /// Tokens of all of them, with the task's own text.
    pub tokens: u64,
    /// The SOPs that apply.
    pub sops: Vec<String>,
    /// Why these files go together.
    #[serde(default)]
    pub reason: String,
}

/// A file, or a part of one, in a subtask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubtaskFile {
    /// The file.
    pub path: String,
    /// First line.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// Tokens of these lines.
    pub tokens: u64,
}

/// A task that somebody plans: what a planner writes, and no more of it than its size depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// What is to be done.
    #[serde(default)]
    pub description: String,
    /// When it is done; each a text, or a value that stands for one.
    #[serde(default)]
    pub acceptance_criteria: Vec<serde_json::Value>,
    /// Files, folders and globs.
    #[serde(default)]
    pub files: Vec<String>,
}

impl Task {
    /// All that a model would be told of it.
    pub fn text(&self) -> String {
        let criteria = self.acceptance_criteria.iter().map(|criterion| match criterion {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let lines: Vec<String> = std::iter::once(self.description.clone())
            .chain(criteria)
            .filter(|line| !line.is_empty())
            .collect();
        lines.join("\n")
    }
}
