//! Clustering, protocols, coverage and the verdict, as pure functions.
//!
//! [`decide`] turns the plan and what the agents returned into the result of a review. It reads no
//! clock, no disk and no network and draws no random number, so the same values give the same
//! result, byte for byte, in whatever order the agents finished.

pub mod cluster;
mod coverage;
mod decide;
mod error;
mod exchange;
mod findings;
mod fingerprint;
mod gap;
mod grounded;
mod lines;
mod linkage;
mod links;
mod quorum;
mod reactions;
mod refute;
mod seat;
mod shell;
mod sighting;
pub mod similarity;
mod sops;
mod verdict;
mod vote;
mod who;

pub use decide::{Input, Names, Policy, blocking, decide};
pub use error::ConsensusError;
pub use exchange::messages;
pub use fingerprint::fingerprint;
pub use grounded::check_grounded;
pub use quorum::Quorum;
pub use seat::is_veto;
