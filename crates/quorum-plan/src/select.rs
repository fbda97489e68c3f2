//! Which reviewers look at a change, and at which of its files.

use quorum_model::plan::Protocol;
use quorum_model::scope::{FileEntry, Flag};
use quorum_model::tier::{Dimension, Tier, TierAssessment};

use crate::error::PlanError;
use crate::roster::{Member, Roster};

/// A selected reviewer.
#[derive(Clone, Debug)]
pub struct Selected<'a> {
    /// Who.
    pub member: &'a Member,
    /// Why, in the order in which the rules apply.
    pub reasons: Vec<String>,
    /// The indices of its files, in no particular order.
    pub files: Vec<usize>,
    /// What it is there for.
    pub role: Role,
}

/// What a reviewer was selected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The change or the user calls for it: a provider is paid for it where there is one.
    Called,
    /// It has files in its domain, and its rules cost nothing.
    Rules,
    /// It was not chosen, and searches all files for secrets.
    Secrets,
}

/// Who searches for secrets, whoever else was chosen.
const SECRETS: &str = "security-reviewer";

/// The reviewers of a change, and the files that none of them answers for.
#[derive(Clone, Debug)]
pub struct Selection<'a> {
    /// In the roster's order.
    pub agents: Vec<Selected<'a>>,
    /// Indices of files.
    pub unassigned: Vec<usize>,
}

/// Selects reviewers: `wanted` where it names any, else those that the change calls for.
pub fn select<'a>(
    roster: &'a Roster,
    files: &[FileEntry],
    tier: &TierAssessment,
    protocol: Protocol,
    wanted: &[String],
) -> Result<Selection<'a>, PlanError> {
    let mut agents = if wanted.is_empty() {
        called_for(roster, files, tier, protocol)
    } else {
        asked_for(roster, files, protocol, wanted)?
    };
    let mut covered = vec![false; files.len()];
    for agent in &agents {
        agent.files.iter().for_each(|&index| covered[index] = true);
    }
    let mut unassigned: Vec<usize> = (0..files.len()).filter(|&index| !covered[index]).collect();
    // Nothing is left out for want of a domain: somebody takes what nobody else does.
    if let Some(member) = enabled(roster).find(|member| member.agent.catch_all)
        && !unassigned.is_empty()
    {
        let position = agents.iter().position(|agent| agent.member.agent.name == member.agent.name);
        match position {
            Some(index) => {
                agents[index].files.append(&mut unassigned);
            }
            None if wanted.is_empty() => {
                let reasons = vec!["files that are in no other reviewer's domain".to_owned()];
                let files = std::mem::take(&mut unassigned);
                agents.push(Selected { member, reasons, files, role: Role::Called });
            }
            None => {}
        }
    }
    let searches = |agent: &Selected<'_>| agent.member.agent.name == SECRETS;
    if let Some(member) = enabled(roster).find(|member| member.agent.name == SECRETS)
        && !files.is_empty()
        && !agents.iter().any(searches)
    {
        let reasons = vec!["secrets are always searched for".to_owned()];
        agents.push(Selected { member, reasons, files: Vec::new(), role: Role::Secrets });
    }
    let rank = |agent: &Selected<'_>| {
        let name = &agent.member.agent.name;
        let place = roster.members().iter().position(|member| member.agent.name == *name);
        (agent.role == Role::Secrets, place)
    };
    agents.sort_by_key(rank);
    Ok(Selection { agents, unassigned })
}

fn enabled(roster: &Roster) -> impl Iterator<Item = &Member> {
    roster.members().iter().filter(|member| member.enabled)
}

fn asked_for<'a>(
    roster: &'a Roster,
    files: &[FileEntry],
    protocol: Protocol,
    wanted: &[String],
) -> Result<Vec<Selected<'a>>, PlanError> {
    let mut agents: Vec<Selected<'a>> = Vec::new();
    for name in wanted {
        let member = roster.find(name)?;
        if !member.enabled {
            return Err(PlanError::DisabledAgent(member.agent.name.clone()));
        }
        if agents.iter().all(|agent| agent.member.agent.name != member.agent.name) {
            let files = domain(member, files, protocol);
            let reasons = vec!["asked for by name".to_owned()];
            agents.push(Selected { member, reasons, files, role: Role::Called });
        }
    }
    Ok(agents)
}

