//! Finding the index of the place that the user stands in, and keeping it up to date.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use bstr::{BStr, BString};
use quorum_index::{Counter, Embedder, Index, IndexError, Sending, Step, Update};
use quorum_model::config::Config;
use quorum_model::symbol::IndexReport;
use quorum_scope::paths::PathFilter;
use quorum_scope::repository::Repository;
use quorum_scope::request::PolicySource;
use quorum_store::Folder;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::policy::Policy;
use crate::render::style;
use crate::tree::{Head, WorkTree};
use crate::{progress, tree, workspace};

/// A work tree, or a plain folder, and where its index is.
#[derive(Debug)]
pub(crate) struct Place {
    repository: Option<Repository>,
    root: PathBuf,
    pub(crate) config: Config,
    quiet: bool,
    tree: OnceCell<WorkTree>,
}

/// Whether a file is looked at.
type Admits = Box<dyn Fn(&BStr) -> bool + Sync>;

/// Which files an update looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    All,
    /// Files, folders and globs.
    Named(&'a [String]),
    /// What git calls changed since the last time.
    Changed,
}

impl Place {
    /// The place that the user stands in.
    pub(crate) fn open(cli: &Cli) -> Result<Self, Failure> {
        let cwd = workspace::folder(cli)?;
        let repository = Repository::find(&cwd)?;
        let root = match &repository {
            Some(repository) => repository.require_work_tree()?.to_owned(),
            None => cwd,
        };
        let policy = Policy::new(repository.as_ref(), PolicySource::WorkTree);
        let loaded = workspace::load(&policy, Vec::new())?;
        let refused = loaded.warning("embeddings.");
        let config = loaded.config;
        let place = Self { repository, root, config, quiet: cli.quiet, tree: OnceCell::new() };
        if let Some(refused) = refused {
            place.warn(&refused);
        }
        Ok(place)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(".quorum/index")
    }

    pub(crate) fn root(&self) -> &std::path::Path {
        &self.root
    }

    pub(crate) fn counter(&self) -> Counter {
        Counter::new(self.config.tokenizer)
    }

    /// `path` as the user wrote it, from the root.
    pub(crate) fn path_from_root(&self, path: &str) -> String {
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
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            // There is nowhere left to report that standard error is gone.
            drop(writeln!(anstream::stderr(), "{}", style::warning(text)));
        }
    }

    /// The files and what they are, read once.
    pub(crate) fn tree(&self) -> Result<&WorkTree, Failure> {
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
    pub(crate) fn update(&self, which: Which<'_>) -> Result<IndexReport, Failure> {
        let folder = Folder::prepare(&self.root)?.make("index")?;
        let counter = self.counter();
        // Loading a vocabulary takes as long as git takes to answer.
        rayon::spawn(move || {
            counter.count(b"");
        });
        let only = self.only(which)?;
        let bar = progress::files(0, self.quiet);
        let watch = |step: Step| match step {
            Step::Waiting => bar.set_message("Waiting for another quorum"),
            Step::Files(count) => {
                bar.set_message("Indexing");
                bar.set_length(count as u64);
            }
            Step::Embedding(count) => {
                bar.set_message("Embedding");
                bar.set_position(0);
                bar.set_length(count as u64);
            }
            Step::File | Step::Embedded => bar.inc(1),
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
        bar.finish_and_clear();
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
    pub(crate) fn embedder(&self) -> Result<Option<Embedder>, IndexError> {
        let key = std::env::var("OPENAI_API_KEY").ok();
        let sending = Sending { key: key.as_deref(), redact: quorum_rules::secrets::redact };
        Embedder::open(&self.config.embeddings, Some(sending))
    }

    fn only(&self, which: Which<'_>) -> Result<Option<Admits>, Failure> {
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
            (Which::Changed, None) => {
                Err(Failure::new("`--changed` asks git, and there is no repository here")
                    .with_hint("leave it out: only what changed is read again anyway"))
            }
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
    pub(crate) fn index(&self, refresh: bool) -> Result<Index, Failure> {
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

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        let failure = Self::new(error.to_string());
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
