//! Reviews in the background: started, watched, stopped.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quorum_engine::{CancellationToken, ReviewRequest};
use quorum_model::result::ReviewResult;
use tokio::sync::watch;

use crate::error::{Code, ToolError};
use crate::operations::{Operations, Watch};

/// Reviews that may be at work at once.
const MOST: usize = 4;

/// Where a review stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) run: Option<String>,
    pub(crate) done: u64,
    pub(crate) total: u64,
    pub(crate) message: String,
    pub(crate) end: Option<Result<Box<ReviewResult>, ToolError>>,
}

/// A review that was started here.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) standing: watch::Receiver<Standing>,
    cancel: CancellationToken,
}

impl Job {
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    fn is_over(&self) -> bool {
        self.standing.borrow().end.is_some()
    }
}

/// All reviews that were started by this server.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    jobs: Mutex<HashMap<(PathBuf, String), Job>>,
    working: Mutex<Vec<Job>>,
}

impl Jobs {
    /// Starts a review on a thread of its own.
    pub(crate) fn start(
        &self,
        operations: Arc<Operations>,
        request: ReviewRequest,
    ) -> Result<Job, ToolError> {
        let (sender, standing) = watch::channel(Standing::default());
        let (sender, cancel) = (Arc::new(sender), CancellationToken::new());
        let job = Job { standing, cancel: cancel.clone() };
        {
            let mut working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
            working.retain(|job| !job.is_over());
            if working.len() >= MOST {
                let text = format!("{MOST} reviews are at work");
                return Err(ToolError::new(Code::Busy, text)
                    .with_hint("wait for one, or cancel it with `review_status`"));
            }
            working.push(job.clone());
        }
        let watch = Watch::new(sender.clone(), cancel);
        std::thread::spawn(move || {
            let end = operations.review(&request, &watch).map(Box::new);
            sender.send_modify(|standing| standing.end = Some(end));
        });
        Ok(job)
    }

    /// Keeps a review under its run's id.
    pub(crate) fn keep(&self, root: &Path, run: &str, job: &Job) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.insert((root.to_owned(), run.to_owned()), job.clone());
    }

    /// The review of a run, where it was started here.
    pub(crate) fn of_run(&self, root: &Path, run: &str) -> Option<Job> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get(&(root.to_owned(), run.to_owned())).cloned()
    }
}
