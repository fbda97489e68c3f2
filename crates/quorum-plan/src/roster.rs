//! The reviewers that there are: Quorum's own and a team's.

use std::collections::BTreeMap;

use quorum_model::agent::{Agent, AgentOrigin, Domain, VetoCriterion};
use quorum_model::config::{AgentConfig, MAX_BASE_BUDGET, MIN_BASE_BUDGET};
use quorum_model::scope::FileEntry;
use quorum_model::severity::Severity;
use serde::Deserialize;

use crate::error::PlanError;
use crate::front_matter;
use crate::glob::Globs;

/// The embedded reviewers, in the order in which they are reported.
const EMBEDDED: [(&str, &str); 10] = [
    ("security-reviewer", include_str!("../agents/security-reviewer.md")),
    ("vulnerability-reviewer", include_str!("../agents/vulnerability-reviewer.md")),
    ("go-reviewer", include_str!("../agents/go-reviewer.md")),
    ("rust-reviewer", include_str!("../agents/rust-reviewer.md")),
    ("python-reviewer", include_str!("../agents/python-reviewer.md")),
    ("typescript-reviewer", include_str!("../agents/typescript-reviewer.md")),
    ("java-reviewer", include_str!("../agents/java-reviewer.md")),
    ("code-quality-reviewer", include_str!("../agents/code-quality-reviewer.md")),
    ("documentation-reviewer", include_str!("../agents/documentation-reviewer.md")),
    ("user-persona-reviewer", include_str!("../agents/user-persona-reviewer.md")),
];

/// The front matter of an agent's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    name: String,
    title: Option<String>,
    focus: String,
    base_budget: u64,
    veto: bool,
    max_severity: Option<Severity>,
    #[serde(default)]
    domain: Domain,
    #[serde(default)]
    catch_all: bool,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    veto_criteria: Vec<VetoCriterion>,
    model: Option<String>,
}

/// The keys of an agent's file, for whoever made a mistake in one. A test compares them with the above.
const KEYS: &str = "name (text, needed), focus (text, needed), base_budget (whole number, needed), veto \
                    (true or false, needed), title (text, default: the name), max_severity (severity), \
                    domain (table of kinds, languages and paths, default: none), catch_all (true or false, \
                    default false), categories (list of texts, default: any), veto_criteria (list of tables \
                    with id, min_severity, categories, traced and when, default: none), model (text, \
                    default: the provider's)";

/// A team's own agent file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFile {
    /// Where it is.
    pub path: String,
    /// What it says.
    pub text: String,
    /// Whether the user agrees to the model and the budget that it names.
    pub trusted: bool,
}

/// What a team's agent file asks for that a user may have to pay for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asks {
    /// Where it is.
    pub path: String,
    /// The agent.
    pub agent: String,
    /// The model that it names.
    pub model: Option<String>,
    /// Tokens before scaling.
    pub base_budget: u64,
}

/// What the files ask for. One that cannot be read asks for nothing: no roster is made with it.
pub fn asks(files: &[AgentFile]) -> Vec<Asks> {
    let read = files.iter().filter_map(|file| {
        let agent = parse(&file.path, &file.text, AgentOrigin::Team(file.path.clone())).ok()?;
        let Agent { name, model, base_budget, .. } = agent;
        Some(Asks { path: file.path.clone(), agent: name, model, base_budget })
    });
    read.collect()
}

/// An agent with its globs compiled and its configuration applied.
#[derive(Clone, Debug)]
pub struct Member {
    /// The agent.
    pub agent: Agent,
    /// What does its work, where it differs from the run's.
    pub provider: Option<String>,
    /// Whether it can be selected.
    pub enabled: bool,
    globs: Globs,
}

impl Member {
    /// Why `file` is in this agent's domain; absent when it is not.
    pub fn claims(&self, file: &FileEntry) -> Option<String> {
        let by_kind = self.agent.domain.reason_for(file);
        by_kind.or_else(|| self.globs.matches(&file.path).then(|| "path".to_owned()))
    }
}

/// The reviewers that there are.
#[derive(Clone, Debug)]
pub struct Roster {
    members: Vec<Member>,
}

impl Roster {
    /// Quorum's own reviewers.
    pub fn embedded() -> Result<Self, PlanError> {
        Self::load(&[], &BTreeMap::new())
    }

