//! Findings across runs: what is new, what persists, what is gone, what was set aside.
//!
//! Decisions are in [`judge`], which knows nothing of the database.

pub mod dismissal;
pub mod judge;
mod matching;
pub mod order;
pub mod region;
pub mod round;

use std::collections::BTreeSet;
use std::path::Path;

use quorum_model::finding::FindingState;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use crate::database::{Database, from_column, to_column};
use crate::error::StoreError;
use crate::seal::Seal;
use dismissal::{Dismissal, Dismissals};
use judge::{Entry, Judgement, Review, Texts, fingerprints, judge};
use region::Anchors;

/// The ledger of a repository.
#[derive(Debug)]
pub struct Ledger {
    database: Database,
    seal: Option<Seal>,
}

impl Ledger {
    /// Opens the ledger of the repository at `root`. Of what was set aside in it, only what has the
    /// user's `seal` counts: a folder can bring a ledger along.
    pub fn open(root: &Path, seal: Option<Seal>) -> Result<Self, StoreError> {
        Ok(Self { database: Database::open(root)?, seal })
    }

    /// The same for reading: nothing is made where there is nothing.
    pub fn look(root: &Path, seal: Option<Seal>) -> Result<Self, StoreError> {
        Ok(Self { database: Database::look(root)?, seal })
    }

    /// Says where the findings of a review stand. `shared` are the dismissals of the committed file,
    /// from where policy is read. Nothing is recorded.
    pub fn judge(
        &self,
        review: &Review<'_>,
        shared: Vec<Dismissal>,
    ) -> Result<Judgement, StoreError> {
        let known = self.database.read(|connection| known(connection, review))?;
        let Kept { mut own, foreign } = self.kept()?;
        own.add(shared);
        let mut judgement = judge(review, &known, &own);
        if !foreign.is_empty() {
            let otherwise = judge(review, &known, &foreign);
            let both = otherwise.findings.iter().zip(&judgement.findings);
            let aside = |one: &judge::Judged| one.state == FindingState::Dismissed;
            judgement.unsealed =
                both.filter(|(foreign, own)| aside(foreign) && !aside(own)).count();
        }
        Ok(judgement)
    }

    /// Records a review and what was said to it. Recording it again changes nothing.
    pub fn record(&mut self, review: &Review<'_>, judgement: &Judgement) -> Result<(), StoreError> {
        // Nobody else writes while this does, so files are read before.
        let mut texts = Texts::new(review.text);
        let anchors: Vec<Anchors> = review
            .findings
            .iter()
            .map(|finding| {
                let end = finding.end_line.max(finding.line);
                let lines = texts.lines(&finding.file);
                lines.map(|lines| Anchors::around(lines, finding.line, end)).unwrap_or_default()
            })
            .collect();
        self.database.write(|transaction| {
            let findings = review.findings.iter().zip(&judgement.findings).zip(&anchors);
            for ((finding, judged), anchors) in findings {
                let mut finding = finding.clone();
                finding.state = judged.state;
                put(transaction, review.run, &finding, anchors, judged.entry)?;
            }
            let mut resolve = transaction.prepare_cached(
                "UPDATE entries SET resolved_run = ?2 WHERE id = ?1 AND resolved_run IS NULL",
            )?;
            for gone in &judgement.gone {
                if gone.finding.state == FindingState::Resolved {
                    resolve.execute(params![gone.entry, review.run])?;
                }
            }
            Ok(())
        })
    }

    /// What earlier reviews found in these files, in the order in which it was found first.
    pub fn about(&self, files: &[&str]) -> Result<Vec<Entry>, StoreError> {
        self.database.read(|connection| {
            let mut ids = BTreeSet::new();
            let mut by_file =
                connection.prepare_cached("SELECT id FROM entries WHERE file = ?1")?;
            for file in files {
                for id in by_file.query_map([file], |row| row.get::<_, i64>(0))? {
                    ids.insert(id?);
                }
            }
            ids.into_iter().map(|id| entry(connection, id)).collect()
        })
    }

    /// Sets a finding aside, with the user's mark.
    pub fn dismiss(&mut self, dismissal: &Dismissal) -> Result<(), StoreError> {
        let seal = self.seal.clone().ok_or(StoreError::NoKey)?;
        self.database.write(|transaction| {
            let text = to_column(dismissal)?;
            transaction.execute(
                "INSERT OR REPLACE INTO dismissals (fingerprint, dismissal, seal) VALUES (?1, ?2, ?3)",
                params![dismissal.fingerprint, text, seal.dismissal(&text)],
            )?;
            Ok(())
        })
    }

    /// Takes a finding up again; false if it was not set aside here.
    pub fn restore(&mut self, fingerprint: &str) -> Result<bool, StoreError> {
        self.database.write(|transaction| {
            let sql = "DELETE FROM dismissals WHERE fingerprint = ?1";
            Ok(transaction.execute(sql, [fingerprint])? > 0)
        })
    }

