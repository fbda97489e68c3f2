//! The index on disk: one `SQLite` file.
//!
//! Contents are kept by their hash, so that nothing is parsed twice, under whatever name and on
//! whatever branch. Which of them are in the present tree is one row, the catalog, that a search
//! reads first. A batch of contents and the catalog are each written in one transaction: a process
//! that is killed leaves contents that the next run finds, and never half of anything.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bstr::BString;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use quorum_model::symbol::{IndexReport, SkippedFile};

use crate::catalog::{Catalog, shown};
use crate::error::IndexError;
use crate::postings::{self, Builder, Postings, Terms};
use crate::record::Record;
use crate::source::Stamp;
use crate::terms;

/// Raised whenever what is stored, or what is read from a file, changes.
const FORMAT: i64 = 3;

const FILE: &str = "index.db";

/// Segments of about one size are put together when there are this many.
const SEGMENTS_OF_A_SIZE: usize = 8;

const SCHEMA: &str = "
CREATE TABLE state(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE blobs(
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, first_doc INTEGER NOT NULL,
    docs INTEGER NOT NULL, chunks INTEGER NOT NULL, symbols INTEGER NOT NULL,
    lines INTEGER NOT NULL, tokens INTEGER NOT NULL, note TEXT, lengths BLOB NOT NULL,
    record BLOB NOT NULL);
CREATE TABLE paths(term TEXT PRIMARY KEY, files BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE files(
    path BLOB PRIMARY KEY, blob INTEGER, language TEXT, vendored INTEGER NOT NULL,
    aside INTEGER NOT NULL, reason TEXT, size INTEGER, modified INTEGER, changed INTEGER,
    inode INTEGER) WITHOUT ROWID;
CREATE TABLE folders(path BLOB PRIMARY KEY, modified INTEGER NOT NULL, changed INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE segments(id INTEGER PRIMARY KEY, docs INTEGER NOT NULL);
CREATE TABLE postings(
    segment INTEGER NOT NULL, term TEXT NOT NULL, docs BLOB NOT NULL, PRIMARY KEY(segment, term))
    WITHOUT ROWID;
CREATE TABLE vectors(
    blob INTEGER NOT NULL, model TEXT NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY(blob, model))
    WITHOUT ROWID;
";

pub(crate) type Key = [u8; 32];

/// A content that is in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blob {
    pub(crate) id: i64,
}

/// A content that is to be stored.
#[derive(Debug)]
pub(crate) struct NewBlob {
    pub(crate) key: Key,
    pub(crate) record: Record,
    pub(crate) lengths: Vec<u16>,
    pub(crate) terms: Terms,
}

/// A file of the present tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub(crate) blob: Option<i64>,
    pub(crate) language: Option<String>,
    pub(crate) vendored: bool,
    pub(crate) aside: bool,
    pub(crate) reason: Option<String>,
    pub(crate) stamp: Option<Stamp>,
}

/// The open store.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    connection: Connection,
}

