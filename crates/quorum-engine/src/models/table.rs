//! Reviewers that are models, waited for.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;

use quorum_dispatch::llm::{Panel, Said};
use quorum_model::finding::Finding;
use quorum_model::outcome::{AgentOutcome, Message};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Reviewers at one table. What they do is waited for, until it is done or the caller cancels it; what is
/// there by then is returned.
pub(crate) struct Table<'a> {
    pub(super) panel: Panel<'a>,
    pub(super) runtime: Runtime,
    pub(super) canceller: watch::Sender<bool>,
    pub(super) cancel: &'a CancellationToken,
    pub(super) interrupted: Cell<bool>,
}

impl Table<'_> {
    /// Has everything reviewed.
    pub(crate) fn review(&self) -> Vec<AgentOutcome> {
        self.wait(self.panel.review())
    }

    /// Tells agents what others found, and returns what they say to it.
    pub(crate) fn confer(&self, told: &BTreeMap<String, Vec<Message>>) -> Vec<Said> {
        self.wait(self.panel.confer(told))
    }

    /// Has findings looked at a second time.
    pub(crate) fn verify(&self, findings: &[Finding]) -> Vec<Said> {
        self.wait(self.panel.verify(findings))
    }

    /// Whether the caller cancelled it.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.get()
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            let mut work = pin!(work);
            tokio::select! {
                done = &mut work => return done,
                () = self.cancel.cancelled() => {}
            }
            self.interrupted.set(true);
            // Nobody listens any more only when the work is over.
            self.canceller.send_replace(true);
            work.await
        })
    }
}
