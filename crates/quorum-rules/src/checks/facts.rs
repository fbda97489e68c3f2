//! What is kept of each file for the checks that look at the whole change.
//!
//! Trees and texts are dropped with their file; these facts are small, so that memory does not
//! grow with the size of what is reviewed.

use quorum_model::scope::FileEntry;
use quorum_syntax::Lang;

use super::api::ApiFacts;
use super::docs::DocsFacts;
use super::quality::clones::CloneFacts;
use super::quality::tests_touched::TestFacts;
use crate::source::ParsedFile;

/// What is kept of one file.
#[derive(Clone, Debug)]
pub(crate) struct FileFacts {
    /// What the scope knows about it.
    pub(crate) entry: FileEntry,
    /// Its language.
    pub(crate) lang: Option<Lang>,
    /// Whether whole files are reviewed rather than a change.
    pub(crate) is_whole: bool,
    /// Behaviour and tests that it changes.
    pub(crate) tests: TestFacts,
    /// Added code, to find it elsewhere.
    pub(crate) clones: CloneFacts,
    /// What it gives to users and takes from them.
    pub(crate) api: ApiFacts,
    /// What it says to readers.
    pub(crate) docs: DocsFacts,
}

impl FileFacts {
    /// Reads the facts off a file.
    pub(crate) fn of(file: &ParsedFile) -> Self {
        Self {
            entry: file.source.entry.clone(),
            lang: file.lang,
            is_whole: file.source.added.is_none(),
            tests: TestFacts::of(file),
            clones: CloneFacts::of(file),
            api: ApiFacts::of(file),
            docs: DocsFacts::of(file),
        }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &str {
        &self.entry.path
    }
}
