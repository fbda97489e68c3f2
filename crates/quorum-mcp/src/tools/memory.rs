//! What earlier reviews taught.

use jiff::Timestamp;
use quorum_store::memory::{Lesson, Memories, Memory, Outcome};
use serde_json::{Value, json};

use super::text;
use crate::arguments::{self, MemoryFeedback, MemoryRecord, MemorySearch};
use crate::call::{Answer, Desk};
use crate::error::{Code, ToolError};

/// Memories where the caller names no limit, and the most that there are.
const FOUND: (usize, usize) = (5, 50);

pub(crate) fn record(desk: &Desk, arguments: MemoryRecord) -> Result<Answer, ToolError> {
    if arguments.title.trim().is_empty() || arguments.content.trim().is_empty() {
        let text = "a lesson needs a title and a content";
        return Err(ToolError::new(Code::InvalidArgument, text));
    }
    let root = desk.root(arguments.project_path.as_deref())?;
    let lesson = Lesson {
        title: quorum_rules::secrets::redact(&arguments.title),
        content: quorum_rules::secrets::redact(&arguments.content),
        tags: arguments.tags,
        outcome: match arguments.outcome {
            arguments::Outcome::Success => Outcome::Success,
            arguments::Outcome::Failure => Outcome::Failure,
        },
    };
    let now = Timestamp::now();
    let mut memories = Memories::open(&root)?;
    let id = memories.record(&lesson, now)?;
    let confidence = memories.get(&id, now)?.map(|memory| memory.confidence);
    Ok(vec![text(&json!({
        "id": id, "title": lesson.title, "outcome": lesson.outcome, "confidence": confidence,
    }))])
}

pub(crate) fn search(desk: &Desk, arguments: &MemorySearch) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let limit = arguments.limit.unwrap_or(FOUND.0).min(FOUND.1);
    let found = Memories::open(&root)?.search(&arguments.query, limit, Timestamp::now())?;
    let memories: Vec<Value> = found.iter().map(shown).collect();
    let answer = json!({ "count": memories.len(), "memories": memories });
    desk.charged(&root, arguments.branch_id.as_deref(), text(&answer))
}

fn shown(memory: &Memory) -> Value {
    json!({
        "id": memory.id,
        "title": memory.title,
        "content": quorum_rules::secrets::redact(&memory.content),
        "outcome": memory.outcome,
        "confidence": (memory.confidence * 100.0).round() / 100.0,
        "tags": memory.tags,
    })
}

pub(crate) fn feedback(desk: &Desk, arguments: &MemoryFeedback) -> Result<Answer, ToolError> {
    let root = desk.root(arguments.project_path.as_deref())?;
    let (id, now) = (&arguments.memory_id, Timestamp::now());
    let mut memories = Memories::open(&root)?;
    if !memories.signal(id, arguments.helpful, now)? {
        let id: String = id.chars().take(40).collect();
        return Err(ToolError::new(Code::NotFound, format!("there is no memory `{id}`")));
    }
    let confidence = memories.get(id, now)?.map(|memory| memory.confidence);
    Ok(vec![text(&json!({ "new_confidence": confidence }))])
}
