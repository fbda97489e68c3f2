//! The index, opened to answer.

use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice as _};
use quorum_model::SCHEMA_VERSION;
use quorum_model::symbol::FileSymbols;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::catalog::{Catalog, CatalogFile};
use crate::error::IndexError;
use crate::record::Record;
use crate::source::Stamp;
use crate::store::Store;
use crate::update::to_path;

/// The index of a tree.
#[derive(Debug)]
pub struct Index {
    pub(crate) store: Store,
    pub(crate) catalog: Catalog,
    pub(crate) root: PathBuf,
    /// Docs in the present tree.
    pub(crate) docs: usize,
    /// Words in a doc, on average.
    pub(crate) average_length: f32,
}

impl Index {
    /// Opens the index in `folder` of the tree at `root`.
    pub fn open(folder: &Path, root: &Path) -> Result<Self, IndexError> {
        let missing = || IndexError::Missing(folder.to_owned());
        let store = Store::open(folder)?.ok_or_else(missing)?;
        let catalog = store.catalog()?.ok_or_else(missing)?;
        let (mut docs, mut words) = (0_usize, 0_u64);
        for length in catalog.lengths.iter().filter(|length| **length > 0) {
            docs += 1;
            words += u64::from(length & !crate::catalog::SYMBOL);
        }
        #[expect(clippy::cast_precision_loss, reason = "an average of words needs no more")]
        let average_length = if docs == 0 { 1.0 } else { words as f32 / docs as f32 };
        Ok(Self { store, catalog, root: root.to_owned(), docs, average_length })
    }

    /// The branch that was checked out when it was made.
    pub fn branch(&self) -> Option<&str> {
        self.catalog.branch.as_deref()
    }

    /// The commit that was checked out when it was made.
    pub fn revision(&self) -> Option<&str> {
        self.catalog.revision.as_deref()
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        self.catalog.files.iter().map(CatalogFile::shown)
    }

    /// The files whose times differ from when they were read, or had just changed then.
    pub fn touched(&self) -> Result<Vec<BString>, IndexError> {
        let root = &self.root;
        let files = self.store.files()?.into_par_iter().filter(|(path, row)| {
            let found = root.join(to_path(path.as_bstr())).symlink_metadata();
            !row.stamp.is_some_and(|stamp| found.is_ok_and(|found| Stamp::of(&found) == stamp))
        });
        Ok(files.map(|(path, _)| path).collect())
    }

    /// The symbols of a file.
    pub fn symbols(&self, path: &str) -> Result<FileSymbols, IndexError> {
        let (file, record) = self.file(path)?;
        Ok(FileSymbols {
            schema_version: SCHEMA_VERSION,
            path: file.shown(),
            language: self.catalog.language(file).map(str::to_owned),
            tokens: record.tokens,
            symbols: record.symbols.iter().map(|symbol| record.symbol(symbol)).collect(),
        })
    }

    /// First and last line of every chunk of a file.
    pub fn chunk_spans(&self, path: &str) -> Result<Vec<(u32, u32)>, IndexError> {
        let (_, record) = self.file(path)?;
        Ok(record.chunks.iter().map(|chunk| (chunk.start_line, chunk.end_line)).collect())
    }

    /// A file and what is known of its content; nothing is known of one that is indexed by name.
    pub(crate) fn file(&self, path: &str) -> Result<(&CatalogFile, Record), IndexError> {
        let file =
            self.catalog.find(path).ok_or_else(|| IndexError::NoSuchFile(path.to_owned()))?;
        let record = match file.blob {
            Some(blob) => self.store.record(blob)?.unwrap_or_default(),
            None => Record::default(),
        };
        Ok((file, record))
    }
}
