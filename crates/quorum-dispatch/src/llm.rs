//! Reviewers that are language models: in branches, under budgets that are really charged.

mod agent;
mod ask;
mod bears;
mod canary;
mod confer;
mod context;
mod contract;
pub mod delegate;
mod desk;
mod excerpt;
mod fence;
mod ground;
mod ledger;
mod line;
mod prompt;
mod question;
mod redact;
mod run;
mod said;
mod scrub;
mod seats;
mod session;
mod shown;
mod tally;
#[cfg(test)]
mod testing;
mod tools;
mod units;
mod verify;
mod visible;

use crate::branch;

pub use desk::{
    AgentEngine, Briefing, Cancel, Journal, LlmReview, NoBriefing, NoJournal, Observer, Recording,
    Standing, Unobserved,
};
pub use prompt::Style;
pub use redact::{NoSecrets, Redactor};
pub use run::{Panel, RenderedPrompt, reporter};
pub use said::Said;
pub use shown::{Changed, Material};
pub use tools::{Hit, Lookup};
