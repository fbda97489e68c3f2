//! `quorum context`.

use quorum_context::Assembled;
use quorum_model::context::ContextManifest;
use quorum_model::plan::Shard;
use quorum_plan::shards::{self, Limits};
use quorum_plan::sop::Sop;
use quorum_rules::secrets::redact;
use serde::Serialize;

use super::plan;
use crate::briefing::{About, Surroundings};
use crate::cli::{Cli, ContextArgs, Format, ScopeArgs};
use crate::failure::Failure;
use crate::workspace::Workspace;
use crate::{gather, output, render};

/// What a reviewer is told beside one part of the files.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    pub(crate) manifest: ContextManifest,
    /// The standing orders, whole.
    pub(crate) sops: Vec<ToldSop>,
    /// What else there is.
    pub(crate) text: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct ToldSop {
    pub(crate) name: String,
    pub(crate) text: String,
}

pub(super) fn run(cli: &Cli, arguments: &ContextArgs) -> Result<u8, Failure> {
    let scope = ScopeArgs { paths: arguments.paths.clone(), ..ScopeArgs::default() };
    let workspace = Workspace::open(cli, &scope, Vec::new())?;
    let member = arguments.agent.as_deref().map(|name| workspace.roster.find(name)).transpose()?;
    let sops = plan::sops(&workspace)?;
    let gathered = gather::gather(&workspace, u64::MAX, gather::Purpose::Plan, cli.quiet)?;
    let files = gathered.scope.files.iter().zip(gathered.units);
    let mine = |file| member.is_none_or(|member| member.claims(file).is_some());
    let units = files.filter(|(file, _)| mine(file)).flat_map(|(_, units)| units);
    let agent = member.map(|member| member.agent.name.as_str());
    // Only the standing orders decide here what goes together.
    let shards = shards::pack(units, &sops, Limits::of_tokens(u64::MAX))?;
    if shards.is_empty() {
        let who = agent.unwrap_or("a reviewer");
        return Err(Failure::new(format!("there is no file for {who} among these"))
            .with_hint("`quorum agents --explain FILE` says who reviews a file"));
    }
    let about = About {
        files: &gathered.scope.files,
        label: "",
        shares_the_past: true,
        skips_whole_files: false,
    };
    let around = Surroundings::open(&workspace, about)?;
    let told: Vec<Told> = shards.iter().map(|shard| tell(&around, agent, shard, &sops)).collect();
    let file = arguments.output.output.as_deref();
    match arguments.output.format {
        Format::Json => output::json(&told, file)?,
        Format::Terminal => output::text(&render::context::page(&told), file)?,
    }
    Ok(0)
}

fn tell(around: &Surroundings<'_>, agent: Option<&str>, shard: &Shard, sops: &[Sop]) -> Told {
    let Assembled { manifest, text } = around.assemble(agent, shard, sops);
    let sops = sops.iter().filter(|sop| shard.sops.contains(&sop.name));
    let sops = sops.map(|sop| ToldSop { name: sop.name.clone(), text: redact(&sop.text) });
    Told { manifest, sops: sops.collect(), text }
}
