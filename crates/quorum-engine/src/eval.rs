//! The embedded reviewers, measured on labelled code and on a repository's commits.

pub mod commits;
mod corpus;
mod foreign;
mod labels;
pub mod score;

use std::fs;
use std::path::{Path, PathBuf};

use score::{Matching, Score, score};
use serde::Serialize;

use crate::error::EngineError;
use crate::observer::Observer;

/// One finding of one tool, reduced to what is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The file, relative to the corpus.
    pub file: String,
    /// First line.
    pub line: u64,
    /// Last line.
    pub end_line: u64,
    /// The rule.
    pub rule: String,
    /// Who reports it, where the tool has several reviewers.
    pub agent: String,
    /// The weakness class as a number, where it is known.
    pub cwe: Option<u32>,
}

/// The figures of every tool on one corpus, ours first.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// Files with labels.
    pub files: usize,
    /// Labels.
    pub labels: usize,
    /// Files that could not be read or parsed, with the cause.
    pub notes: Vec<String>,
    /// The figures.
    pub tools: Vec<ToolScore>,
}

/// One tool's figures.
#[derive(Debug, Serialize)]
pub struct ToolScore {
    /// Its name.
    pub tool: String,
    /// How it did.
    #[serde(flatten)]
    pub score: Score,
}

/// What is measured on a folder of labelled code.
#[derive(Clone, Debug, Default)]
pub struct EvalRequest {
    /// The folder.
    pub folder: PathBuf,
    /// A table of labels for whole files.
    pub labels: Option<PathBuf>,
    /// Other tools' findings on the same folder, as `NAME=FILE`.
    pub against: Vec<String>,
    /// Only what these reviewers find.
    pub agents: Vec<String>,
    /// How many lines a finding may be away from its label.
    pub tolerance: u64,
    /// Count findings on lines without a label as false.
    pub unlabelled: bool,
}

/// Measures the embedded reviewers on a folder of labelled code.
pub fn evaluate(asked: &EvalRequest, observer: &dyn Observer) -> Result<Evaluation, EngineError> {
    let folder = &asked.folder;
    let root = folder.canonicalize().map_err(|error| {
        EngineError::not_found(format!("{}: {error}", folder.display()))
            .with_hint("name a folder that exists")
    })?;
    let corpus = corpus::read(&root, asked.labels.as_deref())?;
    if corpus.files.is_empty() {
        let text = format!("{}: no labels were found", folder.display());
        return Err(EngineError::not_found(text).with_hint(
            "labels are comments ($ Alert, BAD/GOOD, ruleid:/ok:, want), a CSV (--labels), or \
             folders named positive and negative",
        ));
    }
    let (hits, notes) = corpus::review(&corpus, &asked.agents, observer)?;
    let matching = Matching { tolerance: asked.tolerance, unlabelled_is_false: asked.unlabelled };
    let mut tools =
        vec![ToolScore { tool: "quorum".to_owned(), score: score(&corpus.files, &hits, matching) }];
    for given in &asked.against {
        let (name, file) = given.split_once('=').unwrap_or((given, given));
        let hits = read_foreign(Path::new(file), &root)?;
        tools.push(ToolScore {
            tool: name.to_owned(),
            score: score(&corpus.files, &hits, matching),
        });
    }
    let labels = corpus.files.iter().map(|file| file.labels.len()).sum();
    Ok(Evaluation { files: corpus.files.len(), labels, notes, tools })
}

fn read_foreign(file: &Path, root: &Path) -> Result<Vec<Hit>, EngineError> {
    let failed = |cause: String| EngineError::failed(format!("{}: {cause}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let mut hits = foreign::read(&text).map_err(|error| failed(error.to_string()))?;
    for hit in &mut hits {
        hit.file = foreign::relative(&hit.file, &root.to_string_lossy());
    }
    Ok(hits)
}
