//! What happened when, from a run's journal.

use quorum_model::event::Event;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_store::{RunSummary, journal};

use crate::narrate::Narrator;

/// What happened in a run, and when it started and ended.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) events: Vec<Event>,
    pub(super) started: Option<String>,
    pub(super) ended: Option<String>,
}

/// The timeline of `run`; empty where its journal cannot be read.
pub(super) fn of(run: &RunSummary, result: &ReviewResult, plan: &Plan) -> Timeline {
    let bytes = std::fs::read(run.directory().join("journal.jsonl")).unwrap_or_default();
    let records = journal::read(&bytes).records;
    let mut narrator = Narrator::new(&result.run, plan);
    let mut events: Vec<Event> = records.iter().flat_map(|record| narrator.tell(record)).collect();
    events.extend(narrator.end(result));
    Timeline {
        events,
        started: records.first().map(|record| record.at.clone()),
        ended: records.last().map(|record| record.at.clone()),
    }
}