    /// Quorum's own reviewers, with a team's in place of them or beside them, and the changes that
    /// configuration makes to single ones.
    pub fn load(
        files: &[AgentFile],
        config: &BTreeMap<String, AgentConfig>,
    ) -> Result<Self, PlanError> {
        let mut agents = Vec::new();
        for (name, text) in EMBEDDED {
            agents.push(parse(&format!("{name}.md"), text, AgentOrigin::Embedded)?);
        }
        for file in files {
            let mut agent = parse(&file.path, &file.text, AgentOrigin::Team(file.path.clone()))?;
            if !file.trusted {
                agent.model = None;
                agent.base_budget = agent.base_budget.min(MAX_BASE_BUDGET);
            }
            match agents.iter().position(|known: &Agent| known.name == agent.name) {
                Some(index) => {
                    if let AgentOrigin::Team(earlier) = &agents[index].origin {
                        return Err(PlanError::FrontMatter {
                            path: file.path.clone(),
                            message: format!("`{}` is defined in {earlier} already", agent.name),
                        });
                    }
                    agent.origin = AgentOrigin::Override(file.path.clone());
                    agents[index] = agent;
                }
                None => agents.push(agent),
            }
        }
        let mut members = Vec::new();
        for agent in agents {
            let globs = Globs::new(&agent.domain.paths)?;
            members.push(Member { agent, provider: None, enabled: true, globs });
        }
        let mut roster = Self { members };
        for (name, changes) in config {
            roster.apply(name, changes)?;
        }
        Ok(roster)
    }

    fn apply(&mut self, name: &str, changes: &AgentConfig) -> Result<(), PlanError> {
        let known = self.names();
        let Some(member) = self.members.iter_mut().find(|member| member.agent.answers_to(name))
        else {
            return Err(PlanError::UnknownAgent { name: name.to_owned(), known });
        };
        member.enabled = changes.enabled.unwrap_or(member.enabled);
        member.agent.base_budget = changes.base_budget.unwrap_or(member.agent.base_budget);
        member.agent.veto = changes.veto.unwrap_or(member.agent.veto);
        member.provider = changes.provider.clone().or(member.provider.take());
        member.agent.model = changes.model.clone().or(member.agent.model.take());
        Ok(())
    }

    /// All of them, in the order in which they are reported.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The agent that answers to `name`, which may leave `-reviewer` out.
    pub fn find(&self, name: &str) -> Result<&Member, PlanError> {
        let found = self.members.iter().find(|member| member.agent.answers_to(name));
        found.ok_or_else(|| PlanError::UnknownAgent { name: name.to_owned(), known: self.names() })
    }

    fn names(&self) -> Vec<String> {
        self.members.iter().map(|member| member.agent.short_name().to_owned()).collect()
    }
}

