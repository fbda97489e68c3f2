//! Reviewers that are language models: in branches, under budgets that are really charged.

mod agent;
mod ask;
mod context;
mod contract;
pub mod delegate;
mod desk;
mod ground;
mod injection;
mod ledger;
mod prompt;
mod redact;
mod run;
mod scrub;
mod session;
mod shown;
mod tally;
#[cfg(test)]
mod testing;
mod tools;
mod units;
mod visible;

use crate::branch;

pub use desk::{
    AgentEngine, Briefing, Cancel, Journal, LlmReview, NoBriefing, NoJournal, Observer, Recording,
    Standing, Unobserved,
};
pub use prompt::Style;
pub use redact::{NoSecrets, Redactor};
pub use run::{RenderedPrompt, prompts, run};
pub use shown::{Changed, Material};
pub use tools::{Hit, Lookup};
