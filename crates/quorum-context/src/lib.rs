//! What reviewers are told beside the code under review.
//!
//! Candidates are plain values that somebody else read: a team's conventions ([`convention`]), what
//! was decided before ([`decision`]), what files declare and which tests there are ([`summary`]).
//! [`assemble`] chooses among them, after the standing orders, which always go in whole, and
//! says in a manifest what went in, what did not, and why.

pub mod assemble;
pub mod convention;
pub mod decision;
mod lenient;
mod sections;
pub mod summary;

pub use assemble::{Assembled, Candidate, Cut, Request, assemble};
pub use convention::Convention;
