//! `quorum agents`.

use quorum_engine::read_scope;
use quorum_engine::workspace::{self, Workspace};
use quorum_model::agent::Agent;
use quorum_plan::roster::Member;
use serde::Serialize;

use crate::cli::{AgentsArgs, Cli, Format, ScopeArgs};
use crate::failure::Failure;
use crate::{asked, output, process, render, watching};

pub(super) fn run(cli: &Cli, arguments: &AgentsArgs) -> Result<u8, Failure> {
    if let Some(path) = &arguments.explain {
        return explain(cli, arguments, path);
    }
    let roster = workspace::roster(&process::folder(cli)?, &process::environment())?;
    let file = arguments.output.output.as_deref();
    let shown = match &arguments.name {
        Some(name) => vec![roster.find(name)?],
        None => roster.members().iter().collect(),
    };
    match (arguments.output.format, &arguments.name) {
        (Format::Json, _) => {
            let agents: Vec<&Agent> = shown.iter().map(|member| &member.agent).collect();
            output::json(&agents, file)?;
        }
        (Format::Terminal, Some(_)) => {
            let page: String = shown.iter().map(|member| render::agents::one(member)).collect();
            output::text(&page, file)?;
        }
        (Format::Terminal, None) => {
            output::text(&render::agents::list(&shown, output::width()), file)?;
        }
    }
    Ok(0)
}

/// The reviewers here: in a repository with the team's own, elsewhere the embedded ones.
/// One reviewer's answer to whether a file is its own.
#[derive(Debug, Serialize)]
pub(crate) struct Claim {
    pub(crate) agent: String,
    pub(crate) reviews: bool,
    pub(crate) reason: String,
}

fn explain(cli: &Cli, arguments: &AgentsArgs, path: &str) -> Result<u8, Failure> {
    let scope = ScopeArgs { paths: vec![path.to_owned()], ..ScopeArgs::default() };
    let workspace = Workspace::open(&asked::change(cli, &scope)?, &process::environment())?;
    let found = read_scope(&workspace, &*watching::terminal(cli.quiet))?;
    let file = match found.files.as_slice() {
        [file] => file,
        files => {
            return Err(Failure::new(format!("`{path}` is {} files, not one", files.len()))
                .with_hint("`quorum plan PATH` shows who reviews each file of a directory"));
        }
    };
    let claims: Vec<Claim> = workspace
        .roster
        .members()
        .iter()
        .map(|member| claim(member, member.claims(file)))
        .collect();
    let out = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&serde_json::json!({ "file": file, "agents": claims }), out)?,
        Format::Terminal => output::text(&render::agents::explain(file, &claims), out)?,
    }
    Ok(0)
}

fn claim(member: &Member, reason: Option<String>) -> Claim {
    let agent = member.agent.name.clone();
    match reason {
        Some(_) if !member.enabled => {
            Claim { agent, reviews: false, reason: "disabled in the configuration".to_owned() }
        }
        Some(reason) => Claim { agent, reviews: true, reason },
        None if member.agent.catch_all => {
            let reason = "takes files that nobody else does".to_owned();
            Claim { agent, reviews: false, reason }
        }
        None => Claim { agent, reviews: false, reason: "not in its domain".to_owned() },
    }
}
