//! The advisories that the user imported, in one file, found by the name of a package.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, params};

use crate::osv::Advisory;
use crate::{AdvisoryError, Ecosystem, Match, matches};

/// The form of the database's tables; another form is made anew.
const FORM: i64 = 1;

/// The advisories that the user imported.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// What an import took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Advisories that are now in the database.
    pub taken: u64,
    /// Advisories that were withdrawn.
    pub withdrawn: u64,
    /// Advisories for ecosystems that are not supported, by ecosystem.
    pub elsewhere: BTreeMap<String, u64>,
    /// Files that are no advisory.
    pub unread: u64,
}

/// What is in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its file.
    pub path: PathBuf,
    /// Advisories by ecosystem.
    pub counts: BTreeMap<String, u64>,
    /// The day of the latest advisory.
    pub latest: Option<String>,
}

impl Database {
    /// Opens the database for reading; absent when nothing was imported yet.
    pub fn open(path: &Path) -> Result<Option<Self>, AdvisoryError> {
        if !path.exists() {
            return Ok(None);
        }
        let failed = |source| AdvisoryError::Database { path: path.to_owned(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let form: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        if form != FORM {
            return Ok(None);
        }
        Ok(Some(Self { path: path.to_owned(), connection: Mutex::new(connection) }))
    }

    /// Opens the database for writing, and makes it where there is none.
    pub fn create(path: &Path) -> Result<Self, AdvisoryError> {
        if let Some(folder) = path.parent() {
            let failed = |source| AdvisoryError::Io { path: folder.to_owned(), source };
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let failed = |source| AdvisoryError::Database { path: path.to_owned(), source };
        let connection = Connection::open(path).map_err(failed)?;
        prepare(&connection).map_err(failed)?;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    /// The advisories that affect this version of this package, each flaw once, worst first.
    pub fn affecting(
        &self,
        ecosystem: Ecosystem,
        name: &str,
        version: &str,
    ) -> Result<Vec<Match>, AdvisoryError> {
        let advisories = self.about(ecosystem, name).map_err(|source| self.failed(source))?;
        Ok(matches(advisories, ecosystem, name, version))
    }

    fn about(&self, ecosystem: Ecosystem, name: &str) -> Result<Vec<Advisory>, rusqlite::Error> {
        let connection = self.lock();
        let mut query = connection.prepare_cached(
            "SELECT body FROM advisory WHERE id IN \
             (SELECT id FROM affected WHERE ecosystem = ?1 AND name = ?2) ORDER BY id",
        )?;
        let name = ecosystem.normalize(name);
        let rows =
            query.query_map(params![ecosystem.name(), name], |row| row.get::<_, String>(0))?;
        let mut advisories = Vec::new();
        for body in rows {
            advisories.extend(serde_json::from_str::<Advisory>(&body?));
        }
        Ok(advisories)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Connection> {
        // A panic elsewhere leaves the connection as it was: every statement stands alone.
        self.connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn failed(&self, source: rusqlite::Error) -> AdvisoryError {
        AdvisoryError::Database { path: self.path.clone(), source }
    }

    /// Takes in all advisories of a folder, a zip archive or a single file.
    pub fn import(&self, from: &Path) -> Result<Imported, AdvisoryError> {
        let mut connection = self.lock();
        let transaction = connection.transaction().map_err(|source| self.failed(source))?;
        let mut imported = Imported::default();
        let mut take = |text: &str| self.take(&transaction, text, &mut imported);
        let is_zip = from.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
        if is_zip {
            for_each_in_archive(from, &mut take)?;
        } else {
            for_each_in_folder(from, &mut take)?;
        }
        if imported.taken == 0 && imported.withdrawn == 0 && imported.elsewhere.is_empty() {
            let files = imported.unread;
            return Err(AdvisoryError::NothingFound { path: from.to_owned(), files });
        }
        transaction.commit().map_err(|source| self.failed(source))?;
        Ok(imported)
    }

    fn take(
        &self,
        transaction: &Transaction<'_>,
        text: &str,
        imported: &mut Imported,
    ) -> Result<(), AdvisoryError> {
        let Ok(advisory) = Advisory::parse(text) else {
            imported.unread += 1;
            return Ok(());
        };
        store(transaction, &advisory, imported).map_err(|source| self.failed(source))
    }

    /// What is in the database.
    pub fn status(&self) -> Result<Status, AdvisoryError> {
        let read = || -> Result<Status, rusqlite::Error> {
            let connection = self.lock();
            let mut query = connection.prepare(
                "SELECT ecosystem, COUNT(DISTINCT id) FROM affected GROUP BY ecosystem ORDER BY ecosystem",
            )?;
            let rows = query.query_map([], |row| {
                let count: i64 = row.get(1)?;
                Ok((row.get(0)?, u64::try_from(count).unwrap_or_default()))
            })?;
            let counts = rows.collect::<Result<_, _>>()?;
            let latest: Option<String> = connection
                .query_row("SELECT MAX(modified) FROM advisory", [], |row| row.get(0))
                .optional()?
                .flatten();
            let latest = latest.and_then(|time| time.get(..10).map(str::to_owned));
            Ok(Status { path: self.path.clone(), counts, latest })
        };
        read().map_err(|source| self.failed(source))
    }
}

fn prepare(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    let form: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if form != FORM {
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             DROP TABLE IF EXISTS affected;
             DROP TABLE IF EXISTS advisory;
             CREATE TABLE advisory (id TEXT PRIMARY KEY, modified TEXT, body TEXT NOT NULL) WITHOUT ROWID;
             CREATE TABLE affected (ecosystem TEXT, name TEXT, id TEXT,
                                    PRIMARY KEY (ecosystem, name, id)) WITHOUT ROWID;
             CREATE INDEX affected_by_id ON affected (id);
             PRAGMA user_version = {FORM};
             COMMIT;"
        ))?;
    }
    Ok(())
}

fn store(
    transaction: &Transaction<'_>,
    advisory: &Advisory,
    imported: &mut Imported,
) -> Result<(), rusqlite::Error> {
    transaction.prepare_cached("DELETE FROM affected WHERE id = ?1")?.execute([&advisory.id])?;
    transaction.prepare_cached("DELETE FROM advisory WHERE id = ?1")?.execute([&advisory.id])?;
    if advisory.withdrawn.is_some() {
        imported.withdrawn += 1;
        return Ok(());
    }
    let mut here = false;
    for package in advisory.affected.iter().filter_map(|affected| affected.package.as_ref()) {
        let Some(ecosystem) = Ecosystem::from_name(&package.ecosystem) else {
            *imported.elsewhere.entry(package.ecosystem.clone()).or_default() += 1;
            continue;
        };
        here = true;
        let name = ecosystem.normalize(&package.name);
        transaction
            .prepare_cached("INSERT OR IGNORE INTO affected VALUES (?1, ?2, ?3)")?
            .execute(params![ecosystem.name(), name, advisory.id])?;
    }
    if here {
        let body = serde_json::to_string(advisory).unwrap_or_default();
        transaction
            .prepare_cached("INSERT INTO advisory VALUES (?1, ?2, ?3)")?
            .execute(params![advisory.id, advisory.modified, body])?;
        imported.taken += 1;
    }
    Ok(())
}

type Take<'a> = dyn FnMut(&str) -> Result<(), AdvisoryError> + 'a;

/// The largest record that is read; the largest known ones are a few megabytes.
const LARGEST: u64 = 64 * 1024 * 1024;

fn for_each_in_archive(path: &Path, take: &mut Take<'_>) -> Result<(), AdvisoryError> {
    let failed = |source| AdvisoryError::Io { path: path.to_owned(), source };
    let broken = |source| AdvisoryError::Archive { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut archive = zip::ZipArchive::new(std::io::BufReader::new(file)).map_err(broken)?;
    let mut text = String::new();
    for number in 0..archive.len() {
        let entry = archive.by_index(number).map_err(broken)?;
        if !entry.is_file() || !entry.name().is_ok_and(|name| name.ends_with(".json")) {
            continue;
        }
        text.clear();
        if entry.take(LARGEST).read_to_string(&mut text).is_ok() {
            take(&text)?;
        }
    }
    Ok(())
}

fn for_each_in_folder(path: &Path, take: &mut Take<'_>) -> Result<(), AdvisoryError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| AdvisoryError::Io { path, source }
    };
    let kind = std::fs::metadata(path).map_err(failed(path))?;
    if kind.is_file() {
        return take(&std::fs::read_to_string(path).map_err(failed(path))?);
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder)
            .map_err(failed(&folder))?
            .collect::<Result<_, _>>()
            .map_err(failed(&folder))?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            // Links are not followed: a folder could contain itself.
            let kind = entry.file_type().map_err(failed(&path))?;
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "json") {
                take(&std::fs::read_to_string(&path).map_err(failed(&path))?)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, ecosystem: &str, name: &str, more: &str) -> String {
        format!(
            r#"{{"id":"{id}","modified":"2024-05-06T07:08:09Z","summary":"s","affected":[{{"package":{{"ecosystem":"{ecosystem}","name":"{name}"}},
            "ranges":[{{"type":"ECOSYSTEM","events":[{{"introduced":"0"}},{{"fixed":"2.0"}}]}}]}}]{more}}}"#
        )
    }

    fn folder(records: &[(&str, String)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in records {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        folder
    }

    #[test]
    fn what_is_imported_is_found_by_any_spelling_and_only_once() {
        let from = folder(&[
            ("a/1.json", record("X-1", "PyPI", "Flask_Thing", "")),
            ("a/2.json", record("X-2", "Debian:11", "flask", "")),
            ("3.json", record("X-3", "PyPI", "gone", r#","withdrawn":"2024-01-01T00:00:00Z""#)),
            ("4.json", "not json".to_owned()),
            ("README.md", "no record".to_owned()),
        ]);
        let file = from.path().join("db/advisories.db");
        assert!(Database::open(&file).expect("no error").is_none());
        let database = Database::create(&file).expect("made");
        for _ in 0..2 {
            let imported = database.import(from.path()).expect("imported");
            assert_eq!((imported.taken, imported.withdrawn, imported.unread), (1, 1, 1));
            assert_eq!(imported.elsewhere, [("Debian:11".to_owned(), 1)].into());
        }
        drop(database);
        let database = Database::open(&file).expect("no error").expect("it is there");
        let found = database.affecting(Ecosystem::PyPi, "flask-thing", "1.9").expect("no error");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].fixed.as_deref(), Some("2.0"));
        assert!(
            database.affecting(Ecosystem::PyPi, "flask-thing", "2.0").expect("no error").is_empty()
        );
        let status = database.status().expect("no error");
        assert_eq!(status.counts, [("PyPI".to_owned(), 1)].into());
        assert_eq!(status.latest.as_deref(), Some("2024-05-06"));
    }

    #[test]
    fn a_zip_is_read_like_a_folder() {
        use std::io::Write as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("all.zip");
        let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).expect("made"));
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("X-1.json", options).expect("started");
        archive.write_all(record("X-1", "npm", "left", "").as_bytes()).expect("written");
        archive.finish().expect("finished");
        let database = Database::create(&folder.path().join("a.db")).expect("made");
        assert_eq!(database.import(&path).expect("imported").taken, 1);
    }

    #[test]
    fn an_import_without_advisories_says_so() {
        let from = folder(&[("x.json", "{}".to_owned())]);
        let database = Database::create(&from.path().join("a.db")).expect("made");
        let error = database.import(from.path()).expect_err("nothing in it");
        assert!(matches!(error, AdvisoryError::NothingFound { files: 1, .. }), "{error}");
        assert!(database.import(Path::new("/nowhere/at/all")).is_err());
    }
}
