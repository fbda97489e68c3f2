//! Gates: build, test and lint commands that look at a change before any reviewer does.
//!
//! What a compiler can say is not left to opinion. [`select`] says which checks a repository has, from
//! its own files and a team's changes; [`run()`] runs them in a scratch copy, apart from the rest of the
//! machine; what they print becomes places in the code ([`parse`]), cut to what a reader needs
//! ([`cut`]). All but [`run()`] and [`sandbox`] is pure.

pub mod coverage;
pub mod cut;
mod error;
mod missing;
pub mod outcome;
pub mod parse;
mod presets;
mod ran;
mod remove;
pub mod run;
pub mod sandbox;
mod select;
pub mod surroundings;
mod tree;
mod trigger;

pub use error::GateError;
pub use remove::remove;
pub use run::{Gates, Observer, prepare, run};
pub use sandbox::{Family, HELPER, helper};
pub use select::select;
pub use surroundings::Scratch;
pub use tree::{Paths, Tree};
