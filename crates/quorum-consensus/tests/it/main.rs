//! Whole decisions, from reports to results.

mod clusters;
mod fixture;
mod laws;
mod protocols;
mod verdicts;
