//! What a review leaves on disk, so that nothing is lost and little has to be read.
//!
//! A [`Run`] is one review's directory. Everything that happens goes to its [`journal`] first, one
//! checksummed line per event, and only then into the files that people and programs read. Those
//! files are all made from the journal, so a run that was killed is put right by reading it again.

mod clock;
mod database;
mod error;
mod fence;
mod folder;
pub mod ingest;
pub mod journal;
mod layout;
pub mod ledger;
pub mod memory;
pub mod offers;
pub mod page;
pub mod private;
mod retention;
mod run;
mod seal;
pub mod state;
#[cfg(test)]
mod testing;
pub mod verdicts;
mod whole;

pub use clock::Clock;
pub use error::StoreError;
pub use folder::Folder;
pub use journal::{CallOutcome, Event, Journal, SettledCall};
pub use retention::{Cleaned, Retention};
pub use run::{Run, RunId, RunSummary};
pub use seal::{OwnRun, Seal};
pub use state::RunState;
pub use whole::write as write_whole;
