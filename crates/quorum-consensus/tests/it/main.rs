//! Whole decisions, from reports to results.

mod fixture;
mod verdicts;
