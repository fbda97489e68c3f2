//! Memories as a page.

use std::fmt::Write as _;

use quorum_store::memory::{Memory, Outcome};

use super::style::{dim, heading};

/// Memories, one after the other.
pub(crate) fn list(memories: &[Memory]) -> String {
    if memories.is_empty() {
        return "no memories\n".to_owned();
    }
    let mut page = String::new();
    for memory in memories {
        let worked = match memory.outcome {
            Outcome::Success => "",
            Outcome::Failure => ", did not work",
        };
        let tags = memory.tags.join(", ");
        let facts = format!("{:.2}{worked} {tags}", memory.confidence);
        // Writing to a string cannot fail.
        _ = writeln!(page, "{} {} {}", memory.id, heading(&memory.title), dim(facts.trim_end()));
        for line in memory.content.lines() {
            _ = writeln!(page, "  {line}");
        }
    }
    page
}
