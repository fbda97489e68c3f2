//! `quorum eval`.

pub(crate) mod commits;
mod corpus;

use std::fs;
use std::path::Path;

use quorum_eval::foreign;
use quorum_eval::score::{Matching, Score, score};
use serde::Serialize;

use crate::cli::{Cli, EvalArgs, Format};
use crate::failure::Failure;
use crate::{output, render, workspace};

/// The figures of every tool on one corpus, ours first.
#[derive(Debug, Serialize)]
pub(crate) struct Evaluation {
    pub(crate) files: usize,
    pub(crate) labels: usize,
    /// Files that could not be read or parsed, with the cause.
    pub(crate) notes: Vec<String>,
    pub(crate) tools: Vec<ToolScore>,
}

/// One tool's figures.
#[derive(Debug, Serialize)]
pub(crate) struct ToolScore {
    pub(crate) tool: String,
    #[serde(flatten)]
    pub(crate) score: Score,
}

pub(super) fn run(cli: &Cli, arguments: &EvalArgs) -> Result<u8, Failure> {
    if let [repository, number] = arguments.commits.as_slice() {
        return commits::run(cli, arguments, repository, number);
    }
    let Some(folder) = &arguments.folder else {
        return Err(Failure::new("nothing to measure on")
            .with_hint("name a folder of labelled code, or `--commits REPO N`"));
    };
    let root = workspace::folder(cli)?.join(folder);
    let root = root.canonicalize().map_err(|error| {
        Failure::new(format!("{}: {error}", folder.display()))
            .with_hint("name a folder that exists")
    })?;
    let corpus = corpus::read(&root, arguments.labels.as_deref())?;
    if corpus.files.is_empty() {
        return Err(Failure::new(format!("{}: no labels were found", folder.display())).with_hint(
            "labels are comments ($ Alert, BAD/GOOD, ruleid:/ok:, want), a CSV (--labels), or \
             folders named positive and negative",
        ));
    }
    let (hits, notes) = corpus::review(&corpus, &arguments.agents, cli.quiet)?;
    let matching =
        Matching { tolerance: arguments.tolerance, unlabelled_is_false: arguments.unlabelled };
    let mut tools =
        vec![ToolScore { tool: "quorum".to_owned(), score: score(&corpus.files, &hits, matching) }];
    for given in &arguments.against {
        let (name, file) = given.split_once('=').unwrap_or((given, given));
        let hits = read_foreign(Path::new(file), &root)?;
        tools.push(ToolScore {
            tool: name.to_owned(),
            score: score(&corpus.files, &hits, matching),
        });
    }
    let labels = corpus.files.iter().map(|file| file.labels.len()).sum();
    let evaluation = Evaluation { files: corpus.files.len(), labels, notes, tools };
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&evaluation, file)?,
        Format::Terminal => {
            output::text(&render::eval::page(&evaluation, arguments.list), file)?;
        }
    }
    Ok(0)
}

fn read_foreign(file: &Path, root: &Path) -> Result<Vec<quorum_eval::Hit>, Failure> {
    let failed = |cause: String| Failure::new(format!("{}: {cause}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let mut hits = foreign::read(&text).map_err(|error| failed(error.to_string()))?;
    for hit in &mut hits {
        hit.file = foreign::relative(&hit.file, &root.to_string_lossy());
    }
    Ok(hits)
}
