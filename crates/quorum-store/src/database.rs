//! `.quorum/memory.db`: what earlier reviews found and taught.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::folder::{Folder, refuse_link};

/// How the tables came to be: each step is taken once, and the number of steps is the version.
const STEPS: [&str; 3] = [FIRST, OFFERS, SEALS];
const VERSION: u32 = 3;
/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);

const OFFERS: &str = "
CREATE TABLE offers (
    name TEXT PRIMARY KEY,
    pattern TEXT NOT NULL,
    agents TEXT NOT NULL,
    run TEXT NOT NULL,
    state TEXT NOT NULL,
    created TEXT NOT NULL
) WITHOUT ROWID;
";

const SEALS: &str = "ALTER TABLE dismissals ADD COLUMN seal TEXT;";

const FIRST: &str = "
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    finding TEXT NOT NULL,
    anchors TEXT NOT NULL,
    first_run TEXT NOT NULL,
    last_run TEXT NOT NULL,
    resolved_run TEXT
);
CREATE INDEX open_entries ON entries (file) WHERE resolved_run IS NULL;
CREATE INDEX resolved_entries ON entries (resolved_run) WHERE resolved_run IS NOT NULL;
CREATE TABLE fingerprints (
    fingerprint TEXT PRIMARY KEY,
    entry INTEGER NOT NULL REFERENCES entries (id)
) WITHOUT ROWID;
CREATE INDEX fingerprints_of ON fingerprints (entry);
CREATE TABLE dismissals (
    fingerprint TEXT PRIMARY KEY,
    dismissal TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE memories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    content TEXT NOT NULL,
    tags TEXT NOT NULL,
    outcome TEXT NOT NULL,
    source TEXT NOT NULL,
    helpful INTEGER NOT NULL DEFAULT 0,
    unhelpful INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    confirmed TEXT NOT NULL
);
CREATE VIRTUAL TABLE memory_text USING fts5 (
    title, content, tags, content='memories', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_text (rowid, title, content, tags)
    VALUES (new.id, new.title, new.content, new.tags);
END;
CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memory_text (memory_text, rowid, title, content, tags)
    VALUES ('delete', old.id, old.title, old.content, old.tags);
END;
CREATE TRIGGER memories_changed AFTER UPDATE OF title, content, tags ON memories BEGIN
    INSERT INTO memory_text (memory_text, rowid, title, content, tags)
    VALUES ('delete', old.id, old.title, old.content, old.tags);
    INSERT INTO memory_text (rowid, title, content, tags)
    VALUES (new.id, new.title, new.content, new.tags);
END;
";

/// The database of a repository.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the database of the repository at `root`, made where it is missing.
    pub(crate) fn open(root: &Path) -> Result<Self, StoreError> {
        let path = Folder::prepare(root)?.entry("memory.db")?;
        // SQLite writes beside the file as well.
        for suffix in ["-wal", "-shm", "-journal"] {
            let mut beside = path.clone().into_os_string();
            beside.push(suffix);
            refuse_link(Path::new(&beside))?;
        }
        crate::private::file(&path).map_err(StoreError::io("making", &path))?;
        let connection = Connection::open(&path).map_err(StoreError::database(&path))?;
        let mut database = Self { connection, path };
        database.prepare()?;
        Ok(database)
    }

    /// The database for somebody who only reads: where there is none, an empty one in memory, so
    /// that nothing is made on disk.
    pub(crate) fn look(root: &Path) -> Result<Self, StoreError> {
        let path = Folder::at(root)?.entry("memory.db")?;
        if path.symlink_metadata().is_ok() {
            return Self::open(root);
        }
        let connection = Connection::open_in_memory().map_err(StoreError::database(&path))?;
        let mut database = Self { connection, path };
        database.prepare()?;
        Ok(database)
    }

    fn prepare(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let failed = || StoreError::database(&path);
        let connection = &self.connection;
        connection.busy_timeout(PATIENCE).map_err(failed())?;
        // The file may come with a repository; nothing in it may do more than hold data.
        let settings = [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        ];
        for (setting, value) in settings {
            connection.set_db_config(setting, value).map_err(failed())?;
        }
        if self.version()? == 0 {
            connection.pragma_update(None, "journal_mode", "WAL").map_err(failed())?;
        }
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed())?;
        if self.version()? < VERSION {
            self.write(|transaction| {
                // Another process may have been faster.
                let taken = usize::try_from(version_of(transaction)?).unwrap_or(STEPS.len());
                for step in STEPS.iter().skip(taken) {
                    transaction.execute_batch(step)?;
                }
                transaction.pragma_update(None, "user_version", VERSION)
            })?;
        }
        match self.version()? {
            VERSION => Ok(()),
            other => Err(StoreError::malformed(
                &self.path,
                &format!("it has version {other}, and this Quorum knows version {VERSION}"),
            )),
        }
    }

    fn version(&self) -> Result<u32, StoreError> {
        version_of(&self.connection).map_err(StoreError::database(&self.path))
    }

    /// Reads with one view of the data.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let failed = || StoreError::database(&self.path);
        let transaction = self.connection.unchecked_transaction().map_err(failed())?;
        let value = work(&transaction).map_err(failed())?;
        transaction.finish().map_err(failed())?;
        Ok(value)
    }

    /// Writes all or nothing.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let failed = || StoreError::database(&path);
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior).map_err(failed())?;
        let value = work(&transaction).map_err(failed())?;
        transaction.commit().map_err(failed())?;
        Ok(value)
    }
}

fn version_of(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// A JSON column that this process or an earlier one wrote.
pub(crate) fn from_column<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|cause| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(cause))
    })
}

/// The form of a value in a JSON column.
pub(crate) fn to_column(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|cause| rusqlite::Error::ToSqlConversionFailure(Box::new(cause)))
}
