//! Finding the index of the place that the user stands in, and keeping it up to date.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bstr::{BStr, BString};
use quorum_index::{Counter, Embedder, Index, IndexError, Sending, Step, Update};
use quorum_model::budget::Thresholds;
use quorum_model::config::Config;
use quorum_model::symbol::IndexReport;
use quorum_scope::paths::PathFilter;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;
use quorum_store::Folder;

use crate::environment::Environment;
use crate::error::EngineError;
use crate::observer::{Progress, SharedObserver, Stage};
use crate::policy::Policy;
use crate::tree::{Head, WorkTree};
use crate::{settings, tree, workspace};

/// A work tree, or a plain folder, and where its index is.
pub struct Place {
    repository: Option<Repository>,
    root: PathBuf,
    pub(crate) config: Config,
    environment: Environment,
    observer: SharedObserver,
    tree: OnceCell<WorkTree>,
}

/// Whether a file is looked at.
type Admits = Box<dyn Fn(&BStr) -> bool + Sync>;

/// Which files an update looks at.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// Every file.
    All,
    /// Files, folders and globs.
    Named(&'a [String]),
    /// What git calls changed since the last time.
    Changed,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Place").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Place {
    /// The repository around `folder`, else the folder itself.
    pub fn open(
        folder: &Path,
        environment: &Environment,
        observer: &SharedObserver,
    ) -> Result<Self, EngineError> {
        let repository = Repository::find(folder)?;
        let root = match &repository {
            Some(repository) => repository.require_work_tree()?.to_owned(),
            None => folder.to_owned(),
        };
        let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
        let loaded = workspace::load(&policy, environment, Vec::new())?;
        let refused = loaded.warning("embeddings.");
        let config = loaded.config;
        let (environment, observer) = (environment.clone(), observer.clone());
        let tree = OnceCell::new();
        let place = Self { repository, root, config, environment, observer, tree };
        if let Some(refused) = refused {
            place.warn(&refused);
        }
        Ok(place)
    }

    /// Where the index is.
    pub fn folder(&self) -> PathBuf {
        self.root.join(".quorum/index")
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// When a branch does less, as configured.
    pub fn thresholds(&self) -> Result<Thresholds, EngineError> {
        Ok(settings::for_plan(&self.config)?.thresholds)
    }

    /// Counts tokens as configured.
    pub fn counter(&self) -> Counter {
        Counter::new(self.config.tokenizer)
    }

    /// `path` as the user wrote it, from the root.
    pub fn path_from_root(&self, path: &str) -> String {
        let prefix = self.repository.as_ref().map_or("", Repository::prefix);
        let joined = PathBuf::from(prefix).join(path);
        let joined = joined.strip_prefix(&self.root).unwrap_or(&joined).to_owned();
        let mut parts: Vec<String> = Vec::new();
        for part in joined.components() {
            match part {
                std::path::Component::ParentDir => {
                    parts.pop();
                }
                std::path::Component::Normal(part) => {
                    parts.push(part.to_string_lossy().into_owned());
                }
                _ => {}
            }
        }
        parts.join("/")
    }

    /// Tells the user what should be known and is no reason to stop.
    pub fn warn(&self, text: &str) {
        self.observer.observe(Progress::Notice(text));
    }

    /// The files and what they are, read once.
    pub(crate) fn tree(&self) -> Result<&WorkTree, EngineError> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        let tree = match &self.repository {
            Some(repository) => {
                let policy = Policy::new(Some(repository), PolicySource::WorkTree);
                WorkTree::of_repository(repository, &self.config, &policy.ignore_rules()?)?
            }
            None => WorkTree::of_folder(&self.root, &self.config)?,
        };
        Ok(self.tree.get_or_init(|| tree))
    }

    /// Brings the index up to date.
    pub fn update(&self, which: Which<'_>) -> Result<IndexReport, EngineError> {
        let folder = Folder::prepare(&self.root)?.make("index")?;
        let counter = self.counter();
        // Loading a vocabulary takes as long as git takes to answer.
        rayon::spawn(move || {
            counter.count(b"");
        });
        let only = self.only(which)?;
        let observer = &*self.observer;
        let started = |stage: Stage, total: usize| {
            let total = total as u64;
            observer.observe(Progress::StageStarted { stage, total });
        };
        let watch = |step: Step| match step {
            Step::Waiting => started(Stage::Waiting, 0),
            Step::Files(count) => started(Stage::Indexing, count),
            Step::Embedding(count) => started(Stage::Embedding, count),
            Step::File => observer.observe(Progress::FileDone { stage: Stage::Indexing }),
            Step::Embedded => observer.observe(Progress::FileDone { stage: Stage::Embedding }),
        };
        let update = Update {
            folder: &folder,
            tree: self.tree()?,
            counter,
            only: only.as_deref(),
            now: SystemTime::now(),
            watch: &watch,
        };
        let report = quorum_index::update(&update).map(|report| self.embed(report, &watch));
        self.observer.observe(Progress::StageEnded { stage: Stage::Indexing });
        Ok(report?)
    }

    /// Gives new contents their vectors. Without them search goes on by words, so that a model which
    /// does not answer is a warning.
    fn embed(&self, mut report: IndexReport, watch: &(dyn Fn(Step) + Sync)) -> IndexReport {
        let done = self.embedder().and_then(|embedder| match embedder {
            Some(embedder) => {
                quorum_index::embed(&self.folder(), &self.root, &embedder, &tree::mask, watch)
            }
            None => Ok(0),
        });
        match done {
            Ok(embedded) => report.embedded = embedded,
            Err(error) => report.warnings.push(error.to_string()),
        }
        report
    }

    /// The model for search by meaning, where one is configured.
    pub fn embedder(&self) -> Result<Option<Embedder>, IndexError> {
        let key = self.environment.variable("OPENAI_API_KEY");
        let sending = Sending { key: key.as_deref(), redact: quorum_rules::secrets::redact };
        Embedder::open(&self.config.embeddings, Some(sending))
    }

    fn only(&self, which: Which<'_>) -> Result<Option<Admits>, EngineError> {
        match (which, &self.repository) {
            (Which::All, _) => Ok(None),
            (Which::Named(paths), Some(repository)) => {
                let filter = PathFilter::new(repository, paths)?;
                let files = quorum_index::Tree::files(self.tree()?)?;
                let known: Vec<&BStr> = files.iter().map(AsRef::as_ref).collect();
                filter.check_used(&known, true)?;
                Ok(Some(Box::new(move |path: &BStr| filter.admits(path))))
            }
            (Which::Named(paths), None) => {
                let filter = PathFilter::without_repository(paths)?;
                Ok(Some(Box::new(move |path: &BStr| filter.admits(path))))
            }
            (Which::Changed, Some(repository)) => {
                let Some(changed) = self.changed(repository) else { return Ok(None) };
                Ok(Some(Box::new(move |path: &BStr| changed.contains(path))))
            }
            (Which::Changed, None) => Err(EngineError::unavailable(
                "`--changed` asks git, and there is no repository here",
            )
            .with_hint("leave it out: only what changed is read again anyway")),
        }
    }

    /// What differs from the commit that was indexed; absent where that is not known.
    fn changed(&self, repository: &Repository) -> Option<HashSet<BString>> {
        let index = Index::open(&self.folder(), &self.root).ok()?;
        let revision = index.revision()?.to_owned();
        let git = repository.git();
        let mut names = git
            .output(["diff", "--name-only", "--no-renames", "-z", "--no-ext-diff", &revision, "--"])
            .ok()?;
        names.extend(git.output(["ls-files", "--others", "--exclude-standard", "-z"]).ok()?);
        let mut changed: HashSet<BString> =
            names.split(|&byte| byte == 0).map(BString::from).collect();
        // What was changed then and is as committed now is not in git's answer.
        changed.extend(index.touched().ok()?);
        Some(changed)
    }

    /// The index, brought up to date first where something changed.
    pub fn index(&self, refresh: bool) -> Result<Index, EngineError> {
        let folder = self.folder();
        if refresh {
            let head = self.repository.as_ref().map(Head::of).unwrap_or_default();
            let opened = Index::open(&folder, &self.root);
            let same_head = opened.as_ref().is_ok_and(|index| {
                index.revision() == head.revision.as_deref()
                    && index.branch() == head.branch.as_deref()
            });
            if same_head && quorum_index::is_current(&folder, &self.root)? {
                return Ok(opened?);
            }
            drop(opened);
            self.update(Which::All)?;
        }
        Ok(Index::open(&folder, &self.root)?)
    }
}
