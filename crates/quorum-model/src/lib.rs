//! The vocabulary of Quorum and its JSON form.
//!
//! Every other crate speaks in these types, and nothing here knows about any of them: no clock, no
//! disk, no network, no randomness. What scripts rely on (field names, enum spellings) is fixed by
//! the types in this crate; the schemas that [`schema::documents`] generates from them are kept in
//! `schemas/` at the root of the repository, and a test fails when they are stale.

pub mod agent;
pub mod budget;
pub mod config;
pub mod context;
pub mod coverage;
pub mod event;
pub mod finding;
pub mod gate;
pub mod looping;
pub mod outcome;
pub mod path;
pub mod plan;
pub mod record;
pub mod report;
pub mod result;
pub mod schema;
pub mod scope;
pub mod search;
pub mod severity;
pub mod size;
pub mod symbol;
pub mod tier;
pub mod unit;
pub mod verdict;
pub mod wording;

/// Stands in every document that Quorum writes for machines.
///
/// Fields may be added under one version; a field that goes away or changes its meaning raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// Serde default for the `schema_version` fields.
pub(crate) fn schema_version() -> u32 {
    SCHEMA_VERSION
}
