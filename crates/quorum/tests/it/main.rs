//! End-to-end tests: the real binary on real repositories.

mod agents;
mod bad_input;
mod config;
mod eval;
mod models;
mod plan;
mod pull_request;
mod review;
mod sandbox;
mod scope;
mod size;
