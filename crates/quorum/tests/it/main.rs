//! End-to-end tests: the real binary on real repositories.

mod agents;
mod bad_input;
mod config;
mod doctor;
mod eval;
mod plan;
mod pull_request;
mod report;
mod review;
mod sandbox;
mod scope;
mod size;
