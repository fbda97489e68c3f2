//! What reviews taught: short lessons that are found again when they fit.
//!
//! A memory is data from a stranger, like the code that it is about: whoever offers it to an agent
//! says so. Showing a memory changes nothing about it.

mod confidence;
mod search;

use std::path::Path;

pub use confidence::{Signals, confidence};
use jiff::Timestamp;
use quorum_model::result::ReviewResult;
use quorum_model::severity::{Counts, Severity};
use quorum_model::verdict::Verdict;
use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use crate::database::{Database, from_column, to_column};
use crate::error::StoreError;

/// Memories with less trust are not offered.
pub const FLOOR: f64 = 0.3;
/// Findings that a review's own memory names.
const NAMED: usize = 10;
/// The longest title and the longest content, in bytes.
const LIMITS: (usize, usize) = (200, 20_000);

/// One lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its name, such as `m-1a2b3c4d`.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The lesson.
    pub content: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Whether it tells of something that worked.
    pub outcome: Outcome,
    /// Where it comes from.
    pub source: Source,
    /// The trust in it, 0 to 1, at the moment of asking.
    pub confidence: f64,
    /// When it was made, in UTC, RFC 3339.
    pub created: String,
}

/// Whether a memory tells of something that worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did.
    #[default]
    Success,
    /// It did not.
    Failure,
}

/// Where a memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Somebody recorded it.
    Recorded,
    /// A review recorded itself.
    Review,
}

/// A lesson to be recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lesson {
    /// What it is about.
    pub title: String,
    /// The lesson.
    pub content: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Whether it tells of something that worked.
    pub outcome: Outcome,
}

/// The memories of a repository.
#[derive(Debug)]
pub struct Memories {
    database: Database,
}

impl Memories {
    /// Opens the memories of the repository at `root`.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        Ok(Self { database: Database::open(root)? })
    }

    /// The same for reading: nothing is made where there is nothing.
    pub fn look(root: &Path) -> Result<Self, StoreError> {
        Ok(Self { database: Database::look(root)? })
    }

    /// Records a lesson and returns its name. The same lesson again is the same memory.
    pub fn record(&mut self, lesson: &Lesson, now: Timestamp) -> Result<String, StoreError> {
        self.put(lesson, Source::Recorded, now)
    }

    /// Records a review, for those who come after it.
    pub fn record_review(
        &mut self,
        scope: &str,
        result: &ReviewResult,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let earlier = format!("Run {}:%", result.run);
        // A run that is decided again has one memory, of its last decision.
        self.database.write(|transaction| {
            let sql = "DELETE FROM memories WHERE source = ?1 AND content LIKE ?2";
            transaction.execute(sql, params![to_column(&Source::Review)?, earlier])?;
            Ok(())
        })?;
        self.put(&of_review(scope, result), Source::Review, now)
    }

    fn put(
        &mut self,
        lesson: &Lesson,
        source: Source,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let lesson = trimmed(lesson);
        let digest = blake3::hash(format!("{}\0{}", lesson.title, lesson.content).as_bytes());
        let name = format!("m-{}", &digest.to_hex()[..8]);
        self.database.write(|transaction| {
            transaction.execute(
                "INSERT OR IGNORE INTO memories
                     (name, title, content, tags, outcome, source, created, confirmed)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
                params![
                    name,
                    lesson.title,
                    lesson.content,
                    to_column(&lesson.tags)?,
                    to_column(&lesson.outcome)?,
                    to_column(&source)?,
                    now.to_string(),
                ],
            )?;
            Ok(())
        })?;
        Ok(name)
    }

    /// The memories that fit `query`, best first, that are trusted at all.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let ranked = self.database.read(|connection| search::ranked(connection, query, now))?;
        let trusted = ranked.into_iter().filter(|memory| memory.confidence >= FLOOR);
        Ok(trusted.take(limit).collect())
    }

    /// All memories, the newest first.
    pub fn list(&self, now: Timestamp) -> Result<Vec<Memory>, StoreError> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM memories ORDER BY created DESC, id DESC");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| memory(row, now))?;
            rows.collect()
        })
    }

    /// The memory of this name.
    pub fn get(&self, id: &str, now: Timestamp) -> Result<Option<Memory>, StoreError> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM memories WHERE name = ?1");
            connection.query_row(&sql, [id], |row| memory(row, now)).optional()
        })
    }

    /// Takes a reader's word on whether a memory helped; false if there is none of this name.
    pub fn signal(&mut self, id: &str, helpful: bool, now: Timestamp) -> Result<bool, StoreError> {
        let sql = if helpful {
            "UPDATE memories SET helpful = helpful + 1, confirmed = max(confirmed, ?2)
             WHERE name = ?1"
        } else {
            "UPDATE memories SET unhelpful = unhelpful + 1 WHERE name = ?1 AND ?2 IS NOT NULL"
        };
        let at = now.to_string();
        self.database.write(|transaction| Ok(transaction.execute(sql, params![id, at])? > 0))
    }

    /// Forgets a memory; false if there is none of this name.
    pub fn forget(&mut self, id: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM memories WHERE name = ?1";
        self.database.write(|transaction| Ok(transaction.execute(sql, [id])? > 0))
    }
}

