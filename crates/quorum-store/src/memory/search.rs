//! Ranking memories. The index's own ranking can take this place; nothing else knows about it.

use jiff::Timestamp;
use rusqlite::Connection;

use super::{COLUMNS, Memory, memory};

/// Words of a query that are looked for.
const WORDS: usize = 50;

/// The memories that share a word with `query`: how well they fit, weighed by how far they are
/// trusted.
pub(super) fn ranked(
    connection: &Connection,
    query: &str,
    now: Timestamp,
) -> rusqlite::Result<Vec<Memory>> {
    let Some(words) = words(query) else { return Ok(Vec::new()) };
    let columns: Vec<String> = COLUMNS.split(", ").map(|name| format!("memories.{name}")).collect();
    // The title says the most; a lower bm25 is a better fit.
    let sql = format!(
        "SELECT {}, bm25(memory_text, 4.0, 1.0, 2.0) FROM memory_text
         JOIN memories ON memories.id = memory_text.rowid WHERE memory_text MATCH ?1",
        columns.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([words], |row| {
        let fit: f64 = -row.get::<_, f64>(10)?;
        let memory = memory(row, now)?;
        Ok((fit * memory.confidence, memory))
    })?;
    let mut found: Vec<(f64, Memory)> = rows.collect::<rusqlite::Result<_>>()?;
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.id.cmp(&other.id)));
    Ok(found.into_iter().map(|(_, memory)| memory).collect())
}

/// The words of a query, each as a quoted string, so that none is taken for an operator.
fn words(query: &str) -> Option<String> {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.take(WORDS).map(|word| format!("\"{word}\"")).collect();
    (!words.is_empty()).then(|| words.join(" OR "))
}