fn called_for<'a>(
    roster: &'a Roster,
    files: &[FileEntry],
    tier: &TierAssessment,
    protocol: Protocol,
) -> Vec<Selected<'a>> {
    let mut agents = Vec::new();
    for member in enabled(roster) {
        if files.iter().all(|file| member.claims(file).is_none()) {
            continue;
        }
        let mut reasons = reasons(member, files, tier);
        let role = if reasons.is_empty() { Role::Rules } else { Role::Called };
        if role == Role::Rules {
            reasons.push("files in its domain; its rules cost nothing".to_owned());
        }
        let files = domain(member, files, protocol);
        agents.push(Selected { member, reasons, files, role });
    }
    agents
}

/// The files that a reviewer is given: its domain, or everything where drafts must be independent.
fn domain(member: &Member, files: &[FileEntry], protocol: Protocol) -> Vec<usize> {
    let all = 0..files.len();
    if protocol == Protocol::Aad {
        return all.collect();
    }
    all.filter(|&index| member.claims(&files[index]).is_some()).collect()
}

/// Every rule that calls for this reviewer.
fn reasons(member: &Member, files: &[FileEntry], tier: &TierAssessment) -> Vec<String> {
    let mut reasons = Vec::new();
    let name = member.agent.short_name();
    let score = |dimension| tier.dimensions.get(&dimension).map_or(1, |score| score.score);
    let tier_name = tier.name.as_str();
    let touched = |flags: &[Flag]| {
        let touches = |file: &&FileEntry| flags.iter().any(|flag| file.has(*flag));
        files.iter().find(touches).map(|file| file.path.to_string())
    };
    let own = !matches!(member.agent.origin, quorum_model::agent::AgentOrigin::Embedded);
    match (tier.name, name) {
        (Tier::Complex, _) => reasons.push(format!("tier {tier_name}")),
        (_, "code-quality") | (Tier::Standard, "security") => {
            reasons.push(format!("tier {tier_name}"));
        }
        _ => {}
    }
    if let Some((language, path)) = speaks(member, files) {
        reasons.push(format!("{language} files ({path})"));
    }
    let overrides: [(&str, &[Flag], &str); 4] = [
        ("security", &[Flag::SecuritySensitive], "auth, crypto or secrets touched"),
        ("user-persona", &[Flag::PublicApi, Flag::Cli], "public interface changed"),
        ("documentation", &[Flag::Docs, Flag::Changelog], "documentation changed"),
        ("vulnerability", &[Flag::Manifest, Flag::LockFile], "dependencies changed"),
    ];
    for (agent, flags, why) in overrides {
        if name == agent
            && let Some(path) = touched(flags)
        {
            reasons.push(format!("{why} ({path})"));
        }
    }
    let by_score: [(Dimension, u8, &[&str]); 3] = [
        (Dimension::Risk, 2, &["security", "vulnerability"]),
        (Dimension::Integration, 2, &["user-persona", "documentation"]),
        (Dimension::Infrastructure, 2, &["security"]),
    ];
    for (dimension, least, agents) in by_score {
        if agents.contains(&name) && score(dimension) >= least {
            reasons.push(format!("{} {}", dimension.as_str(), score(dimension)));
        }
    }
    if score(Dimension::Scope) == 3 {
        reasons.push("scope 3".to_owned());
    }
    if own && reasons.is_empty() {
        reasons.push("the team's own reviewer for these files".to_owned());
    }
    reasons
}

/// The first file in a language that this reviewer is for.
fn speaks(member: &Member, files: &[FileEntry]) -> Option<(String, String)> {
    files.iter().find_map(|file| {
        let language = file.language.as_ref()?;
        let for_it = member.agent.domain.languages.contains(language);
        for_it.then(|| (language.clone(), file.path.to_string()))
    })
}

#[cfg(test)]
mod tests;
