//! Events of a run as they happen, for an observer that asks for them.

use std::sync::{Mutex, PoisonError};

use quorum_store::Run;

use crate::error::EngineError;
use crate::narrate::Narrator;
use crate::observer::{Progress, SharedObserver};
use crate::plan::Prepared;

/// Tells everything that happened in `run` so far, and from here on what happens.
pub(crate) fn follow(
    run: &Run,
    prepared: &Prepared,
    observer: &SharedObserver,
) -> Result<(), EngineError> {
    let narrator = Mutex::new(Narrator::new(run.id(), &prepared.plan));
    let observer = observer.clone();
    run.journal().watch(move |record| {
        let mut narrator = narrator.lock().unwrap_or_else(PoisonError::into_inner);
        for event in narrator.tell(record) {
            observer.observe(Progress::Event(&event));
        }
    })?;
    Ok(())
}
