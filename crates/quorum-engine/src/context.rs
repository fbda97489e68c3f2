//! What reviewers are told beside the code under review.
//!
//! Candidates are plain values that somebody else read: a team's conventions ([`convention`]), what
//! was decided before ([`decision`]), what files declare and which tests there are ([`summary`]).
//! [`assemble`] chooses among them, after the standing orders, which always go in whole, and
//! says in a manifest what went in, what did not, and why.

pub(crate) mod assemble;
pub mod convention;
pub(crate) mod decision;
mod lenient;
mod sections;
pub(crate) mod summary;

pub(crate) use assemble::{Assembled, Candidate, ContextRequest, Cut, assemble};
