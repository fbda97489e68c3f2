//! What happens during a run, one JSON object a line. The schema is `schemas/event.json`.

use quorum_model::event::Event;

use crate::json;

/// One event as a line, with its end.
pub fn line(event: &Event) -> String {
    json::line(event)
}

/// Events as lines.
pub fn render(events: &[Event]) -> String {
    events.iter().map(line).collect()
}
