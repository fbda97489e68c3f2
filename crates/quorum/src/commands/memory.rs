//! `quorum memory`.

use std::io::Read as _;

use jiff::Timestamp;
use quorum_engine::kept::Kept;
use quorum_rules::secrets::redact;
use quorum_store::memory::{Lesson, Memories, Memory, Outcome};

use crate::cli::{Cli, Format, MemoryAction, MemoryArgs, OutputArgs};
use crate::failure::Failure;
use crate::{output, process, render};

pub(super) fn run(cli: &Cli, arguments: &MemoryArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let writes = matches!(arguments.action, MemoryAction::Record { .. });
    let open = if writes { Memories::open } else { Memories::look };
    let mut memories = open(&kept.root)?;
    let now = Timestamp::now();
    match &arguments.action {
        MemoryAction::Record { title, content, tags, failure } => {
            let lesson = Lesson {
                title: title.clone(),
                content: if content == "-" { standard_input()? } else { content.clone() },
                tags: tags.clone(),
                outcome: if *failure { Outcome::Failure } else { Outcome::Success },
            };
            if lesson.title.trim().is_empty() || lesson.content.trim().is_empty() {
                return Err(Failure::new("a lesson needs a title and a content"));
            }
            let lesson = Lesson {
                title: redact(&lesson.title),
                content: redact(&lesson.content),
                tags: lesson.tags.iter().map(|tag| redact(tag)).collect(),
                ..lesson
            };
            let id = memories.record(&lesson, now)?;
            output::text(&format!("{id}\n"), None)?;
        }
        MemoryAction::Search { query, limit, output } => {
            print(&memories.search(query, *limit, now)?, output)?;
        }
        MemoryAction::List { output } => print(&memories.list(now)?, output)?,
        MemoryAction::Helpful { memory } => {
            found(memories.signal(memory, true, now)?, memory)?;
        }
        MemoryAction::Unhelpful { memory } => {
            found(memories.signal(memory, false, now)?, memory)?;
        }
        MemoryAction::Forget { memory } => found(memories.forget(memory)?, memory)?,
    }
    Ok(0)
}

fn print(memories: &[Memory], arguments: &OutputArgs) -> Result<(), Failure> {
    let file = arguments.output.as_deref();
    if arguments.format == Format::Json {
        return output::json(&memories, file);
    }
    output::text(&render::memory::list(memories), file)
}

fn found(found: bool, name: &str) -> Result<(), Failure> {
    if found {
        return Ok(());
    }
    Err(Failure::new(format!("there is no memory `{name}`"))
        .with_hint("`quorum memory list` names them"))
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("standard input: {error}")))?;
    Ok(text)
}
