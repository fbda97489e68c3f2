//! The work tree as the index reads it: which files there are, and what each of them is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice as _};
use quorum_index::{Class, IndexError, Tree};
use quorum_model::config::Config;
use quorum_model::scope::{Flag, ScopeKind};
use quorum_scope::attributes;
use quorum_scope::classify::Classifier;
use quorum_scope::content::{Content, readable};
use quorum_scope::files::{self, RawFile, SUBMODULE};
use quorum_scope::ignored::IgnoreRules;
use quorum_scope::repository::Repository;
use quorum_scope::request::{PolicySource, Sides, Target};

use crate::error::EngineError;

/// Folders that are never code, where there is no git to say so.
const NEVER: [&str; 2] = [".git", ".quorum"];

/// The files of a work tree that are looked at.
#[derive(Debug)]
pub(crate) struct WorkTree {
    root: PathBuf,
    files: Vec<BString>,
    classifier: Classifier,
    policy: Vec<u8>,
    head: Head,
}

/// What is checked out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) branch: Option<String>,
    pub(crate) revision: Option<String>,
}

impl Head {
    pub(crate) fn of(repository: &Repository) -> Self {
        let answer = repository.git().line(["rev-parse", "HEAD", "--abbrev-ref", "HEAD"]);
        let answer = answer.unwrap_or_default();
        let mut lines = answer.lines().map(str::to_owned);
        let revision = lines.next().filter(|id| !id.is_empty());
        // A detached head has no branch.
        Self { revision, branch: lines.next().filter(|name| name != "HEAD") }
    }
}

impl WorkTree {
    /// The files that git tracks or does not ignore, without those that `.quorumignore` leaves out.
    pub(crate) fn of_repository(
        repository: &Repository,
        config: &Config,
        ignore_rules: &str,
    ) -> Result<Self, EngineError> {
        let root = repository.require_work_tree()?.to_owned();
        let target = Target {
            kind: ScopeKind::All,
            label: String::new(),
            base: None,
            head: None,
            sides: Sides::WholeWorkTree,
            untracked: true,
            paths: Vec::new(),
        };
        let mut listed = Vec::new();
        for file in files::open(repository, &target)? {
            let file = file?;
            if file.new_mode != SUBMODULE {
                listed.push(file.path);
            }
        }
        let attributes = attributes::of_paths(repository, &PolicySource::WorkTree, &listed)?;
        let mut said: Vec<String> =
            attributes.iter().map(|(path, said)| format!("{path} {said:?}")).collect();
        said.sort();
        let head = Head::of(repository);
        Self::new(root, listed, config, ignore_rules, (attributes, said), head)
    }

    /// The files of a folder that is in no repository.
    pub(crate) fn of_folder(root: &Path, config: &Config) -> Result<Self, EngineError> {
        let walk = ignore::WalkBuilder::new(root)
            .hidden(false)
            .git_global(false)
            .require_git(false)
            .filter_entry(|entry| !NEVER.iter().any(|never| entry.file_name() == *never))
            .build();
        let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|t| !t.is_dir()));
        let names = files.filter_map(|entry| {
            let name = entry.path().strip_prefix(root).ok()?;
            Some(BString::from(<[u8]>::from_path(name)?))
        });
        let rules = std::fs::read_to_string(root.join(".quorumignore")).unwrap_or_default();
        let nothing = (HashMap::new(), Vec::new());
        Self::new(root.to_owned(), names.collect(), config, &rules, nothing, Head::default())
    }

    fn new(
        root: PathBuf,
        mut files: Vec<BString>,
        config: &Config,
        ignore_rules: &str,
        (attributes, said): (HashMap<BString, attributes::Attributes>, Vec<String>),
        head: Head,
    ) -> Result<Self, EngineError> {
        let rules = IgnoreRules::new(ignore_rules, &config.scope.ignore)?;
        files.retain(|path| rules.reason(path.as_bstr()).is_none());
        files.sort();
        let policy = format!("{:?}\n{}", config.scope.generated, said.join("\n")).into_bytes();
        let classifier = Classifier::new(attributes, &config.scope)?;
        Ok(Self { root, files, classifier, policy, head })
    }
}

impl Tree for WorkTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn files(&self) -> Result<Vec<BString>, IndexError> {
        Ok(self.files.clone())
    }

    fn policy(&self) -> Vec<u8> {
        self.policy.clone()
    }

    fn classify(&self, path: &BStr, content: Vec<u8>) -> (Class, Vec<u8>) {
        let (content, decoded) = readable(&path.to_str_lossy(), content);
        let file = RawFile { decoded, ..RawFile::whole(path.to_owned()) };
        // An index judges nothing: here a file may say itself that a program wrote it.
        let before = if let Content::Whole(text) = &content { Some(text.as_slice()) } else { None };
        let found = self.classifier.classify(&file, &content, before);
        let reason = |flag: Flag| found.flags.get(&flag).cloned();
        let binary = reason(Flag::Binary).map(|reason| format!("binary: {reason}"));
        let generated = reason(Flag::Generated).map(|reason| format!("generated: {reason}"));
        let class = Class {
            name_only: binary.or(generated),
            vendored: found.has(Flag::Vendored),
            aside: found.has(Flag::Test),
            language: found.language,
        };
        let Content::Whole(content) = content else { return (class, Vec::new()) };
        (class, content)
    }

    fn mask(&self, path: &BStr, content: &[u8]) -> Vec<u8> {
        mask(&path.to_str_lossy(), content)
    }

    fn branch(&self) -> Option<String> {
        self.head.branch.clone()
    }

    fn revision(&self) -> Option<String> {
        self.head.revision.clone()
    }
}

/// A file's content without secrets, as it is kept in the index and shown.
pub(crate) fn mask(path: &str, content: &[u8]) -> Vec<u8> {
    quorum_rules::secrets::redact_file(path, &String::from_utf8_lossy(content)).into_bytes()
}
