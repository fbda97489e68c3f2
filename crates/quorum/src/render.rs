//! Pages for people.

pub(crate) mod agents;
pub(crate) mod index;
pub(crate) mod plan;
pub(crate) mod search;
pub(crate) mod size;
pub(crate) mod style;
pub(crate) mod symbols;
