//! Policy files, read from where the user can trust them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use quorum_plan::roster::AgentFile;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;
use quorum_store::ledger::dismissal::{self, Dismissal};

use crate::config::{FILE_NAME, Origin, TextLayer};
use crate::context::convention::{self, Convention};
use crate::error::EngineError;

/// Larger documents are no conventions, in bytes.
const LARGEST_DOCUMENT: u64 = 256 * 1024;

/// Reads `quorum.toml`, `.quorumignore` and the files in `.quorum/`.
#[derive(Debug)]
pub struct Policy<'a> {
    repository: Option<&'a Repository>,
    source: PolicySource,
}

impl<'a> Policy<'a> {
    /// The policy that `source` holds.
    pub fn new(repository: Option<&'a Repository>, source: PolicySource) -> Self {
        Self { repository, source }
    }

    /// The repository that the policy is of.
    pub fn repository(&self) -> Option<&Repository> {
        self.repository
    }

    /// The repository's `quorum.toml`.
    pub fn config(&self) -> Result<Option<TextLayer>, EngineError> {
        let text = self.text(FILE_NAME)?;
        Ok(text.map(|text| TextLayer { origin: Origin::Repository(self.name(FILE_NAME)), text }))
    }

    /// The text of `.quorumignore`.
    pub fn ignore_rules(&self) -> Result<String, EngineError> {
        Ok(self.text(".quorumignore")?.unwrap_or_default())
    }

    /// The Markdown files in a folder of `.quorum/`, by name.
    pub fn markdown(&self, folder: &str) -> Result<Vec<AgentFile>, EngineError> {
        let folder = format!(".quorum/{folder}");
        let mut files = Vec::new();
        for path in self.list(&folder, "md")? {
            if let Some(text) = self.text(&path)? {
                files.push(AgentFile { path: self.name(&path), text, trusted: false });
            }
        }
        Ok(files)
    }

    /// The team's own rules, each as the name of its file and its text.
    pub fn rules(&self) -> Result<Vec<(String, String)>, EngineError> {
        let mut files = Vec::new();
        for path in self.list(".quorum/rules", "toml")? {
            if let Some(text) = self.text(&path)? {
                files.push((self.name(&path), text));
            }
        }
        Ok(files)
    }

    /// The documents that say how the team writes code.
    pub fn conventions(&self) -> Result<Vec<Convention>, EngineError> {
        let paths = self.paths()?;
        let documents = paths.iter().filter(|path| convention::is_convention(path));
        let mut read = Vec::new();
        for path in documents {
            if let Some(text) = self.foreign(path)? {
                read.extend(Convention::read(path, &text));
            }
        }
        Ok(read)
    }

    /// The paths of all files; of the work tree, those that git does not ignore.
    pub fn paths(&self) -> Result<Vec<String>, EngineError> {
        let Some(repository) = self.repository else { return Ok(Vec::new()) };
        let git = repository.git();
        let listed = match &self.source {
            PolicySource::Nowhere => return Ok(Vec::new()),
            PolicySource::Commit(commit) => {
                git.output(["ls-tree", "-r", "-z", "--name-only", commit])?
            }
            PolicySource::WorkTree if repository.work_tree().is_none() => return Ok(Vec::new()),
            PolicySource::WorkTree => {
                git.output(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?
            }
        };
        let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let mut paths: Vec<String> =
            names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect();
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }

    /// The text of a document that was not written for Quorum: what is too large, or a link to
    /// somewhere outside of the repository, is passed over.
    fn foreign(&self, path: &str) -> Result<Option<String>, EngineError> {
        let Some(repository) = self.repository else { return Ok(None) };
        let bytes = match &self.source {
            PolicySource::Nowhere => None,
            PolicySource::Commit(commit) => repository.text_at(commit, path)?,
            PolicySource::WorkTree => repository.work_tree().and_then(|root| inside(root, path)),
        };
        let small = bytes.filter(|bytes| bytes.len() as u64 <= LARGEST_DOCUMENT);
        Ok(small.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The dismissals that the team committed.
    pub fn dismissals(&self) -> Result<Vec<Dismissal>, EngineError> {
        let path = ".quorum/dismissed.toml";
        let text = self.text(path)?.unwrap_or_default();
        let mut all = dismissal::parse(&self.name(path), &text)?;
        for dismissal in &mut all {
            dismissal.place = Some(path.to_owned());
            dismissal.reason = quorum_rules::secrets::redact(&dismissal.reason);
        }
        Ok(all)
    }

    /// How a file of this source is named in messages.
    fn name(&self, path: &str) -> String {
        match &self.source {
            PolicySource::Commit(commit) => {
                format!("{}:{path}", commit.get(..12).unwrap_or(commit))
            }
            PolicySource::WorkTree | PolicySource::Nowhere => path.to_owned(),
        }
    }

    fn text(&self, path: &str) -> Result<Option<String>, EngineError> {
        let Some(repository) = self.repository else { return Ok(None) };
        let bytes = match &self.source {
            PolicySource::Nowhere => None,
            PolicySource::Commit(commit) => repository.text_at(commit, path)?,
            PolicySource::WorkTree => match repository.work_tree().map(|root| root.join(path)) {
                Some(path) => read(&path)?,
                None => None,
            },
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let text = String::from_utf8(bytes)
            .map_err(|_| EngineError::failed(format!("{}: it is not UTF-8", self.name(path))))
            .map_err(|failure| failure.with_hint("save it as UTF-8"))?;
        Ok(Some(text))
    }

    fn list(&self, folder: &str, wanted: &str) -> Result<Vec<String>, EngineError> {
        let Some(repository) = self.repository else { return Ok(Vec::new()) };
        let mut names = match &self.source {
            PolicySource::Nowhere => Vec::new(),
            PolicySource::Commit(commit) => repository.list_at(commit, folder)?,
            PolicySource::WorkTree => {
                let root = repository.work_tree().map(|root| root.join(folder));
                root.map_or_else(|| Ok(Vec::new()), |root| entries(&root, folder))?
            }
        };
        names.retain(|name| Path::new(name).extension().is_some_and(|ending| ending == wanted));
        names.sort();
        Ok(names)
    }
}

/// A file of the work tree, unless it is large or leads out of it.
fn inside(root: &Path, path: &str) -> Option<Vec<u8>> {
    let root = root.canonicalize().ok()?;
    let file = root.join(path).canonicalize().ok()?;
    let metadata = file.metadata().ok()?;
    let taken = file.starts_with(&root) && metadata.is_file() && metadata.len() <= LARGEST_DOCUMENT;
    taken.then(|| fs::read(file).ok()).flatten()
}

/// The names in a folder of policy files, which need not be there.
fn entries(root: &Path, folder: &str) -> Result<Vec<String>, EngineError> {
    let failed = |error: &std::io::Error| {
        EngineError::failed(format!("{}: {error}", root.display()))
            .with_hint("make it a readable folder, or remove it")
    };
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        names.extend(entry.file_name().into_string().map(|name| format!("{folder}/{name}")).ok());
    }
    Ok(names)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, EngineError> {
    let failed = |cause: &dyn std::fmt::Display| {
        EngineError::failed(format!("{}: {cause}", path.display()))
            .with_hint("make it a readable file, or remove it")
    };
    if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(None);
    }
    let metadata = fs::metadata(path).map_err(|error| failed(&error))?;
    if !metadata.is_file() {
        return Err(failed(&"it is not a file"));
    }
    fs::read(path).map(Some).map_err(|error| failed(&error))
}
