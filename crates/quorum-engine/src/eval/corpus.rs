//! A folder of labelled code: its labels, and what the embedded reviewers find in it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bstr::BString;
use quorum_model::config::ScopeConfig;
use quorum_model::scope::{Change, FileEntry, Flag};
use quorum_rules::{Side, SourceFile, Sources};
use quorum_scope::classify::Classifier;
use quorum_scope::content::{Content, readable};
use quorum_scope::files::RawFile;

use crate::error::EngineError;
use crate::eval::Hit;
use crate::eval::labels::{self, Label};
use crate::eval::score::LabelledFile;
use crate::observer::{Observer, Progress, Stage};

/// Larger files hold no samples.
const LARGEST: u64 = 2 * 1024 * 1024;

/// A folder of labelled code.
pub(super) struct Corpus {
    root: PathBuf,
    /// Files with labels.
    pub(super) files: Vec<LabelledFile>,
}

/// Reads the labels below `root`: from a table where one is given, else from comments and folders.
pub(super) fn read(root: &Path, table: Option<&Path>) -> Result<Corpus, EngineError> {
    let rows = match table {
        Some(path) => table_rows(path)?,
        None => HashMap::new(),
    };
    let mut files = Vec::new();
    let walk = ignore::WalkBuilder::new(root).standard_filters(false).build();
    for entry in walk.filter_map(Result::ok) {
        let plain = entry.file_type().is_some_and(|kind| kind.is_file());
        if !plain || entry.metadata().is_ok_and(|data| data.len() > LARGEST) {
            continue;
        }
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let path = path.to_string_lossy().replace('\\', "/");
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let found = if table.is_some() {
            let name = entry.path().file_name().unwrap_or_default().to_string_lossy();
            let stem = entry.path().file_stem().unwrap_or_default().to_string_lossy();
            let row = [path.as_str(), &name, &stem].into_iter().find_map(|key| rows.get(key));
            row.cloned().into_iter().collect()
        } else {
            let found = labels::read(&text);
            if found.is_empty() { labels::of_path(&path).into_iter().collect() } else { found }
        };
        if found.is_empty() {
            continue;
        }
        let category = category(&path, &found);
        let language = language(&path);
        files.push(LabelledFile { path, language, category, labels: found });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Corpus { root: root.to_owned(), files })
}

fn table_rows(path: &Path) -> Result<HashMap<String, Label>, EngineError> {
    let failed = |cause: String| EngineError::failed(format!("{}: {cause}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let rows = labels::read_table(&text).map_err(|error| failed(error.to_string()))?;
    Ok(rows.into_iter().map(|row| (row.file, row.label)).collect())
}

/// What a file is about: the weakness class that a label or the path names, else its folder.
fn category(path: &str, labels: &[Label]) -> String {
    let named = labels.iter().find_map(|label| label.category.clone());
    if let Some(cwe) = labels::cwe_in(path).or_else(|| labels::cwe_in(named.as_deref()?)) {
        return format!("CWE-{cwe}");
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("-").to_owned()
}

fn language(path: &str) -> Option<String> {
    Some(quorum_syntax::Lang::from_path(path)?.name().to_owned())
}

/// What the embedded reviewers find in the corpus, and what they could not read.
pub(super) fn review(
    corpus: &Corpus,
    agents: &[String],
    observer: &dyn Observer,
) -> Result<(Vec<Hit>, Vec<String>), EngineError> {
    let classifier = Classifier::new(HashMap::new(), &ScopeConfig::default())?;
    let unread = Mutex::new(BTreeSet::new());
    let total = corpus.files.len() as u64;
    observer.observe(Progress::StageStarted { stage: Stage::Reviewing, total });
    let load = |number: usize| {
        let file = corpus.files.get(number)?;
        observer.observe(Progress::FileDone { stage: Stage::Reviewing });
        if let Some(source) = source(&corpus.root, &file.path, &classifier) {
            return Some(source);
        }
        if let Ok(mut unread) = unread.lock() {
            unread.insert(format!("{}: it cannot be read", file.path));
        }
        None
    };
    let around = Folder(corpus.root.clone());
    let review = quorum_rules::review(corpus.files.len(), &load, &around);
    observer.observe(Progress::StageEnded { stage: Stage::Reviewing });
    let wanted = |agent: &str| {
        let short = agent.strip_suffix("-reviewer").unwrap_or(agent);
        agents.is_empty() || agents.iter().any(|name| name == agent || name == short)
    };
    let hits = review.findings.into_iter().filter(|found| wanted(found.agent)).map(|found| Hit {
        file: found.file,
        line: found.line,
        end_line: found.end_line,
        rule: found.rule,
        agent: found.agent.to_string(),
        cwe: found.cwe.as_deref().and_then(labels::cwe_in),
    });
    let mut notes: Vec<String> = unread.into_inner().unwrap_or_default().into_iter().collect();
    notes.extend(review.notes.iter().map(|note| format!("{}: {}", note.file, note.cause)));
    Ok((hits.collect(), notes))
}

fn source(root: &Path, path: &str, classifier: &Classifier) -> Option<SourceFile> {
    let bytes = fs::read(root.join(path)).ok()?;
    let (content, decoded) = readable(path, bytes);
    let raw = RawFile { decoded, ..RawFile::whole(BString::from(path)) };
    let mut classified = classifier.classify(&raw, &content, None);
    // Samples often lie in folders named like tests; they are meant to be judged as product code.
    for flag in [Flag::Test, Flag::Vendored, Flag::Generated, Flag::Docs] {
        classified.flags.remove(&flag);
    }
    let Content::Whole(bytes) = content else { return None };
    let entry = FileEntry {
        path: path.into(),
        old_path: None,
        change: Change::Unchanged,
        language: classified.language,
        kind: classified.kind,
        tokens: 0,
        flags: classified.flags.keys().copied().collect(),
        flag_reasons: classified.flags,
        hunks: Vec::new(),
        digest: None,
    };
    Some(SourceFile {
        entry,
        head: Some(String::from_utf8_lossy(&bytes).into()),
        base: None,
        added: None,
        removed: quorum_rules::LineSet::default(),
    })
}

/// The corpus as the repository around each file. Samples stand for themselves, so nothing is listed.
struct Folder(PathBuf);

impl Sources for Folder {
    fn read(&self, path: &str, side: Side) -> Option<Arc<str>> {
        let inside = !path.split('/').any(|part| part == "..") && !path.starts_with('/');
        if side == Side::Base || !inside {
            return None;
        }
        fs::read_to_string(self.0.join(path)).ok().map(Into::into)
    }

    fn paths(&self) -> &[String] {
        &[]
    }
}
