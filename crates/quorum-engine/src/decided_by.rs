//! What decides a review beside the reviewers' reports, kept with the run so that it can be decided
//! again.

use std::fmt::Display;
use std::fs;

use quorum_consensus::{Policy, Quorum};
use quorum_model::agent::Agent;
use quorum_model::config::{Config, CoverageConfig, CoverageNeed, FailOn};
use quorum_model::plan::Protocol;
use quorum_store::RunSummary;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::workspace::Workspace;

const FILE: &str = "policy.json";

/// The reviewers' definitions and the team's rules for a verdict, as they were when a run began.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DecidedBy {
    pub(crate) agents: Vec<Agent>,
    pub(crate) fail_on: FailOn,
    pub(crate) strict: bool,
    quorum_share: Option<f64>,
    #[serde(default)]
    coverage: CoverageConfig,
}

impl DecidedBy {
    /// What holds in a workspace.
    pub(crate) fn of(workspace: &Workspace) -> Self {
        let config = &workspace.loaded.config;
        let members = workspace.roster.members().iter();
        Self {
            agents: members.map(|member| member.agent.clone()).collect(),
            fail_on: config.fail_on,
            strict: config.strict,
            quorum_share: config.quorum_share,
            coverage: config.coverage,
        }
    }

    /// What held when `run` began.
    pub(crate) fn load(run: &RunSummary) -> Result<Self, EngineError> {
        let lost = |cause: &dyn Display| {
            EngineError::failed(format!("run {} does not say what decided it: {cause}", run.id()))
                .with_hint("`quorum review` starts a new one")
        };
        let text = fs::read(run.directory().join(FILE)).map_err(|error| lost(&error))?;
        serde_json::from_slice(&text)
            .map_err(|error| lost(&quorum_model::wording::plain(&error.to_string())))
    }

    /// What is kept of it beside the plan, by file name.
    pub(crate) fn file(&self) -> Option<(&'static str, Vec<u8>)> {
        // Names, numbers and flags: nothing in it is without a JSON form.
        Some((FILE, serde_json::to_vec_pretty(self).ok()?))
    }

    /// The rules for one verdict.
    pub(crate) fn policy(
        &self,
        protocol: Protocol,
        ignore_vetos: Option<String>,
    ) -> Result<Policy, EngineError> {
        let config = Config { quorum_share: self.quorum_share, ..Config::default() };
        let share = config.quorum().map_err(|problem| {
            EngineError::failed(format!("{}: {}", problem.key, problem.message))
        })?;
        Ok(Policy {
            protocol,
            fail_on: self.fail_on.severity(),
            strict: self.strict,
            require_reviewed: self.coverage.require == CoverageNeed::Reviewed,
            ignore_vetos: ignore_vetos.map(|reason| quorum_rules::secrets::redact(&reason)),
            quorum: share.map_or_else(Quorum::default, Quorum::Share),
            ..Policy::default()
        })
    }
}
