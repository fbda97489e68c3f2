//! Reviewers that are models, waited for.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use quorum_dispatch::llm::{Panel, Said};
use quorum_model::finding::Finding;
use quorum_model::outcome::{AgentOutcome, Message};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Reviewers at one table. What they do is waited for, until it is done or the user stops it; what is
/// there by then is returned.
pub(crate) struct Table<'a> {
    pub(super) panel: Panel<'a>,
    pub(super) runtime: Runtime,
    pub(super) canceller: watch::Sender<bool>,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
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

    /// Whether the user stopped it.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.get()
    }

    fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            let mut work = pin!(work);
            tokio::select! {
                done = &mut work => return done,
                _ = tokio::signal::ctrl_c() => {}
                () = wanted(self.stop) => {}
            }
            self.interrupted.set(true);
            // Nobody listens any more only when the work is over.
            self.canceller.send_replace(true);
            work.await
        })
    }
}

/// Waits until somebody wants a review to stop.
async fn wanted(stop: &(dyn Fn() -> bool + Sync)) {
    while !stop() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