/// Reads one agent's file.
pub fn parse(path: &str, text: &str, origin: AgentOrigin) -> Result<Agent, PlanError> {
    let (front, body): (FrontMatter, String) = front_matter::read(path, text, KEYS)?;
    let refuse = |message: String| Err(PlanError::FrontMatter { path: path.to_owned(), message });
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if front.name.is_empty() || !front.name.chars().all(plain) {
        return refuse(format!(
            "`name: {}` must be lower-case letters, digits and dashes",
            front.name
        ));
    }
    if front.base_budget < MIN_BASE_BUDGET {
        return refuse(format!("`base_budget` must be at least {MIN_BASE_BUDGET}"));
    }
    if body.is_empty() {
        return refuse("there is no checklist below the front matter".to_owned());
    }
    for criterion in &front.veto_criteria {
        let strange = criterion.categories.iter().find(|name| !front.categories.contains(name));
        if let Some(name) = strange {
            return refuse(format!(
                "the veto criterion `{}` names `{name}`, which is not in `categories`",
                criterion.id
            ));
        }
    }
    let title = front.title.unwrap_or_else(|| front.name.clone());
    Ok(Agent {
        name: front.name,
        title,
        focus: front.focus,
        base_budget: front.base_budget,
        veto: front.veto,
        max_severity: front.max_severity,
        domain: front.domain,
        catch_all: front.catch_all,
        categories: front.categories,
        veto_criteria: front.veto_criteria,
        model: front.model,
        instructions: body,
        origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_of_a_repository_costs_no_more_than_an_embedded_one() {
        let budgets = Roster::embedded().expect("they parse");
        let most = budgets.members().iter().map(|member| member.agent.base_budget).max();
        assert_eq!(most, Some(MAX_BASE_BUDGET));
        let text = OWN.replace("base_budget: 2048", "base_budget: 900000\nmodel: dear");
        let mut files = vec![file("api.md", &text)];
        let agent = |files: &[AgentFile]| {
            let roster = Roster::load(files, &BTreeMap::new()).expect("it parses");
            let found = roster.find("api").expect("it is there").agent.clone();
            (found.base_budget, found.model)
        };
        assert_eq!(agent(&files), (900_000, Some("dear".to_owned())), "the user agrees");
        files[0].trusted = false;
        assert_eq!(agent(&files), (MAX_BASE_BUDGET, None));
        let asked = asks(&files);
        assert_eq!((asked[0].agent.as_str(), asked[0].base_budget), ("api-reviewer", 900_000));
    }

    const OWN: &str = "---\nname: api-reviewer\nfocus: our API rules\nbase_budget: 2048\nveto: true\n\
        domain:\n  paths: [\"api/**\"]\n---\n# Checklist\n- x\n";

    fn file(path: &str, text: &str) -> AgentFile {
        AgentFile { path: path.to_owned(), text: text.to_owned(), trusted: true }
    }

    /// The table of base budgets and vetoes.
    #[test]
    fn budgets_and_vetoes_of_the_embedded_agents() {
        let roster = Roster::embedded().expect("the embedded agents parse");
        let table: Vec<_> = roster
            .members()
            .iter()
            .map(|m| (m.agent.short_name(), m.agent.base_budget, m.agent.veto))
            .collect();
        assert_eq!(
            table,
            [
                ("security", 8192, true),
                ("vulnerability", 8192, true),
                ("go", 8192, true),
                ("rust", 8192, true),
                ("python", 8192, true),
                ("typescript", 8192, true),
                ("java", 8192, true),
                ("code-quality", 6144, true),
                ("documentation", 4096, true),
                ("user-persona", 4096, false),
            ]
        );
    }

    #[test]
    fn every_embedded_agent_has_all_its_sections() {
        let roster = Roster::embedded().expect("the embedded agents parse");
        for member in roster.members() {
            let agent = &member.agent;
            for section in [
                "## Checklist",
                "## Severity",
                "## Veto criteria",
                "## Priority order",
                "## Do not flag",
            ] {
                assert!(agent.instructions.contains(section), "{}: {section}", agent.name);
            }
            assert_eq!(agent.veto, !agent.veto_criteria.is_empty(), "{}", agent.name);
            assert!(!agent.categories.is_empty(), "{}", agent.name);
        }
    }

    #[test]
    fn the_persona_never_rates_above_medium() {
        let roster = Roster::embedded().expect("the embedded agents parse");
        let persona = &roster.find("user-persona").expect("it is embedded").agent;
        assert_eq!(persona.max_severity, Some(Severity::Medium));
    }

    #[test]
    fn a_team_adds_and_replaces() {
        let own = file(".quorum/agents/api.md", OWN);
        let replaced = OWN.replace("api-reviewer", "security-reviewer");
        let replaced = file(".quorum/agents/security.md", &replaced);
        let roster = Roster::load(&[own, replaced], &BTreeMap::new()).expect("they parse");
        assert_eq!(roster.members().len(), 11);
        let security = &roster.find("security").expect("it is there").agent;
        assert_eq!(security.base_budget, 2048);
        let origin = AgentOrigin::Override(".quorum/agents/security.md".to_owned());
        assert_eq!(security.origin, origin);
    }

    #[test]
    fn two_files_may_not_define_one_agent() {
        let files = [file("a.md", OWN), file("b.md", OWN)];
        let error = Roster::load(&files, &BTreeMap::new()).expect_err("it is ambiguous");
        assert_eq!(error.to_string(), "b.md: `api-reviewer` is defined in a.md already");
    }

    #[test]
    fn configuration_changes_one_agent() {
        let changes =
            AgentConfig { enabled: Some(false), base_budget: Some(1000), ..AgentConfig::default() };
        let config = BTreeMap::from([("go".to_owned(), changes)]);
        let roster = Roster::load(&[], &config).expect("it applies");
        let go = roster.find("go-reviewer").expect("it is there");
        assert!(!go.enabled && go.agent.base_budget == 1000);
    }

    #[test]
    fn mistakes_name_the_file_and_the_cause() {
        let cases = [
            ("---\nname: X\nfocus: f\nbase_budget: 2048\nveto: true\n---\nx", "lower-case"),
            ("---\nname: x\nfocus: f\nbase_budget: 10\nveto: true\n---\nx", "at least 512"),
            ("---\nname: x\nfocus: f\nbase_budget: 2048\nveto: true\n---\n", "no checklist"),
            ("---\nname: x\nfokus: f\nbase_budget: 2048\nveto: true\n---\nx", "fokus"),
            ("no front matter", "start with"),
        ];
        for (text, cause) in cases {
            let error = parse("own.md", text, AgentOrigin::Embedded).expect_err(text).to_string();
            assert!(error.starts_with("own.md: ") && error.contains(cause), "{error}");
        }
    }
}
