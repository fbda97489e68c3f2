//! Pages for people.

pub(crate) mod agents;
pub(crate) mod eval;
pub(crate) mod plan;
pub(crate) mod size;
pub(crate) mod style;
