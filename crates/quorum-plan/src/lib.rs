//! What is decided before anything is sent: pure functions over plain values.
//!
//! [`plan`] takes a scope with its units and returns the [`Plan`](quorum_model::plan::Plan): tier,
//! reviewers with their reasons, budgets, isolation, shards and ceilings. Nothing here touches the
//! disk, the network, the clock or a random number, so that every rule can be tested exhaustively.

pub mod budget;
pub mod ceilings;
pub mod domain;
pub mod error;
pub mod front_matter;
pub mod glob;
pub mod models;
pub mod planner;
pub mod priority;
pub mod related;
pub mod roster;
pub mod select;
pub mod shards;
pub mod sizing;
pub mod sop;
pub mod task;
pub mod tier;

pub use error::PlanError;
pub use planner::{Input, Settings, plan, unit_limit};