/// As many of `memories`, best first, as fit into `budget` tokens; `count` counts them as they will
/// be shown.
pub fn within_budget(
    memories: Vec<Memory>,
    budget: u64,
    count: impl Fn(&Memory) -> u64,
) -> Vec<Memory> {
    let mut left = budget;
    let fits = |memory: &Memory| match left.checked_sub(count(memory)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    memories.into_iter().filter(fits).collect()
}

/// What a review says about itself.
fn of_review(scope: &str, result: &ReviewResult) -> Lesson {
    use std::fmt::Write as _;
    let counts = Counts::of(result.findings.iter().map(|finding| finding.severity));
    let verdict = verdict_tag(result.verdict);
    let mut content = format!(
        "Run {}: {verdict}, {} critical, {} high, {} medium, {} low.\n",
        result.run, counts.critical, counts.high, counts.medium, counts.low
    );
    let worth_naming = result.findings.iter().filter(|finding| finding.severity >= Severity::High);
    for finding in worth_naming.take(NAMED) {
        let issue = finding.issue.lines().next().unwrap_or_default();
        let (severity, file, line) = (finding.severity.as_str(), &finding.file, finding.line);
        // Writing to a string cannot fail.
        _ = writeln!(content, "- {severity} {file}:{line} {issue}");
    }
    let outcome = match result.verdict {
        Verdict::Approved | Verdict::Advisory | Verdict::NothingToReview => Outcome::Success,
        Verdict::ChangesRequested | Verdict::Blocked | Verdict::Incomplete => Outcome::Failure,
    };
    Lesson {
        title: format!("Consensus Review: {scope}"),
        content,
        tags: vec!["consensus-review".to_owned(), verdict.to_owned()],
        outcome,
    }
}

fn verdict_tag(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "approved",
        Verdict::Advisory => "advisory",
        Verdict::ChangesRequested => "changes-requested",
        Verdict::Blocked => "blocked",
        Verdict::Incomplete => "incomplete",
        Verdict::NothingToReview => "nothing-to-review",
    }
}

fn trimmed(lesson: &Lesson) -> Lesson {
    let cut = |text: &str, most: usize| {
        let text = text.trim();
        text[..text.floor_char_boundary(most)].to_owned()
    };
    let mut tags: Vec<String> = lesson.tags.iter().map(|tag| tag.trim().to_lowercase()).collect();
    tags.retain(|tag| !tag.is_empty());
    tags.sort();
    tags.dedup();
    Lesson {
        title: cut(&lesson.title.split_whitespace().collect::<Vec<_>>().join(" "), LIMITS.0),
        content: cut(&lesson.content, LIMITS.1),
        tags,
        outcome: lesson.outcome,
    }
}

const COLUMNS: &str =
    "name, title, content, tags, outcome, source, helpful, unhelpful, created, confirmed";

fn memory(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Memory> {
    let source = from_column(&row.get::<_, String>(5)?)?;
    let signals = Signals { helpful: row.get(6)?, unhelpful: row.get(7)? };
    let confirmed: String = row.get(9)?;
    Ok(Memory {
        id: row.get(0)?,
        title: row.get(1)?,
        content: row.get(2)?,
        tags: from_column(&row.get::<_, String>(3)?)?,
        outcome: from_column(&row.get::<_, String>(4)?)?,
        source,
        // A moment that cannot be read is taken for the beginning of time: nothing is left of the trust.
        confidence: confidence(source, signals, confirmed.parse().unwrap_or_default(), now),
        created: row.get(8)?,
    })
}

#[cfg(test)]
mod tests;
