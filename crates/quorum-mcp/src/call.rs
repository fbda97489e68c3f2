//! From a tool's name and arguments to its answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorum_model::wording;
use quorum_store::{Run, RunSummary};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::branches::Shelf;
use crate::catalog;
use crate::confine::Roots;
use crate::error::{Code, ToolError};
use crate::jobs::Jobs;
use crate::operations::Operations;
use crate::tools::{branch, code, memory, review, runs};

/// More than any sensible call brings.
const LARGEST: usize = 1 << 20;

/// Names that callers of other servers pass along; they say nothing that Quorum does not know.
const PASSED_ALONG: [(&str, &[&str]); 5] = [
    ("repository_index", &["tenant_id", "branch"]),
    ("semantic_search", &["tenant_id", "branch", "collection_name"]),
    ("branch_create", &["prompt", "project_id"]),
    ("memory_record", &["project_id", "session_id"]),
    ("memory_search", &["project_id"]),
];

/// What calls work with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) operations: Arc<Operations>,
    pub(crate) roots: Roots,
    pub(crate) jobs: Arc<Jobs>,
}

/// What a tool says: one or more texts, each a block of its own.
pub(crate) type Answer = Vec<String>;

impl Desk {
    /// The root of the repository that a call is about.
    pub(crate) fn root(&self, project: Option<&str>) -> Result<PathBuf, ToolError> {
        let folder = self.roots.folder(project)?;
        self.roots.whole(quorum_engine::kept::root_around(&folder)?)
    }

    /// The answer, charged to a branch where one is named.
    pub(crate) fn charged(
        &self,
        root: &Path,
        branch: Option<&str>,
        text: String,
    ) -> Result<Answer, ToolError> {
        let Some(branch) = branch else { return Ok(vec![text]) };
        let metering = self.operations.metering(root)?;
        let note = Shelf::of_branch(root, branch)?
            .change(|session| session.charge(branch, &text, metering))?;
        let mut answer = vec![text];
        answer.extend(note.map(str::to_owned));
        Ok(answer)
    }
}

/// A run of this user.
pub(crate) fn find_run(root: &Path, name: Option<&str>) -> Result<RunSummary, ToolError> {
    let run = Run::find(root, name.unwrap_or("latest"))?;
    if is_ours(run.directory()) {
        return Ok(run);
    }
    let text = format!("run {} belongs to another user", run.id());
    Err(ToolError::new(Code::RunNotFound, text))
}

/// Whether a directory belongs to whoever runs this.
pub(crate) fn is_ours(directory: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let owner = std::fs::symlink_metadata(directory).map(|metadata| metadata.uid());
        owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
    }
    #[cfg(not(unix))]
    {
        directory.is_dir()
    }
}

/// Reads a tool's arguments strictly; what is wrong is named.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|cause| {
        ToolError::new(Code::InvalidArgument, wording::with_keys_of::<T>(&cause.to_string()))
    })
}

/// Refuses what is too large to be looked at.
pub(crate) fn check_size(arguments: &Value) -> Result<(), ToolError> {
    let mut left = LARGEST;
    if fits(arguments, &mut left) {
        return Ok(());
    }
    Err(ToolError::new(Code::TooLarge, "the arguments are larger than 1 MiB"))
}

fn fits(value: &Value, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        _ => 8,
    };
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            left.checked_sub(name.len()).is_some_and(|rest| {
                *left = rest;
                fits(value, left)
            })
        }),
        _ => true,
    }
}

/// Whether there is such a tool.
pub(crate) fn is_known(name: &str) -> bool {
    catalog::listing().iter().any(|tool| tool.name == name)
}

/// Answers a call of any tool but `review`, which the server waits for.
pub(crate) fn answer(desk: &Desk, name: &str, mut arguments: Value) -> Result<Answer, ToolError> {
    let passed_along = PASSED_ALONG.iter().find(|(tool, _)| *tool == name);
    if let (Some((_, names)), Value::Object(fields)) = (passed_along, &mut arguments) {
        fields.retain(|field, _| !names.contains(&field.as_str()));
    }
    match name {
        "repository_index" => code::index(desk, &parse(arguments)?),
        "semantic_search" => code::search(desk, parse(arguments)?),
        "symbol" => code::symbol(desk, parse(arguments)?),
        "repository_map" => code::map(desk, &parse(arguments)?),
        "size_task" => code::size(desk, parse(arguments)?),
        "plan" => review::plan(desk, &parse(arguments)?),
        "gates" => review::gates(desk, &parse(arguments)?),
        "review_begin" => review::begin(desk, &parse(arguments)?),
        "submit_findings" => review::submit(desk, &parse(arguments)?),
        "review_finish" => review::finish(desk, &parse(arguments)?),
        "review_status" => review::status(desk, &parse(arguments)?),
        "verdicts" => runs::verdicts(desk, &parse(arguments)?),
        "finding" => runs::finding(desk, &parse(arguments)?),
        "dismiss" => runs::dismiss(desk, parse(arguments)?),
        "branch_create" => branch::create(desk, &parse(arguments)?),
        "branch_return" => branch::give_back(desk, parse(arguments)?),
        "branch_status" => branch::status(desk, &parse(arguments)?),
        "memory_record" => memory::record(desk, parse(arguments)?),
        "memory_search" => memory::search(desk, &parse(arguments)?),
        "memory_feedback" => memory::feedback(desk, &parse(arguments)?),
        other => Err(ToolError::new(Code::NotFound, format!("there is no tool `{other}`"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn huge_arguments_are_refused() {
        assert!(check_size(&json!({ "query": "x" })).is_ok());
        let huge = [
            json!({ "query": "x".repeat(LARGEST) }),
            json!({ "findings": vec![json!({}); LARGEST / 8] }),
            json!({ "x".repeat(LARGEST): 1 }),
        ];
        for arguments in huge {
            assert_eq!(check_size(&arguments).unwrap_err().code, Code::TooLarge);
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        let cases = [
            (json!({}), "query"),
            (
                json!({ "query": 7 }),
                "a text is wanted, and there is a whole number, `7`; the keys are branch_id",
            ),
            (json!({ "query": "x", "limt": 3 }), "limt"),
            (json!({ "query": "x", "limit": -1 }), "-1"),
            (json!({ "query": "x", "content_mode": "all" }), "all"),
            (json!([1]), "a text is wanted"),
        ];
        for (arguments, word) in cases {
            let error = parse::<crate::arguments::SemanticSearch>(arguments).unwrap_err();
            assert_eq!(error.code, Code::InvalidArgument);
            assert!(error.message.contains(word), "{error}");
            assert!(!wording::has_words_of_libraries(&error.message), "{error}");
        }
    }
}
