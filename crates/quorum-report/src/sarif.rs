//! SARIF 2.1.0, as code scanning reads it.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>, within the limits of
//! <https://docs.github.com/en/code-security/reference/code-scanning/sarif-support-for-code-scanning>.
//!
//! The findings that stand are results of kind `fail`. Dismissed ones carry a suppression; resolved
//! ones are `pass` and `absent`; what was not agreed on is for a person to `review`.

mod document;
mod notifications;
mod results;
mod rules;
mod uri;

use std::collections::BTreeMap;

use quorum_model::finding::Finding;

use crate::json;
use crate::report::{Report, worst_first};
use document::{
    Artifact, AutomationDetails, Component, Driver, Log, Message, Properties, Run, Tool,
};
use rules::Rules;

/// More results are refused by GitHub.
const MOST_RESULTS: usize = 25_000;
/// The name for the root of the repository.
const ROOT: &str = "%SRCROOT%";

/// The result as a SARIF log with one run.
pub fn render(report: &Report<'_>) -> String {
    json::pretty(&log(report))
}

fn log<'a>(report: &'a Report<'_>) -> Log<'a> {
    let agreed = report.entries();
    let not_agreed = worst_first(&report.result.not_agreed);
    let all: Vec<(&Finding, bool)> = agreed
        .into_iter()
        .map(|finding| (finding, true))
        .chain(not_agreed.into_iter().map(|finding| (finding, false)))
        .collect();
    let kept = &all[..all.len().min(MOST_RESULTS)];
    let rules = Rules::of(kept.iter().map(|(finding, _)| *finding));
    let results = kept
        .iter()
        .map(|(finding, agreed)| results::result(report, finding, *agreed, &rules))
        .collect();
    let run = Run {
        tool: tool(report, rules),
        automation_details: AutomationDetails { id: format!("quorum/{}", report.result.run) },
        invocations: vec![notifications::invocation(report, all.len() - kept.len())],
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            Artifact { description: Message::plain("The root of the repository.") },
        )]),
        column_kind: "unicodeCodePoints",
        results,
        properties: properties(report),
    };
    Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: vec![run],
    }
}

fn tool<'a>(report: &'a Report<'_>, rules: Rules) -> Tool<'a> {
    let extensions = report.result.execution.agents.iter().map(|agent| Component {
        name: &agent.name,
        full_name: report.title(&agent.name).to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        properties: Properties::from([
            ("engine", agent.engine.as_str().into()),
            ("model", agent.model.as_deref().into()),
        ]),
    });
    Tool {
        driver: Driver {
            name: "Quorum",
            semantic_version: env!("CARGO_PKG_VERSION"),
            rules: rules.into_descriptors(),
        },
        // GitHub takes a hundred.
        extensions: extensions.take(100).collect(),
    }
}

fn properties<'a>(report: &'a Report<'_>) -> Properties<'a> {
    let scope = &report.plan.scope;
    Properties::from([
        ("run", report.result.run.as_str().into()),
        ("verdict", crate::text::verdict(report.result.verdict).into()),
        ("scope", scope.label.as_str().into()),
        ("base", scope.base.as_deref().into()),
        ("head", scope.head.as_deref().into()),
    ])
}
