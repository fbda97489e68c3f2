//! The present tree, as a search needs it: files, where their docs are, how long docs are.

use serde::{Deserialize, Serialize};

/// Set in the length of a doc that is a symbol.
pub(crate) const SYMBOL: u16 = 1 << 15;

/// The files of the present tree, by path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Catalog {
    pub(crate) branch: Option<String>,
    pub(crate) revision: Option<String>,
    pub(crate) languages: Vec<String>,
    /// By path.
    pub(crate) files: Vec<CatalogFile>,
    /// The files by their first doc; those without docs are left out.
    pub(crate) by_doc: Vec<u32>,
    /// Words in every doc, by its number, with [`SYMBOL`] where it is one; 0 for one that is not in
    /// the present tree.
    pub(crate) lengths: Vec<u16>,
    /// Chunks of all files.
    pub(crate) chunks: u64,
}

/// A file of the present tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CatalogFile {
    pub(crate) path: Vec<u8>,
    pub(crate) language: Option<u16>,
    pub(crate) vendored: bool,
    /// Whether it holds tests, examples or benchmarks.
    pub(crate) aside: bool,
    pub(crate) blob: Option<i64>,
    pub(crate) first_doc: u32,
    pub(crate) docs: u32,
}

impl CatalogFile {
    pub(crate) fn shown(&self) -> String {
        shown(&self.path)
    }
}

impl Catalog {
    pub(crate) fn language(&self, file: &CatalogFile) -> Option<&str> {
        self.languages.get(usize::from(file.language?)).map(String::as_str)
    }

    pub(crate) fn find(&self, path: &str) -> Option<&CatalogFile> {
        let found = self.files.binary_search_by(|file| file.path.as_slice().cmp(path.as_bytes()));
        match found {
            Ok(index) => self.files.get(index),
            // The name of a path that is not UTF-8 is spelt otherwise than it is stored.
            Err(_) => self
                .files
                .iter()
                .find(|file| std::str::from_utf8(&file.path).is_err() && file.shown() == path),
        }
    }

    /// The files that hold doc `doc`, by path: more than one where contents are the same.
    pub(crate) fn files_of(&self, doc: u32) -> impl Iterator<Item = &CatalogFile> {
        let first = |index: &u32| self.files.get(*index as usize).map_or(0, |file| file.first_doc);
        let end = self.by_doc.partition_point(|index| first(index) <= doc);
        let start = self.by_doc[..end].last().map_or(0, first);
        let begin = self.by_doc[..end].partition_point(|index| first(index) < start);
        let files =
            self.by_doc[begin..end].iter().filter_map(|index| self.files.get(*index as usize));
        files.filter(move |file| doc - file.first_doc < file.docs)
    }

    pub(crate) fn live_docs(&self) -> usize {
        self.lengths.iter().filter(|length| **length > 0).count()
    }

    /// Sorts what is looked up by order.
    pub(crate) fn arrange(&mut self) {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        let with_docs = (0..).zip(&self.files).filter(|(_, file)| file.docs > 0);
        let mut by_doc: Vec<(u32, u32)> =
            with_docs.map(|(index, file)| (file.first_doc, index)).collect();
        by_doc.sort_unstable();
        self.by_doc = by_doc.into_iter().map(|(_, index)| index).collect();
    }
}

/// A path for documents and people: bytes that are not UTF-8 read `\xNN`.
pub(crate) fn shown(path: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}
