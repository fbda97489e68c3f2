//! Whether a task fits one request to a model, and parts that do where it does not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_index::Counter;
use quorum_model::SCHEMA_VERSION;
use quorum_model::config::Tokenizer;
use quorum_model::scope::{Change, FileEntry, FileFacts, FileKind};
use quorum_model::size::{SizeReport, SizedFile, Subtask, SubtaskFile, Task};
use quorum_model::unit::{Unit, UnitKind};
use quorum_model::wording;
use quorum_plan::models::{DEFAULT_WINDOW, Model};
use quorum_plan::shards::Limits;
use quorum_plan::sizing::{self, MANY_FILES, SOPS};
use quorum_plan::sop::Sop;
use quorum_plan::task::{self, Bond, Files, Part};

use crate::environment::Environment;
use crate::error::EngineError;
use crate::observer::Observer;
use crate::request::{ReviewRequest, ReviewSelection};
use crate::workspace::Workspace;
use crate::{gather, sops};

/// What is to be sized, and for what.
#[derive(Clone, Debug, Default)]
pub struct SizeRequest {
    /// The folder that paths are relative to.
    pub root: PathBuf,
    /// What is to be done, and with which files.
    pub task: Task,
    /// Whether files that do not exist yet are part of the task.
    pub allows_new_files: bool,
    /// The model to size for.
    pub model: Option<String>,
    /// A window to size for, in place of a model's.
    pub window: Option<u64>,
    /// How tokens are counted.
    pub tokenizer: Option<Tokenizer>,
}