    /// Everything that the user set aside here.
    pub fn dismissals(&self) -> Result<Dismissals, StoreError> {
        Ok(self.kept()?.own)
    }

    /// What somebody else set aside here, or an earlier version that left no mark. It does not count.
    pub fn foreign_dismissals(&self) -> Result<Dismissals, StoreError> {
        Ok(self.kept()?.foreign)
    }

    fn kept(&self) -> Result<Kept, StoreError> {
        self.database.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT dismissal, seal FROM dismissals")?;
            let mut rows = statement.query([])?;
            let mut kept = Kept::default();
            while let Some(row) = rows.next()? {
                let (text, mark): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                let dismissal = from_column::<Dismissal>(&text)?;
                // A second look's opinion held for its run; earlier versions kept it.
                if dismissal.refuted {
                    continue;
                }
                let own = self.seal.as_ref().zip(mark.as_deref());
                if own.is_some_and(|(seal, mark)| seal.is_own_dismissal(&text, mark)) {
                    kept.own.add([dismissal]);
                } else {
                    kept.foreign.add([dismissal]);
                }
            }
            Ok(kept)
        })
    }
}

/// What was set aside in a ledger, by whether it has the user's mark.
#[derive(Debug, Default)]
struct Kept {
    own: Dismissals,
    foreign: Dismissals,
}

/// The entries that a review can meet: those with a fingerprint of its findings, and the open ones
/// in its files.
fn known(connection: &Connection, review: &Review<'_>) -> rusqlite::Result<Vec<Entry>> {
    let mut ids = BTreeSet::new();
    let mut by_fingerprint =
        connection.prepare_cached("SELECT entry FROM fingerprints WHERE fingerprint = ?1")?;
    for fingerprint in review.findings.iter().flat_map(fingerprints) {
        ids.extend(by_fingerprint.query_row([fingerprint], |row| row.get::<_, i64>(0)).optional()?);
    }
    let mut by_file = connection
        .prepare_cached("SELECT id FROM entries WHERE file = ?1 AND resolved_run IS NULL")?;
    let files = review.scope.files.iter();
    for path in files.flat_map(|file| std::iter::once(&file.path).chain(&file.old_path)) {
        for id in by_file.query_map([&**path], |row| row.get(0))? {
            ids.insert(id?);
        }
    }
    let mut by_run = connection.prepare_cached("SELECT id FROM entries WHERE resolved_run = ?1")?;
    for id in by_run.query_map([review.run], |row| row.get(0))? {
        ids.insert(id?);
    }
    ids.into_iter().map(|id| entry(connection, id)).collect()
}

fn entry(connection: &Connection, id: i64) -> rusqlite::Result<Entry> {
    let mut statement =
        connection.prepare_cached("SELECT fingerprint FROM fingerprints WHERE entry = ?1")?;
    let fingerprints = statement.query_map([id], |row| row.get(0))?;
    let fingerprints = fingerprints.collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT finding, anchors, first_run, resolved_run FROM entries WHERE id = ?1",
    )?;
    statement.query_row([id], |row| {
        Ok(Entry {
            id,
            fingerprints,
            finding: from_column(&row.get::<_, String>(0)?)?,
            anchors: from_column(&row.get::<_, String>(1)?)?,
            first_run: row.get(2)?,
            resolved_run: row.get(3)?,
            digested: false,
            dismissal: None,
        })
    })
}

fn put(
    transaction: &Transaction<'_>,
    run: &str,
    finding: &quorum_model::finding::Finding,
    anchors: &Anchors,
    known: Option<i64>,
) -> rusqlite::Result<()> {
    let (text, anchors) = (to_column(finding)?, to_column(anchors)?);
    // A review beside this one may have been faster.
    let known = match known {
        Some(id) => Some(id),
        None => transaction
            .prepare_cached("SELECT entry FROM fingerprints WHERE fingerprint = ?1")?
            .query_row([&finding.fingerprint], |row| row.get(0))
            .optional()?,
    };
    let id = if let Some(id) = known {
        transaction
            .prepare_cached(
                "UPDATE entries SET file = ?2, finding = ?3, anchors = ?4, last_run = ?5,
                     first_run = CASE WHEN resolved_run IS NULL THEN first_run ELSE ?5 END,
                     resolved_run = NULL
                 WHERE id = ?1",
            )?
            .execute(params![id, finding.file, text, anchors, run])?;
        id
    } else {
        transaction
            .prepare_cached(
                "INSERT INTO entries (file, finding, anchors, first_run, last_run)
                 VALUES (?1, ?2, ?3, ?4, ?4)",
            )?
            .execute(params![finding.file, text, anchors, run])?;
        transaction.last_insert_rowid()
    };
    let mut name = transaction.prepare_cached(
        "INSERT OR IGNORE INTO fingerprints (fingerprint, entry) VALUES (?1, ?2)",
    )?;
    for fingerprint in fingerprints(finding) {
        name.execute(params![fingerprint, id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