impl Store {
    /// Opens what is there; absent where there is nothing of this format.
    pub(crate) fn open(folder: &Path) -> Result<Option<Self>, IndexError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let opened = Self::connect(path.clone());
        let store = opened.and_then(|store| Ok((store.format()? == FORMAT).then_some(store)));
        match store {
            Err(IndexError::Store { cause, .. }) if is_damage(&cause) => Ok(None),
            other => other,
        }
    }

    /// Opens what is there, or makes a new one in place of what is of another format or damaged.
    /// The caller holds the lock.
    pub(crate) fn open_or_create(folder: &Path) -> Result<Self, IndexError> {
        if let Some(store) = Self::open(folder)? {
            return Ok(store);
        }
        for name in [FILE.to_owned(), format!("{FILE}-wal"), format!("{FILE}-shm")] {
            let path = folder.join(name);
            match fs::remove_file(&path) {
                Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                    return Err(IndexError::Folder { path, cause });
                }
                _ => {}
            }
        }
        let mut store = Self::connect(folder.join(FILE))?;
        store.write(|transaction| {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", FORMAT)
        })?;
        Ok(store)
    }

    fn connect(path: PathBuf) -> Result<Self, IndexError> {
        let open = || {
            // Made before the database is, for its owner alone; what is beside it follows.
            let mut options = fs::OpenOptions::new();
            drop(options.create(true).append(true).mode(0o600).open(&path));
            let connection = Connection::open(&path)?;
            connection.busy_timeout(Duration::from_mins(1))?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "cache_size", -16_384)?;
            connection.pragma_update(None, "mmap_size", 256 * 1024 * 1024)?;
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(Self { path, connection }),
            Err(cause) => Err(IndexError::Store { path, cause }),
        }
    }

    fn fail(&self, cause: rusqlite::Error) -> IndexError {
        IndexError::Store { path: self.path.clone(), cause }
    }

    fn format(&self) -> Result<i64, IndexError> {
        let read = self.connection.query_row("PRAGMA user_version", [], |row| row.get(0));
        read.map_err(|cause| self.fail(cause))
    }

    /// Runs `work` in one transaction.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        let run = || {
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        run().map_err(|cause| IndexError::Store { path: self.path.clone(), cause })
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        work(&self.connection).map_err(|cause| self.fail(cause))
    }

    /// Every file of the present tree.
    pub(crate) fn files(&self) -> Result<HashMap<BString, FileRow>, IndexError> {
        self.read(|connection| {
            let sql = "SELECT path, blob, language, vendored, aside, reason, size, modified, changed, inode FROM files";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                let size: Option<i64> = row.get(6)?;
                let stamp = match size {
                    None => None,
                    Some(size) => Some(Stamp {
                        size,
                        modified: row.get(7)?,
                        changed: row.get(8)?,
                        inode: row.get(9)?,
                    }),
                };
                let path: Vec<u8> = row.get(0)?;
                let file = FileRow {
                    blob: row.get(1)?,
                    language: row.get(2)?,
                    vendored: row.get(3)?,
                    aside: row.get(4)?,
                    reason: row.get(5)?,
                    stamp,
                };
                Ok((BString::from(path), file))
            })?;
            rows.collect()
        })
    }

    /// Every content, by its key.
    pub(crate) fn blobs(&self) -> Result<HashMap<Key, Blob>, IndexError> {
        self.read(|connection| {
            let sql = "SELECT key, id FROM blobs";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement
                .query_map([], |row| Ok((row.get::<_, Key>(0)?, Blob { id: row.get(1)? })))?;
            rows.collect()
        })
    }

    /// Stores contents and their terms.
    pub(crate) fn add(&mut self, batch: Vec<NewBlob>) -> Result<(), IndexError> {
        self.write(|transaction| {
            let next = "SELECT coalesce(max(first_doc + docs), 0) FROM blobs";
            let mut doc: u32 = transaction.query_row(next, [], |row| row.get(0))?;
            let mut builder = Builder::default();
            let first = doc;
            let sql = "INSERT INTO blobs(key, first_doc, docs, chunks, symbols, lines, tokens, note, lengths, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
            let mut insert = transaction.prepare_cached(sql)?;
            for blob in batch {
                let docs = u32::try_from(blob.lengths.len()).unwrap_or(u32::MAX);
                let chunks = u32::try_from(blob.record.chunks.len()).unwrap_or(u32::MAX);
                let lengths: Vec<u8> =
                    blob.lengths.iter().flat_map(|length| length.to_le_bytes()).collect();
                let record = postcard::to_stdvec(&blob.record).map_err(unwritable)?;
                insert.execute(params![
                    blob.key,
                    doc,
                    docs,
                    chunks,
                    u32::try_from(blob.record.symbols.len()).unwrap_or(u32::MAX),
                    blob.record.lines,
                    blob.record.tokens.cast_signed(),
                    blob.record.note,
                    lengths,
                    record
                ])?;
                builder.add(doc, blob.terms);
                doc = doc.saturating_add(docs);
            }
            write_segment(transaction, doc - first, builder.sorted())
        })
    }

    /// Makes `files` the present tree, and forgets contents that were out of it for long.
    pub(crate) fn finish(
        &mut self,
        changed: &[(BString, Option<FileRow>)],
        folders: Option<&[(BString, i64, i64)]>,
        policy: Option<&[u8]>,
        catalog: &mut Catalog,
    ) -> Result<(), IndexError> {
        self.write(|transaction| {
            {
                let sql = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
                let mut put = transaction.prepare_cached(sql)?;
                let mut delete = transaction.prepare_cached("DELETE FROM files WHERE path = ?")?;
                for (path, row) in changed {
                    let Some(row) = row else {
                        delete.execute([path.as_slice()])?;
                        continue;
                    };
                    let stamp = row.stamp;
                    put.execute(params![
                        path.as_slice(),
                        row.blob,
                        row.language,
                        row.vendored,
                        row.aside,
                        row.reason,
                        stamp.map(|stamp| stamp.size),
                        stamp.map(|stamp| stamp.modified),
                        stamp.map(|stamp| stamp.changed),
                        stamp.map(|stamp| stamp.inode),
                    ])?;
                }
            }
            if let Some(folders) = folders {
                transaction.execute("DELETE FROM folders", [])?;
                let sql = "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)";
                let mut put = transaction.prepare_cached(sql)?;
                for (path, modified, changed) in folders {
                    put.execute(params![path.as_slice(), modified, changed])?;
                }
            }
            if let Some(policy) = policy {
                put_state(transaction, "policy", policy)?;
            }
            fill(transaction, catalog)?;
            if !changed.is_empty() {
                write_paths(transaction, catalog)?;
            }
            let bytes = postcard::to_stdvec(&*catalog).map_err(unwritable)?;
            put_state(transaction, "catalog", &bytes)
        })
    }

    /// Adds up what is in the present tree.
    pub(crate) fn totals(&self, report: &mut IndexReport) -> Result<(), IndexError> {
        self.read(|connection| {
            let sql = "SELECT coalesce(sum(b.symbols), 0), coalesce(sum(b.lines), 0), \
                       coalesce(sum(b.tokens), 0) FROM files f JOIN blobs b ON b.id = f.blob";
            let sum = |row: &rusqlite::Row<'_>, column: usize| {
                row.get::<_, i64>(column).map(i64::cast_unsigned)
            };
            (report.symbols, report.lines, report.tokens) =
                connection
                    .query_row(sql, [], |row| Ok((sum(row, 0)?, sum(row, 1)?, sum(row, 2)?)))?;
            let sql = "SELECT f.path, b.note FROM files f JOIN blobs b ON b.id = f.blob \
                       WHERE b.note IS NOT NULL";
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let path = shown(row.get_ref(0)?.as_blob()?);
                let note: String = row.get(1)?;
                report.skipped.push(SkippedFile { path, reason: format!("read as text: {note}") });
            }
            Ok(())
        })
    }

    /// The files, by their number in the catalog, whose path has `term` among its words.
    pub(crate) fn paths(&self, term: &str) -> Result<Vec<u32>, IndexError> {
        self.read(|connection| {
            let sql = "SELECT files FROM paths WHERE term = ?";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([term])?;
            match rows.next()? {
                Some(row) => {
                    let files = postings::read(row.get_ref(0)?.as_blob()?);
                    Ok(files.map(|(file, _)| file).collect())
                }
                None => Ok(Vec::new()),
            }
        })
    }

    /// The present tree.
    pub(crate) fn catalog(&self) -> Result<Option<Catalog>, IndexError> {
        let bytes = self.state("catalog")?;
        Ok(bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok()))
    }

    pub(crate) fn state(&self, key: &str) -> Result<Option<Vec<u8>>, IndexError> {
        self.read(|connection| {
            let sql = "SELECT value FROM state WHERE key = ?";
            connection.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()
        })
    }

    /// The folders of the present tree with the times at which their lists of files changed.
    pub(crate) fn folders(&self) -> Result<Vec<(BString, i64, i64)>, IndexError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT * FROM folders")?;
            let rows = statement.query_map([], |row| {
                Ok((BString::from(row.get::<_, Vec<u8>>(0)?), row.get(1)?, row.get(2)?))
            })?;
            rows.collect()
        })
    }

    /// What is kept of a content.
    pub(crate) fn record(&self, blob: i64) -> Result<Option<Record>, IndexError> {
        let bytes: Option<Vec<u8>> = self.read(|connection| {
            let sql = "SELECT record FROM blobs WHERE id = ?";
            connection.prepare_cached(sql)?.query_row([blob], |row| row.get(0)).optional()
        })?;
        Ok(bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok()))
    }

    /// The key of a content.
    pub(crate) fn key(&self, blob: i64) -> Result<Option<Key>, IndexError> {
        self.read(|connection| {
            let sql = "SELECT key FROM blobs WHERE id = ?";
            connection.prepare_cached(sql)?.query_row([blob], |row| row.get(0)).optional()
        })
    }

    fn segments(&self) -> Result<Vec<i64>, IndexError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT id FROM segments ORDER BY id")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// The docs of `term`, with how often it is in each.
    pub(crate) fn postings(&self, term: &str) -> Result<Vec<(u32, u8)>, IndexError> {
        let mut found = Vec::new();
        for segment in self.segments()? {
            self.read(|connection| {
                let sql = "SELECT docs FROM postings WHERE segment = ? AND term = ?";
                let mut statement = connection.prepare_cached(sql)?;
                let mut rows = statement.query(params![segment, term])?;
                if let Some(row) = rows.next()? {
                    found.extend(postings::read(row.get_ref(0)?.as_blob()?));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Terms that start with `prefix`, at most `limit` of a segment.
    pub(crate) fn terms(&self, prefix: &str, limit: u32) -> Result<Vec<String>, IndexError> {
        let mut found: Vec<String> = Vec::new();
        for segment in self.segments()? {
            self.read(|connection| {
                let sql = "SELECT term FROM postings WHERE segment = ? AND term >= ? ORDER BY term LIMIT ?";
                let mut statement = connection.prepare_cached(sql)?;
                let rows = statement.query_map(params![segment, prefix, limit], |row| row.get(0))?;
                for term in rows {
                    let term: String = term?;
                    if term.starts_with(prefix) {
                        found.push(term);
                    }
                }
                Ok(())
            })?;
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Puts small segments together, and forgets contents that are in no tree when they are more
    /// than those that are.
    pub(crate) fn tidy(&mut self, catalog: &mut Catalog) -> Result<(), IndexError> {
        let live = catalog.live_docs();
        if catalog.lengths.len() > 2 * live + 20_000 {
            self.forget()?;
        }
        loop {
            let sizes: Vec<(i64, u32)> = self.read(|connection| {
                let mut statement = connection.prepare("SELECT id, docs FROM segments")?;
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            })?;
            let mut tiers: HashMap<u32, Vec<i64>> = HashMap::new();
            for (id, docs) in sizes {
                tiers.entry(docs.max(100).ilog10()).or_default().push(id);
            }
            let full = tiers.into_values().find(|ids| ids.len() >= SEGMENTS_OF_A_SIZE);
            let Some(mut ids) = full else { return Ok(()) };
            ids.sort_unstable();
            self.merge(&ids)?;
        }
    }

    /// Forgets every content that no file has. Its docs stay in the lists and are never counted.
    fn forget(&mut self) -> Result<(), IndexError> {
        self.write(|transaction| {
            let unused = "blob NOT IN (SELECT blob FROM files WHERE blob IS NOT NULL)";
            transaction.execute(&format!("DELETE FROM vectors WHERE {unused}"), [])?;
            let unused = unused.replacen("blob", "id", 1);
            transaction.execute(&format!("DELETE FROM blobs WHERE {unused}"), [])?;
            Ok(())
        })?;
        let ids = self.segments()?;
        self.merge(&ids)
    }

    /// Puts segments together, without the docs of contents that are forgotten.
    fn merge(&mut self, ids: &[i64]) -> Result<(), IndexError> {
        self.write(|transaction| {
            let mut known: Vec<(u32, u32)> = {
                let mut statement = transaction.prepare("SELECT first_doc, docs FROM blobs")?;
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
            };
            known.sort_unstable();
            let is_known = |doc: u32| {
                let after = known.partition_point(|(first, _)| *first <= doc);
                known[..after].last().is_some_and(|(first, docs)| doc - first < *docs)
            };
            let list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let sql = format!("SELECT coalesce(sum(docs), 0) FROM segments WHERE id IN ({list})");
            let docs: u32 = transaction.query_row(&sql, [], |row| row.get(0))?;
            let mut merged: Vec<(Box<str>, Postings)> = Vec::new();
            {
                let sql = format!("SELECT term, docs FROM postings WHERE segment IN ({list}) ORDER BY term, segment");
                let mut statement = transaction.prepare(&sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let term = row.get_ref(0)?.as_str()?;
                    if merged.last().is_none_or(|(last, _)| &**last != term) {
                        merged.push((term.into(), Postings::default()));
                    }
                    let Some((_, postings)) = merged.last_mut() else { continue };
                    for (doc, count) in postings::read(row.get_ref(1)?.as_blob()?) {
                        if is_known(doc) {
                            postings.push(doc, count);
                        }
                    }
                }
            }
            merged.retain(|(_, postings)| !postings.bytes().is_empty());
            transaction.execute(&format!("DELETE FROM postings WHERE segment IN ({list})"), [])?;
            transaction.execute(&format!("DELETE FROM segments WHERE id IN ({list})"), [])?;
            write_segment(transaction, docs, merged)
        })
    }

    /// Calls `found` with the first doc and the packed vectors of every content that has some.
    pub(crate) fn each_vectors(
        &self,
        model: &str,
        mut found: impl FnMut(u32, &[u8]),
    ) -> Result<(), IndexError> {
        self.read(|connection| {
            let sql = "SELECT b.first_doc, v.vectors FROM vectors v JOIN blobs b ON b.id = v.blob \
                       WHERE v.model = ? ORDER BY b.first_doc";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([model])?;
            while let Some(row) = rows.next()? {
                found(row.get(0)?, row.get_ref(1)?.as_blob()?);
            }
            Ok(())
        })
    }

    /// The contents of the present tree that have no vectors of `model`.
    pub(crate) fn without_vectors(&self, model: &str) -> Result<Vec<(i64, BString)>, IndexError> {
        self.read(|connection| {
            let sql = "SELECT blob, min(path) FROM files WHERE blob IS NOT NULL AND blob NOT IN \
                       (SELECT blob FROM vectors WHERE model = ?) GROUP BY blob ORDER BY 2";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([model], |row| {
                Ok((row.get(0)?, BString::from(row.get::<_, Vec<u8>>(1)?)))
            })?;
            rows.collect()
        })
    }

    pub(crate) fn add_vectors(
        &mut self,
        model: &str,
        batch: &[(i64, Vec<u8>)],
    ) -> Result<(), IndexError> {
        self.write(|transaction| {
            let sql = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)";
            let mut put = transaction.prepare_cached(sql)?;
            for (blob, vectors) in batch {
                put.execute(params![blob, model, vectors])?;
            }
            Ok(())
        })
    }
}

fn put_state(transaction: &Transaction<'_>, key: &str, value: &[u8]) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO state VALUES (?, ?)";
    transaction.execute(sql, params![key, value]).map(|_| ())
}

/// Reads the present tree from the tables.
fn fill(transaction: &Transaction<'_>, catalog: &mut Catalog) -> rusqlite::Result<()> {
    use crate::catalog::CatalogFile;
    let mut numbers: HashMap<String, u16> = HashMap::new();
    let sql = "SELECT f.path, f.language, f.vendored, f.aside, f.blob, b.first_doc, b.docs, b.chunks, b.lengths \
               FROM files f LEFT JOIN blobs b ON b.id = f.blob";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let language: Option<String> = row.get(1)?;
        let language = language.and_then(|name| {
            let next = u16::try_from(numbers.len()).ok()?;
            Some(*numbers.entry(name).or_insert(next))
        });
        let first_doc = row.get::<_, Option<u32>>(5)?.unwrap_or_default();
        let docs = row.get::<_, Option<u32>>(6)?.unwrap_or_default();
        catalog.chunks += u64::from(row.get::<_, Option<u32>>(7)?.unwrap_or_default());
        catalog.files.push(CatalogFile {
            path: row.get(0)?,
            language,
            vendored: row.get(2)?,
            aside: row.get(3)?,
            blob: row.get(4)?,
            first_doc,
            docs,
        });
        if docs > 0 {
            let bytes = row.get_ref(8)?.as_blob()?;
            let end = (first_doc + docs) as usize;
            if catalog.lengths.len() < end {
                catalog.lengths.resize(end, 0);
            }
            let lengths = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            for (slot, length) in catalog.lengths[first_doc as usize..end].iter_mut().zip(lengths) {
                *slot = length.max(1);
            }
        }
    }
    let mut languages: Vec<(String, u16)> = numbers.into_iter().collect();
    languages.sort_by_key(|(_, number)| *number);
    catalog.languages = languages.into_iter().map(|(name, _)| name).collect();
    catalog.arrange();
    Ok(())
}

/// Writes which files have a word in their path.
fn write_paths(transaction: &Transaction<'_>, catalog: &Catalog) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM paths", [])?;
    let mut builder = Builder::default();
    for (number, file) in (0..).zip(&catalog.files) {
        let mut words: Vec<Box<str>> = Vec::new();
        terms::each_term(&file.path, |term| words.push(term.into()));
        words.sort_unstable();
        words.dedup();
        builder.add(number, words.into_iter().map(|word| (word, vec![(0, 1)])).collect());
    }
    let mut insert = transaction.prepare_cached("INSERT INTO paths VALUES (?, ?)")?;
    for (term, files) in builder.sorted() {
        insert.execute(params![&*term, files.bytes()])?;
    }
    Ok(())
}

fn write_segment(
    transaction: &Transaction<'_>,
    docs: u32,
    terms: Vec<(Box<str>, Postings)>,
) -> rusqlite::Result<()> {
    if terms.is_empty() {
        return Ok(());
    }
    transaction.execute("INSERT INTO segments(docs) VALUES (?)", [docs])?;
    let segment = transaction.last_insert_rowid();
    let sql = "INSERT INTO postings VALUES (?, ?, ?)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (term, postings) in terms {
        insert.execute(params![segment, &*term, postings.bytes()])?;
    }
    Ok(())
}

fn unwritable(error: postcard::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
