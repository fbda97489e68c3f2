//! Pages for people.

pub(crate) mod agents;
pub(crate) mod context;
pub(crate) mod conventions;
pub(crate) mod dismissals;
pub(crate) mod eval;
pub(crate) mod finding;
pub(crate) mod gates;
pub(crate) mod index;
pub(crate) mod ingest;
pub(crate) mod memory;
pub(crate) mod plan;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod size;
pub(crate) mod sops;
pub(crate) mod style;
pub(crate) mod symbols;
pub(crate) mod verdicts;
