//! Any text is an agent or an error, and so is any SOP.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quorum_model::agent::AgentOrigin;
use quorum_plan::{roster, sop};

fuzz_target!(|text: &str| {
    drop(roster::parse("fuzz.md", text, AgentOrigin::Embedded));
    drop(sop::parse("fuzz.md", text, |text| text.len() as u64));
    // The parser is reached far more often behind a well-formed fence.
    let fenced = format!("---\nname: fuzz\nfocus: f\nbase_budget: 2048\nveto: true\n{text}\n---\nbody\n");
    drop(roster::parse("fuzz.md", &fenced, AgentOrigin::Embedded));
});
