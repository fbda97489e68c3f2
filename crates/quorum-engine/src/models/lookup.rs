//! The repository's index, for what reviewers look up.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use quorum_dispatch::llm::{Hit, Lookup, Material};
use quorum_index::{Index, Query};
use quorum_model::search::SearchKind;

use crate::environment::Environment;
use crate::indexing::Place;
use crate::observer::silent;

/// A repository of at most so many files is indexed on the spot; a larger one only where it was before.
const QUICKLY_MADE: usize = 2_000;

/// Answers from the index of the work tree, for files that are the same at the revision under review.
/// The index is opened, and brought up to date, when the first reviewer asks.
pub(super) struct Indexed<'a> {
    folder: &'a Path,
    environment: &'a Environment,
    material: &'a dyn Material,
    opened: OnceLock<Option<Opened>>,
}

struct Opened {
    root: PathBuf,
    index: Mutex<Index>,
}

impl<'a> Indexed<'a> {
    pub(super) fn new(
        folder: &'a Path,
        environment: &'a Environment,
        material: &'a dyn Material,
    ) -> Self {
        Self { folder, environment, material, opened: OnceLock::new() }
    }

    fn opened(&self) -> Option<&Opened> {
        self.opened.get_or_init(|| self.open()).as_ref()
    }

    fn open(&self) -> Option<Opened> {
        let place = Place::open(self.folder, self.environment, &silent()).ok()?;
        if !place.folder().exists() && self.material.paths().len() > QUICKLY_MADE {
            return None;
        }
        let index = place.index(true).ok()?;
        Some(Opened { root: place.root().to_owned(), index: Mutex::new(index) })
    }

    /// The hits in files that are on disk as they are at the revision: elsewhere the lines of the
    /// index are not those of the text.
    fn same(&self, root: &Path, hits: impl Iterator<Item = Hit>, most: usize) -> Vec<Hit> {
        let same = |hit: &Hit| {
            let on_disk = fs::read(root.join(&hit.path)).ok();
            let head = self.material.head(&hit.path);
            on_disk.zip(head).is_some_and(|(disk, head)| *String::from_utf8_lossy(&disk) == *head)
        };
        hits.filter(same).take(most).collect()
    }
}

impl Opened {
    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, text: &str, kind: Option<SearchKind>, limit: usize) -> Vec<quorum_index::Hit> {
        let (text, paths, languages) = (text.to_owned(), Vec::new(), Vec::new());
        let found = self.index().find(&Query { text, paths, languages, kind, limit });
        found.map(|found| found.hits).unwrap_or_default()
    }
}

fn hit(found: quorum_index::Hit) -> Hit {
    let (start_line, end_line) = (u64::from(found.start_line), u64::from(found.end_line));
    Hit { path: found.path, start_line, end_line }
}

impl Lookup for Indexed<'_> {
    fn search(&self, query: &str, most: usize) -> Vec<Hit> {
        let Some(opened) = self.opened() else { return Vec::new() };
        let found = opened.find(query, None, most * 2);
        self.same(&opened.root, found.into_iter().map(hit), most)
    }

    fn symbol(&self, name: &str, most: usize) -> Vec<Hit> {
        let Some(opened) = self.opened() else { return Vec::new() };
        let own = name.rsplit(['.', ':', '#']).next().unwrap_or(name);
        let named = opened.find(name, Some(SearchKind::Symbol), most * 2).into_iter();
        let named =
            named.filter(|found| found.symbol.as_ref().is_some_and(|symbol| symbol.name == own));
        self.same(&opened.root, named.map(hit), most)
    }

    fn callers(&self, name: &str, most: usize) -> Vec<Hit> {
        let Some(opened) = self.opened() else { return Vec::new() };
        let Ok(found) = opened.index().callers(name) else { return Vec::new() };
        let sites = found.callers.into_iter().map(|site| Hit {
            path: site.path,
            start_line: site.line,
            end_line: site.line,
        });
        self.same(&opened.root, sites, most)
    }
}
