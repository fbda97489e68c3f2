//! End-to-end tests: the real binary on real repositories.

mod advisories;
mod agents;
mod bad_input;
mod briefing;
mod config;
mod context;
mod cost;
mod crashes;
mod doctor;
mod egress;
mod eval;
mod first_run;
mod gates;
mod gates_safety;
#[cfg(target_os = "linux")]
mod gates_vectors;
mod gits;
mod hiding;
#[cfg(target_os = "linux")]
mod hostile;
mod index;
mod ledger;
mod mcp;
mod models;
mod plan;
mod private;
mod pull_request;
mod report;
mod review;
mod rounds;
mod runs;
mod same_tree;
mod sandbox;
mod scope;
mod size;
mod sops;
mod toolchains;
mod trust;
mod wording;
