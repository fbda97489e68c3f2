//! JSON schemas, generated from the types.

use schemars::{Schema, generate::SchemaSettings};

use crate::agent::Agent;
use crate::config::Config;
use crate::context::ContextManifest;
use crate::event::Event;
use crate::gate::GateReport;
use crate::looping::LoopReport;
use crate::plan::Plan;
use crate::report::AgentReport;
use crate::result::ReviewResult;
use crate::search::SearchResults;
use crate::size::{SizeReport, Task};
use crate::symbol::{
    Callers, FileReferences, FileSummary, FileSymbols, IndexReport, RepositoryMap,
};
use crate::verdict::VerdictFile;

/// Every document that Quorum reads or writes for machines, by file name, with its schema.
pub fn documents() -> Vec<(&'static str, Schema)> {
    vec![
        ("agent.json", of::<Agent>()),
        ("agent-report.json", of::<AgentReport>()),
        ("callers.json", of::<Callers>()),
        ("config.json", of::<Config>()),
        ("context.json", of::<ContextManifest>()),
        ("event.json", of::<Event>()),
        ("gates.json", of::<GateReport>()),
        ("index.json", of::<IndexReport>()),
        ("loop.json", of::<LoopReport>()),
        ("map.json", of::<RepositoryMap>()),
        ("plan.json", of::<Plan>()),
        ("references.json", of::<FileReferences>()),
        ("result.json", of::<ReviewResult>()),
        ("search.json", of::<SearchResults>()),
        ("size.json", of::<SizeReport>()),
        ("summary.json", of::<FileSummary>()),
        ("symbols.json", of::<FileSymbols>()),
        ("task.json", of::<Task>()),
        ("verdict.json", of::<VerdictFile>()),
    ]
}

/// The schema as it is kept on disk.
pub fn render(schema: &Schema) -> String {
    // A schema is a JSON value already, so there is nothing that could fail to serialise.
    let mut text = serde_json::to_string_pretty(schema.as_value()).unwrap_or_default();
    text.push('\n');
    text
}

fn of<T: schemars::JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}
