//! Conventions that reviewers saw the code follow, for the team to accept or reject.
//!
//! A model's word becomes a convention only when somebody accepts it: then it is a file in
//! `.quorum/conventions/`, to be read, edited and committed like any other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quorum_model::report::Pattern;
use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use crate::database::{Database, from_column, to_column};
use crate::error::StoreError;
use crate::folder::Folder;
use crate::whole;

/// A convention that was offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its name, such as `c-1a2b3c4d`.
    pub id: String,
    /// The convention.
    pub pattern: Pattern,
    /// The agents that saw it.
    pub agents: BTreeSet<String>,
    /// The run in which it was seen first.
    pub run: String,
    /// What was made of it.
    pub state: OfferState,
}

/// What was made of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferState {
    /// Nobody has said anything yet.
    Offered,
    /// It is a convention now.
    Accepted,
    /// It is not to be offered again.
    Rejected,
}

/// The offers of a repository.
#[derive(Debug)]
pub struct Offers {
    database: Database,
    root: PathBuf,
}

impl Offers {
    /// Opens the offers of the repository at `root`.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        Ok(Self { database: Database::open(root)?, root: root.to_owned() })
    }

    /// The same for reading: nothing is made where there is nothing.
    pub fn look(root: &Path) -> Result<Self, StoreError> {
        Ok(Self { database: Database::look(root)?, root: root.to_owned() })
    }

    /// Takes in what an agent saw. What was offered before stays as it is, and so does what was made
    /// of it.
    pub fn offer(
        &mut self,
        run: &str,
        agent: &str,
        patterns: &[Pattern],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.database.write(|transaction| {
            for pattern in patterns {
                let name = name_of(pattern);
                let known: Option<String> = transaction
                    .query_row("SELECT agents FROM offers WHERE name = ?1", [&name], |row| {
                        row.get(0)
                    })
                    .optional()?;
                let mut agents: BTreeSet<String> = match known {
                    Some(known) => from_column(&known)?,
                    None => BTreeSet::new(),
                };
                agents.insert(agent.to_owned());
                transaction.execute(
                    "INSERT INTO offers (name, pattern, agents, run, state, created)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (name) DO UPDATE SET agents = excluded.agents",
                    params![
                        name,
                        to_column(pattern)?,
                        to_column(&agents)?,
                        run,
                        to_column(&OfferState::Offered)?,
                        now.to_string(),
                    ],
                )?;
            }
            Ok(())
        })
    }

    /// All of them, the oldest first.
    pub fn list(&self) -> Result<Vec<Offer>, StoreError> {
        self.database.read(|connection| {
            let sql = "SELECT name, pattern, agents, run, state FROM offers ORDER BY created, name";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], offer)?;
            rows.collect()
        })
    }

    /// Makes a convention of an offer: a file in `.quorum/conventions/`, whose path is returned. Absent
    /// where there is no offer of this name.
    pub fn accept(&mut self, id: &str) -> Result<Option<PathBuf>, StoreError> {
        let offers = self.list()?;
        let Some(offer) = offers.into_iter().find(|offer| offer.id == id) else { return Ok(None) };
        let folder = Folder::prepare(&self.root)?.make("conventions")?;
        let path = folder.join(format!("{}.md", slug(&offer.pattern.name, &offer.id)));
        // What the team made of an earlier acceptance stays.
        if path.symlink_metadata().is_err() {
            whole::write(&path, page(&offer.pattern).as_bytes())?;
        }
        self.decide(id, OfferState::Accepted)?;
        Ok(Some(path))
    }

    /// Sets an offer aside for good; false if there is none of this name.
    pub fn reject(&mut self, id: &str) -> Result<bool, StoreError> {
        self.decide(id, OfferState::Rejected)
    }

    fn decide(&mut self, id: &str, state: OfferState) -> Result<bool, StoreError> {
        let sql = "UPDATE offers SET state = ?2 WHERE name = ?1";
        self.database
            .write(|transaction| Ok(transaction.execute(sql, params![id, to_column(&state)?])? > 0))
    }
}

