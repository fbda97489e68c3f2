//! The repository: index, search, symbols, map, task sizing.

use quorum_engine::search::{SearchMode, SearchRequest};
use quorum_engine::size::SizeRequest;
use quorum_model::search::SearchMethod;
use quorum_model::size::Task;
use serde_json::{Value, json};
use std::fmt::Write as _;

use super::{scrub, text};
use crate::arguments::{
    self, ContentMode, RepositoryIndex, RepositoryMap, SemanticSearch, SizeTask, Symbol,
};
use crate::call::{Answer, Desk};
use crate::confine::path_in;
use crate::error::{Code, ToolError};
use crate::operations::SymbolRequest;

/// Results where the caller names no limit, and the most that there are.
const RESULTS: (usize, usize) = (10, 100);
/// Tokens of content where the caller names no budget.
const USUAL_BUDGET: u64 = 2_000;
/// Tokens of a map where the caller names no budget.
const USUAL_MAP: u64 = 1_000;
/// Files that are named with their tokens.
const MOST_COUNTED: usize = 200;
/// Call sites that are named.
const MOST_CALLERS: usize = 50;

pub(crate) fn index(desk: &Desk, arguments: &RepositoryIndex) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.path.as_deref())?;
    let paths = confined(&root, &arguments.include_patterns)?;
    let report = desk.operations.index(&root, &paths)?;
    let mut answer = json!({
        "path": root.display().to_string(),
        "branch": report.branch,
        "revision": report.revision,
        "files_indexed": report.files,
        "parsed": report.parsed,
        "total_tokens": report.tokens,
        "symbols": report.symbols,
        "languages": report.languages,
        "skipped": report.skipped.len(),
    });
    if !paths.is_empty() {
        let task = Task { files: paths, ..Task::default() };
        let request = SizeRequest { root: root.clone(), task, ..SizeRequest::default() };
        let sized = desk.operations.size(&request)?;
        let counted = sized.files.iter().take(MOST_COUNTED);
        answer["per_file_tokens"] = counted
            .map(|file| (file.path.clone(), json!(file.tokens)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        answer["total_tokens"] = json!(sized.files.iter().map(|file| file.tokens).sum::<u64>());
        answer["files_indexed"] = json!(sized.files.len());
    }
    if !report.warnings.is_empty() {
        answer["warnings"] = json!(report.warnings.iter().take(5).collect::<Vec<_>>());
    }
    Ok(vec![text(&answer)])
}

pub(crate) fn search(desk: &Desk, arguments: SemanticSearch) -> Result<Answer, ToolError> {
    if arguments.query.trim().is_empty() {
        return Err(ToolError::new(Code::InvalidArgument, "the query is empty"));
    }
    let root = desk.root(arguments.project_path.as_deref())?;
    let request = SearchRequest {
        mode: match arguments.mode {
            arguments::SearchMode::Ranked => SearchMode::Ranked,
            arguments::SearchMode::Exact => SearchMode::Exact,
            arguments::SearchMode::Regex => SearchMode::Regex,
        },
        paths: confined(&root, &arguments.paths)?,
        limit: Some(arguments.limit.unwrap_or(RESULTS.0).min(RESULTS.1)),
        content: match arguments.content_mode {
            ContentMode::Minimal => quorum_index::ContentMode::Minimal,
            ContentMode::Preview => quorum_index::ContentMode::Preview,
            ContentMode::Full => quorum_index::ContentMode::Full,
        },
        budget: Some(arguments.budget.unwrap_or(USUAL_BUDGET)),
        query: arguments.query,
        ..SearchRequest::default()
    };
    let found = desk.operations.search(&root, &request)?;
    let results: Vec<Value> = found
        .results
        .into_iter()
        .map(|result| {
            json!({
                "file_path": result.path,
                "start_line": result.start_line,
                "end_line": result.end_line,
                "symbol": result.symbol,
                "score": (result.score * 1_000.0).round() / 1_000.0,
                "content": quorum_rules::secrets::redact(&result.content),
            })
        })
        .collect();
    let source = match found.method {
        SearchMethod::Words => "words",
        SearchMethod::Fused => "semantic",
        SearchMethod::Exact | SearchMethod::Regex => "grep",
    };
    let answer = json!({
        "count": results.len(),
        "results": results,
        "source": source,
        "branch": found.branch,
        "left_out": found.left_out,
    });
    desk.charged(&root, arguments.branch_id.as_deref(), text(&answer))
}

pub(crate) fn symbol(desk: &Desk, arguments: Symbol) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let request = match (arguments.name, arguments.file) {
        (Some(name), None) if !name.trim().is_empty() => SymbolRequest::Name(name),
        (None, Some(file)) => {
            let budget = arguments.budget.unwrap_or(USUAL_BUDGET);
            SymbolRequest::File(path_in(&root, &file)?, Some(budget))
        }
        _ => {
            let text = "name one of `name` and `file`";
            return Err(ToolError::new(Code::InvalidArgument, text));
        }
    };
    let mut answer = desk.operations.symbol(&root, &request)?;
    if let Some(Value::Array(callers)) = answer.get_mut("callers")
        && callers.len() > MOST_CALLERS
    {
        let more = callers.len() - MOST_CALLERS;
        callers.truncate(MOST_CALLERS);
        answer["more_callers"] = json!(more);
    }
    scrub(&mut answer);
    bare(&mut answer);
    desk.charged(&root, arguments.branch_id.as_deref(), text(&answer))
}

pub(crate) fn map(desk: &Desk, arguments: &RepositoryMap) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let map = desk.operations.map(&root, arguments.budget.unwrap_or(USUAL_MAP))?;
    let mut page = quorum_rules::secrets::redact(&map.text);
    if map.left_out > 0 {
        _ = write!(page, "\n({} symbols left out)", map.left_out);
    }
    desk.charged(&root, arguments.branch_id.as_deref(), page)
}

pub(crate) fn size(desk: &Desk, arguments: SizeTask) -> Result<Answer, ToolError> {
    if arguments.files.is_empty() {
        return Err(ToolError::new(Code::InvalidArgument, "name at least one file"));
    }
    let root = desk.root(arguments.project_path.as_deref())?;
    let request = SizeRequest {
        root: root.clone(),
        task: Task {
            description: arguments.task,
            files: confined(&root, &arguments.files)?,
            ..Task::default()
        },
        model: arguments.model,
        window: arguments.window,
        ..SizeRequest::default()
    };
    let mut report = desk.operations.size(&request)?;
    let files = report.files.len();
    // What fits needs no list of what it is made of.
    if report.fits {
        report.files.clear();
    }
    let mut answer = serde_json::to_value(&report)
        .map_err(|cause| ToolError::new(Code::Failed, cause.to_string()))?;
    if report.fits {
        answer["files"] = json!(files);
    }
    desk.charged(&root, arguments.branch_id.as_deref(), text(&answer))
}

/// Takes out what says nothing to a caller.
fn bare(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("schema_version");
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(bare);
        }
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

fn confined(root: &std::path::Path, paths: &[String]) -> Result<Vec<String>, ToolError> {
    paths.iter().map(|path| path_in(root, path)).collect()
}
