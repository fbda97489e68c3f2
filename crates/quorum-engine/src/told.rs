//! What a reviewer would be told beside the code.

use std::path::Path;

use quorum_model::context::ContextManifest;
use quorum_model::plan::Shard;
use quorum_plan::shards::{self, Limits};
use quorum_plan::sop::Sop;
use quorum_rules::secrets::redact;
use serde::Serialize;

use crate::briefing::{About, Surroundings};
use crate::context::Assembled;
use crate::environment::Environment;
use crate::error::EngineError;
use crate::observer::Observer;
use crate::request::{ReviewRequest, ReviewSelection};
use crate::workspace::Workspace;
use crate::{gather, sops};

/// What a reviewer is told beside one part of the files.
#[derive(Debug, Serialize)]
pub struct ToldContext {
    /// What went in, what did not, and why.
    pub manifest: ContextManifest,
    /// The standing orders, whole.
    pub sops: Vec<ToldSop>,
    /// What else there is.
    pub text: String,
}

/// An SOP, whole.
#[derive(Debug, Serialize)]
pub struct ToldSop {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What the reviewer that `agent` names would be told beside the code of `paths`; any reviewer where
/// none is named.
pub fn tell_about(
    folder: &Path,
    paths: &[String],
    agent: Option<&str>,
    environment: &Environment,
    observer: &dyn Observer,
) -> Result<Vec<ToldContext>, EngineError> {
    let mut request = ReviewRequest::new(folder, ReviewSelection::Default);
    request.paths = paths.to_vec();
    let workspace = Workspace::open(&request, environment)?;
    let member = agent.map(|name| workspace.roster.find(name)).transpose()?;
    let sops = sops::for_code(&workspace)?;
    let gathered = gather::gather(&workspace, u64::MAX, gather::Purpose::Plan, observer)?;
    let files = gathered.scope.files.iter().zip(gathered.units);
    let mine = |file| member.is_none_or(|member| member.claims(file).is_some());
    let units = files.filter(|(file, _)| mine(file)).flat_map(|(_, units)| units);
    let agent = member.map(|member| member.agent.name.as_str());
    // Only the standing orders decide here what goes together.
    let shards = shards::pack(units, &sops, Limits::of_tokens(u64::MAX))?;
    if shards.is_empty() {
        let who = agent.unwrap_or("a reviewer");
        return Err(EngineError::not_found(format!("there is no file for {who} among these"))
            .with_hint("`quorum agents --explain FILE` says who reviews a file"));
    }
    let about = About {
        files: &gathered.scope.files,
        label: "",
        shares_the_past: true,
        skips_whole_files: false,
    };
    let around = Surroundings::open(&workspace, about)?;
    Ok(shards.iter().map(|shard| tell(&around, agent, shard, &sops)).collect())
}

fn tell(
    around: &Surroundings<'_>,
    agent: Option<&str>,
    shard: &Shard,
    sops: &[Sop],
) -> ToldContext {
    let Assembled { manifest, text } = around.assemble(agent, shard, sops);
    let sops = sops.iter().filter(|sop| shard.sops.contains(&sop.name));
    let sops = sops.map(|sop| ToldSop { name: sop.name.clone(), text: redact(&sop.text) });
    ToldContext { manifest, sops: sops.collect(), text }
}
