//! The review pipeline as a library: from a request to a verdict.
//!
//! A caller makes a [`ReviewRequest`], says in an [`Environment`] what the engine may know of the process
//! and the user, and is told through an [`Observer`] what happens:
//!
//! 1. [`prepare`] finds out what is under review, loads the policy that holds for it, and plans.
//! 2. [`review`] runs gates and reviewers, decides, and records the run.
//! 3. [`resume`] goes on with a run that was cut off, [`replay`] decides one again, [`post()`] writes one to
//!    its pull request, and [`Delegated`] has a coding agent's own agents do the reviewing.
//!
//! The engine prints nothing, asks the process for nothing, and keeps nothing between two reviews but
//! tables that never change, so several can run at the same time in one process.

pub mod advisories;
mod briefing;
pub mod config;
pub mod consent;
pub mod context;
mod decided_by;
mod delegated;
mod embedded;
mod environment;
mod error;
pub mod eval;
mod events;
pub mod gates;
mod gather;
mod history;
pub mod indexing;
pub mod ingest;
pub mod kept;
pub mod looping;
mod models;
mod narrate;
mod observer;
mod plan;
pub mod policy;
pub mod post;
mod pull_request;
mod record;
mod replay;
pub mod reports;
mod request;
mod resume;
mod review;
mod rounds;
pub mod search;
mod settings;
pub mod size;
pub mod sops;
pub mod told;
mod tree;
pub mod workspace;

pub use delegated::{Begun, Delegated};
pub use environment::Environment;
pub use error::{EngineError, ErrorCode};
pub use gather::read_scope;
pub use models::write_prompts;
pub use observer::{Observer, Progress, SharedObserver, Silent, Stage, silent};
pub use plan::{Prepared, plan, plan_with_prompts, prepare};
pub use post::{PostReport, post};
pub use quorum_dispatch::BUILTIN;
pub use quorum_dispatch::llm::Standing;
pub use record::UNRECORDED;
pub use replay::{ReplayOptions, replay};
pub use request::{REQUEST_VERSION, ReviewOptions, ReviewRequest, ReviewSelection};
pub use resume::resume;
pub use review::{FULL_REPORT, Review, review};
pub use tokio_util::sync::CancellationToken;
pub use workspace::Workspace;
