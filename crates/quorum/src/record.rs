//! The run on disk, where there is a place for it.

use std::io::ErrorKind;

use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Plan;
use quorum_model::result::ReviewResult;
use quorum_store::{Clock, Run, StoreError};

use crate::failure::Failure;
use crate::workspace::Workspace;

/// Records a run in `.quorum/runs`. A diff that is reviewed without a repository leaves nothing.
#[derive(Debug)]
pub(crate) struct Recorder {
    run: Option<Run>,
}

/// The id of a run that is not recorded.
const UNRECORDED: &str = "unrecorded";

/// The system's clock.
pub(crate) fn clock() -> Clock {
    Clock::new(jiff::Timestamp::now)
}

impl Recorder {
    /// Starts a run for `plan`.
    pub(crate) fn start(workspace: &Workspace, plan: &Plan) -> Result<Self, Failure> {
        let root = workspace.repository.as_ref().and_then(|repository| repository.work_tree());
        let run = match root {
            Some(root) => match Run::create(root, plan, clock()) {
                Ok(run) => Some(run),
                // A review of a tree that cannot be written to is still a review.
                Err(error) if is_read_only(&error) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        Ok(Self { run })
    }

    /// The run's id.
    pub(crate) fn id(&self) -> &str {
        self.run.as_ref().map_or(UNRECORDED, Run::id)
    }

    /// Records how agents ended, before anything is concluded from it.
    pub(crate) fn finished(
        &self,
        outcomes: Vec<AgentOutcome>,
    ) -> Result<Vec<AgentOutcome>, StoreError> {
        let Some(run) = &self.run else { return Ok(outcomes) };
        outcomes.into_iter().map(|outcome| run.write_agent(outcome)).collect()
    }

    /// Writes the agents' pages and verdicts, and the result.
    pub(crate) fn decided(
        &self,
        outcomes: &[AgentOutcome],
        result: &ReviewResult,
    ) -> Result<(), StoreError> {
        let Some(run) = &self.run else { return Ok(()) };
        run.finish(result, outcomes)
    }
}

fn is_read_only(error: &StoreError) -> bool {
    let StoreError::Io { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}
