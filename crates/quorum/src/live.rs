//! Events of a run as they happen: a line of JSON each, on standard output or in a file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use quorum_model::plan::Plan;
use quorum_report::events;
use quorum_store::Run;

use crate::failure::Failure;
use crate::narrate::Narrator;

/// What stands for standard output.
pub(crate) const STANDARD_OUTPUT: &str = "-";

/// Tells everything that happened in `run` so far, and from here on what happens.
pub(crate) fn follow(run: &Run, plan: &Plan, to: &Path) -> Result<(), Failure> {
    let out: Box<dyn Write + Send> = if to.as_os_str() == STANDARD_OUTPUT {
        Box::new(io::stdout())
    } else {
        let made = File::create(to);
        Box::new(made.map_err(|error| Failure::new(format!("{}: {error}", to.display())))?)
    };
    let state = Mutex::new((Narrator::new(run.id(), plan), out));
    run.journal().watch(move |record| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let (narrator, out) = &mut *state;
        for event in narrator.tell(record) {
            // Who reads them may go away; the review goes on.
            drop(out.write_all(events::line(&event).as_bytes()));
        }
        drop(out.flush());
    })?;
    Ok(())
}