fn offer(row: &Row<'_>) -> rusqlite::Result<Offer> {
    Ok(Offer {
        id: row.get(0)?,
        pattern: from_column(&row.get::<_, String>(1)?)?,
        agents: from_column(&row.get::<_, String>(2)?)?,
        run: row.get(3)?,
        state: from_column(&row.get::<_, String>(4)?)?,
    })
}

/// The same convention has the same name.
fn name_of(pattern: &Pattern) -> String {
    let text = format!("{}\0{}", pattern.pattern.to_lowercase(), pattern.applies_to);
    format!("c-{}", &blake3::hash(text.as_bytes()).to_hex()[..8])
}

/// The name of a convention's file.
fn slug(name: &str, id: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).take(8).collect();
    if words.is_empty() { id.to_owned() } else { words.join("-") }
}

fn page(pattern: &Pattern) -> String {
    // A JSON string is a YAML string.
    let applies_to = serde_json::to_string(&pattern.applies_to).unwrap_or_default();
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, said) = (line(&pattern.name), line(&pattern.pattern));
    format!("---\napplies_to: {applies_to}\n---\n\n# {name}\n\n{said}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(name: &str, text: &str) -> Pattern {
        Pattern {
            name: name.to_owned(),
            pattern: text.to_owned(),
            applies_to: "handlers/*.go".to_owned(),
        }
    }

    #[test]
    fn an_offer_waits_for_a_word_and_keeps_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut offers = Offers::open(folder.path()).expect("it opens");
        let now = Timestamp::UNIX_EPOCH;
        let seen = [pattern("Timeouts / in handlers", "All handlers time out."), pattern("B", "b")];
        offers.offer("run-1", "go-reviewer", &seen, now).expect("it is written");
        offers.offer("run-2", "security-reviewer", &seen[..1], now).expect("it is written");
        let all = offers.list().expect("they are read");
        assert_eq!(all.len(), 2);
        let first = all.iter().find(|offer| offer.agents.len() == 2).expect("two saw it");
        assert_eq!((first.run.as_str(), first.state), ("run-1", OfferState::Offered));
        let path = offers.accept(&first.id).expect("it is written").expect("it is there");
        assert!(path.ends_with(".quorum/conventions/timeouts-in-handlers.md"), "{path:?}");
        assert_eq!(
            std::fs::read_to_string(&path).expect("the file"),
            "---\napplies_to: \"handlers/*.go\"\n---\n\n# Timeouts / in handlers\n\nAll handlers time out.\n"
        );
        let other = all.iter().find(|offer| offer.id != first.id).expect("the other");
        assert!(offers.reject(&other.id).expect("it is written"));
        offers.offer("run-3", "go-reviewer", &seen, now).expect("it is written");
        let states: BTreeSet<String> =
            offers.list().expect("read").iter().map(|offer| format!("{:?}", offer.state)).collect();
        assert_eq!(states, BTreeSet::from(["Accepted".to_owned(), "Rejected".to_owned()]));
        assert!(!offers.reject("c-nothing").expect("it is read"));
        assert_eq!(offers.accept("c-nothing").expect("it is read"), None);
    }

    #[test]
    fn a_database_of_the_first_form_is_brought_forward() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Offers::open(folder.path()).expect("it opens"));
        let path = folder.path().join(".quorum/memory.db");
        let connection = rusqlite::Connection::open(&path).expect("it opens");
        let undo = "DROP TABLE offers; ALTER TABLE dismissals DROP COLUMN seal; \
                    PRAGMA user_version = 1;";
        connection.execute_batch(undo).expect("undone");
        drop(connection);
        let offers = Offers::open(folder.path()).expect("it is brought forward");
        assert_eq!(offers.list().expect("there is a table"), []);
    }
}
