//! `quorum show`.

use quorum_engine::kept::Kept;
use quorum_engine::policy::Policy;
use quorum_engine::reports;
use quorum_engine::workspace;
use quorum_index::Counter;
use quorum_model::finding::Finding;
use quorum_scope::request::PolicySource;
use quorum_store::{Run, RunSummary, page};
use serde_json::json;

use crate::cli::{Cli, Format, ShowArgs};
use crate::failure::Failure;
use crate::{output, process, render};

pub(super) fn run(cli: &Cli, arguments: &ShowArgs) -> Result<u8, Failure> {
    let kept = Kept::open(&process::folder(cli)?)?;
    let run = Run::find(&kept.root, &arguments.run.run)?;
    let file = arguments.output.output.as_deref();
    let as_json = arguments.output.format == Format::Json;
    let text = if let Some(agent) = agent(&run, &arguments.name)? {
        if as_json {
            let verdict = run.verdicts()?.into_iter().find(|verdict| verdict.agent == agent);
            let outcome = run.state()?.finished(&agent).cloned();
            output::json(&json!({ "verdict": verdict, "outcome": outcome }), file)?;
            return Ok(0);
        }
        let text = run.page(&agent)?.unwrap_or_default();
        if arguments.index { page::head(&text).to_owned() } else { text }
    } else if let Some(mut finding) = run.finding(&arguments.name)? {
        if arguments.reveal {
            finding.evidence = reports::unmasked(&finding, &run.plan()?.scope, &kept.repository)
                .ok_or_else(|| moved_on(&finding))?;
        }
        if as_json {
            output::json(&finding, file)?;
            return Ok(0);
        }
        render::finding::page(&finding)
    } else if let Some(section) = unpublished(&run, &arguments.name)? {
        section
    } else {
        return Err(nothing(&run, &arguments.name));
    };
    let text = match arguments.budget {
        Some(budget) => {
            let policy = Policy::new(Some(&kept.repository), PolicySource::WorkTree);
            let config = workspace::load(&policy, &process::environment(), Vec::new())?.config;
            let counter = Counter::new(config.tokenizer);
            page::within(&text, budget, |text| counter.count(text.as_bytes()))
        }
        None => text,
    };
    output::text(&text, file)?;
    Ok(0)
}

/// The agent that is meant: its name, with or without `-reviewer`.
fn agent(run: &RunSummary, name: &str) -> Result<Option<String>, Failure> {
    let verdicts = run.verdicts()?;
    let full = format!("{name}-reviewer");
    let meant = verdicts.into_iter().find(|verdict| verdict.agent == name || verdict.agent == full);
    Ok(meant.map(|verdict| verdict.agent))
}

/// What an agent reported and the review did not publish, by its id on the agent's page.
fn unpublished(run: &RunSummary, name: &str) -> Result<Option<String>, Failure> {
    for verdict in run.verdicts()? {
        let text = run.page(&verdict.agent)?.unwrap_or_default();
        if let Some(section) = page::section(&text, &name.to_uppercase()) {
            return Ok(Some(section.to_owned()));
        }
    }
    Ok(None)
}

fn moved_on(finding: &Finding) -> Failure {
    Failure::new(format!("{} no longer has the code of {}", finding.file, finding.id))
        .with_hint("review again, or look without --reveal")
}

pub(super) fn nothing(run: &RunSummary, name: &str) -> Failure {
    Failure::new(format!("run {} has no agent and no finding `{name}`", run.id()))
        .with_hint("`quorum verdicts` names the agents, `quorum show AGENT --index` its findings")
}
