//! The reviewers as pages.

use std::fmt::Write as _;

use quorum_model::agent::AgentOrigin;
use quorum_model::scope::FileEntry;
use quorum_plan::roster::Member;

use super::style::{dim, heading, number, table, title};
use crate::commands::Claim;

/// All reviewers, `width` columns wide.
pub(crate) fn list(members: &[&Member], width: usize) -> String {
    let rows = members.iter().map(|member| {
        let agent = &member.agent;
        vec![
            agent.short_name().to_owned(),
            number(agent.base_budget),
            if agent.veto { "yes" } else { "no" }.to_owned(),
            domain(member),
            agent.focus.clone(),
            origin(member),
        ]
    });
    let head = ["Agent", "Budget", "Veto", "Domain", "Focus", "From"];
    table(&head, rows.collect(), &[1], width)
}

/// One reviewer in full.
pub(crate) fn one(member: &Member) -> String {
    let agent = &member.agent;
    let mut page = title(&agent.name);
    let mut line = |name: &str, text: &str| {
        // Writing to a string cannot fail.
        _ = writeln!(page, "{}{}{text}", heading(name), " ".repeat(12 - name.len()));
    };
    line("Focus", &agent.focus);
    line("Budget", &format!("{} before scaling", number(agent.base_budget)));
    line("Domain", &domain(member));
    line("Categories", &agent.categories.join(", "));
    if let Some(most) = agent.max_severity {
        line("At most", most.as_str());
    }
    for criterion in &agent.veto_criteria {
        let least = criterion.min_severity.as_str();
        line("Veto", &format!("{} ({least}): {}", criterion.id, criterion.when));
    }
    line("From", &origin(member));
    format!("{page}\n{}\n", agent.instructions)
}

/// Who reviews a file, and why.
pub(crate) fn explain(file: &FileEntry, claims: &[Claim]) -> String {
    let language = file.language.as_deref().unwrap_or("no known language");
    let mut page = title(&file.path);
    let tokens = number(file.tokens);
    // Writing to a string cannot fail.
    _ = writeln!(page, "{language}, {}, {tokens} tokens", file.kind.as_str());
    for (flag, reason) in &file.flag_reasons {
        _ = writeln!(page, "  {:20} {}", flag.as_str(), dim(reason));
    }
    page.push('\n');
    for claim in claims {
        let mark = if claim.reviews { "yes" } else { "–" };
        _ = writeln!(page, "  {mark:4} {:26} {}", claim.agent, dim(&claim.reason));
    }
    page
}

fn domain(member: &Member) -> String {
    let domain = &member.agent.domain;
    let words = domain.kinds.iter().map(|word| word.replace('_', "-"));
    let rest = domain.languages.iter().chain(&domain.paths).cloned();
    let all: Vec<String> = words.chain(rest).collect();
    all.join(", ")
}

fn origin(member: &Member) -> String {
    let from = match &member.agent.origin {
        AgentOrigin::Embedded => "quorum".to_owned(),
        AgentOrigin::Team(path) => path.clone(),
        AgentOrigin::Override(path) => format!("{path} (replaces quorum's)"),
    };
    if member.enabled { from } else { format!("{from}, disabled") }
}
