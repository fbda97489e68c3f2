//! `quorum size`.

use std::collections::BTreeMap;

use quorum_config::Setting;
use quorum_index::Counter;
use quorum_model::SCHEMA_VERSION;
use quorum_model::plan::Shard;
use quorum_model::size::{SizeReport, SizedFile, Subtask, SubtaskFile};
use quorum_plan::models::{DEFAULT_WINDOW, Model};
use quorum_plan::shards::{self, Limits};
use quorum_plan::sizing::{self, MANY_FILES, SOPS};
use quorum_plan::sop::Sop;

use crate::cli::{Cli, Format, ScopeArgs, SizeArgs};
use crate::commands::plan;
use crate::failure::Failure;
use crate::gather::{self, Gathered};
use crate::workspace::Workspace;
use crate::{output, render};

pub(super) fn run(cli: &Cli, arguments: &SizeArgs) -> Result<u8, Failure> {
    let report = measure(cli, arguments)?;
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&report, file)?,
        Format::Terminal => output::text(&render::size::page(&report), file)?,
    }
    Ok(0)
}

/// Whether the files fit, and parts that do where they don't.
pub(crate) fn measure(cli: &Cli, arguments: &SizeArgs) -> Result<SizeReport, Failure> {
    let scope = ScopeArgs { paths: arguments.paths.clone(), ..ScopeArgs::default() };
    let flags = arguments.tokenizer.clone().map(|name| Setting {
        flag: "--tokenizer".to_owned(),
        key: "tokenizer".to_owned(),
        value: quorum_config::Value::String(name),
    });
    let workspace = Workspace::open(cli, &scope, flags.into_iter().collect())?;
    let model = model(&workspace, arguments);
    let limit = sizing::files_limit(&model)?;
    let task = Counter::new(workspace.loaded.config.tokenizer).count(arguments.task.as_bytes());
    let room = limit.checked_sub(task).filter(|room| *room > 0).ok_or_else(|| {
        Failure::new(format!("the task's own text takes {task} of the {limit} tokens"))
            .with_hint("shorten it, or take a model with a larger window")
    })?;
    let gathered = gather::gather(&workspace, room, gather::Purpose::Plan, cli.quiet)?;
    let sops = plan::sops(&workspace)?;
    Ok(report(&model, limit, task, gathered, &sops))
}

/// The model to size for: the one that is named, the configured one, or a usual window.
fn model(workspace: &Workspace, arguments: &SizeArgs) -> Model {
    if let Some(window) = arguments.window {
        return Model::of_window("a window", window);
    }
    let configured = workspace.loaded.config.model.as_deref();
    match arguments.model.as_deref().or(configured) {
        Some(name) => workspace.registry.model(name),
        None => Model::of_window("default", DEFAULT_WINDOW),
    }
}

fn report(model: &Model, limit: u64, task: u64, gathered: Gathered, sops: &[Sop]) -> SizeReport {
    let files: Vec<SizedFile> = gathered
        .scope
        .files
        .iter()
        .map(|file| SizedFile { path: file.path.to_string(), tokens: file.tokens })
        .collect();
    let estimate = files.iter().map(|file| file.tokens).sum::<u64>() + task;
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
    let units = gathered.units.into_iter().flatten();
    let shards = if fits {
        Vec::new()
    } else {
        shards::pack(units, sops, Limits::of_tokens(limit.saturating_sub(task)))
    };
    SizeReport {
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
        subtasks: shards.into_iter().map(|shard| subtask(shard, task)).collect(),
    }
}

/// A shard as a part of a task: consecutive units of one file are one piece of it.
fn subtask(shard: Shard, task: u64) -> Subtask {
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
    Subtask { files, tokens: shard.tokens + task, sops: shard.sops }
}