/// Whether the files fit one request to a model, and parts that do where they don't.
pub fn measure(
    asked: &SizeRequest,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<SizeReport, EngineError> {
    let (there, new): (Vec<String>, Vec<String>) =
        asked.task.files.iter().cloned().partition(|name| exists(&asked.root, name));
    let mut request = ReviewRequest::new(&asked.root, ReviewSelection::Default);
    request.paths = there;
    request.options.tokenizer = asked.tokenizer;
    let workspace = Workspace::open(&request, environment)?;
    let model = model(&workspace, asked);
    let limit = sizing::files_limit(&model)?;
    let text = asked.task.text();
    let own = Counter::new(workspace.loaded.config.tokenizer).count(text.as_bytes());
    let room = limit.checked_sub(own).filter(|room| *room > 0).ok_or_else(|| {
        EngineError::invalid(format!("the task's own text takes {own} of the {limit} tokens"))
            .with_hint("shorten it, or take a model with a larger window")
    })?;
    let mut sized = TaskFiles::default();
    if !request.paths.is_empty() {
        let gathered = gather::gather(&workspace, room, gather::Purpose::Plan, observer)?;
        sized = TaskFiles {
            entries: gathered.scope.files,
            facts: gathered.facts,
            units: gathered.units,
        };
    }
    if asked.allows_new_files {
        sized.add_new(&new, workspace.repository.as_ref().map_or("", |found| found.prefix()));
    } else if let Some(name) = new.first() {
        return Err(EngineError::not_found(format!(
            "`{name}` is no file, directory or glob that matches"
        ))
        .with_hint("name what exists; `--task` sizes files that a task will make, too"));
    }
    let sops = sops::for_code(&workspace)?;
    report(&model, limit, own, &sized, &sops)
}

/// Reads a task from its JSON; `name` is what messages call it.
pub fn read_task(name: &str, text: &str) -> Result<Task, EngineError> {
    let failed = |cause: &dyn std::fmt::Display| {
        EngineError::invalid(format!("{name}: {cause}"))
            .with_hint("a task is JSON: description, acceptance_criteria, files")
    };
    let task: Task = serde_json::from_str(text)
        .map_err(|error| failed(&wording::with_keys_of::<Task>(&error.to_string())))?;
    if task.files.is_empty() {
        return Err(failed(&"it names no files"));
    }
    Ok(task)
}

/// Whether a name can be looked up: a glob, or something on disk.
fn exists(folder: &Path, name: &str) -> bool {
    let is_glob = name.contains(['*', '?', '[', '{']);
    is_glob || folder.join(name).exists()
}

/// The model to size for: the one that is named, the configured one, or a usual window.
fn model(workspace: &Workspace, asked: &SizeRequest) -> Model {
    if let Some(window) = asked.window {
        return Model::of_window("a window", window);
    }
    let configured = workspace.loaded.config.model.as_deref();
    match asked.model.as_deref().or(configured) {
        Some(name) => workspace.registry.model(name),
        None => Model::of_window("default", DEFAULT_WINDOW),
    }
}

/// The files of a task.
#[derive(Debug, Default)]
struct TaskFiles {
    entries: Vec<FileEntry>,
    facts: Vec<FileFacts>,
    units: Vec<Vec<Unit>>,
}

impl TaskFiles {
    /// Adds files that are not there yet: they have no tokens, but SOPs apply to them.
    fn add_new(&mut self, names: &[String], folder: &str) {
        for name in names {
            let path = format!("{folder}{}", name.strip_prefix("./").unwrap_or(name));
            let unit = Unit {
                path: path.as_str().into(),
                kind: UnitKind::Name,
                start_line: 0,
                end_line: 0,
                bytes: None,
                tokens: 0,
            };
            self.entries.push(FileEntry {
                path: path.into(),
                old_path: None,
                change: Change::Added,
                language: None,
                kind: FileKind::Code,
                tokens: 0,
                flags: Vec::new(),
                flag_reasons: BTreeMap::new(),
                hunks: Vec::new(),
                digest: None,
            });
            self.facts.push(FileFacts::default());
            self.units.push(vec![unit]);
        }
    }
}

fn report(
    model: &Model,
    limit: u64,
    own: u64,
    sized: &TaskFiles,
    sops: &[Sop],
) -> Result<SizeReport, EngineError> {
    let files: Vec<SizedFile> = sized
        .entries
        .iter()
        .map(|file| SizedFile { path: file.path.to_string(), tokens: file.tokens })
        .collect();
    let estimate = files.iter().map(|file| file.tokens).sum::<u64>() + own;
    let applying = sops.iter().filter(|sop| files.iter().any(|file| sop.applies(&file.path)));
    let sop_tokens: u64 = applying.map(|sop| sop.tokens).sum();
    let mut reasons = Vec::new();
    if estimate > limit {
        reasons.push(format!("{estimate} tokens are more than the {limit} that files may take"));
    }
    if sop_tokens > SOPS {
        reasons.push(format!("the SOPs that apply take {sop_tokens} tokens, more than {SOPS}"));
    }
    let fits = reasons.is_empty();
    if files.len() > MANY_FILES {
        reasons.push(format!("{} files are probably too many for one task", files.len()));
    }
    let parts = if fits {
        Vec::new()
    } else {
        let TaskFiles { entries, facts, units } = sized;
        let limits = Limits::of_tokens(limit.saturating_sub(own));
        task::decompose(Files { entries, facts, units }, sops, limits)?
    };
    Ok(SizeReport {
        schema_version: SCHEMA_VERSION,
        model: model.name.clone(),
        window: model.window,
        fits,
        reasons,
        available: sizing::available(model.window),
        limit,
        estimate,
        sop_tokens,
        files,
        subtasks: parts.into_iter().map(|part| subtask(part, own)).collect(),
    })
}

/// A part of a task: consecutive units of one file are one piece of it.
fn subtask(part: Part, own: u64) -> Subtask {
    let Part { shard, bond } = part;
    let mut files: Vec<SubtaskFile> = Vec::new();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for unit in shard.units {
        let path = unit.path.to_string();
        let known = last.get(&path).copied().and_then(|index| files.get_mut(index));
        match known {
            Some(file) if file.end_line + 1 >= unit.start_line => {
                file.end_line = file.end_line.max(unit.end_line);
                file.tokens += unit.tokens;
            }
            _ => {
                last.insert(path.clone(), files.len());
                let (start_line, end_line) = (unit.start_line, unit.end_line);
                files.push(SubtaskFile { path, start_line, end_line, tokens: unit.tokens });
            }
        }
    }
    let reason = match bond {
        Bond::File => "one file, or a piece of one",
        Bond::Imports => "they import or test each other",
        Bond::Folder => "they are near each other",
    };
    let (tokens, sops) = (shard.tokens + own, shard.sops);
    Subtask { files, tokens, sops, reason: reason.to_owned() }
}
