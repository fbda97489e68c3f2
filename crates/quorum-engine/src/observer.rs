//! How whoever started something is told what happens.

use std::sync::Arc;

use quorum_dispatch::llm::Standing;
use quorum_model::event::Event;
use quorum_model::gate::{GateCheck, GateResult};

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Files are read, classified and counted.
    Reading,
    /// Rules review the files.
    Reviewing,
    /// Commits are reviewed one by one.
    ReviewingCommits,
    /// Another process works on the index.
    Waiting,
    /// Files are indexed.
    Indexing,
    /// Pieces of code are given vectors.
    Embedding,
}

/// Something that an observer may want to show. Readers should pass over what they do not know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A stage begins; `total` is how many files it has, where that is known.
    StageStarted {
        /// The stage.
        stage: Stage,
        /// Its files.
        total: u64,
    },
    /// One more file of the stage is done. Comes from several threads.
    FileDone {
        /// The stage.
        stage: Stage,
    },
    /// The stage is over.
    StageEnded {
        /// The stage.
        stage: Stage,
    },
    /// A run is on disk and begins.
    RunStarted {
        /// Its id.
        run: &'a str,
    },
    /// Something happened in the run, in the words of its documents. Only observers that ask for
    /// events ([`Observer::wants_events`]) are told.
    Event(&'a Event),
    /// A reviewer that is a model has got so far.
    Reviewer {
        /// The reviewer.
        agent: &'a str,
        /// How far it is.
        standing: &'a Standing,
    },
    /// The reviewers that are models are done.
    ReviewersEnded,
    /// A gate begins.
    GateStarted(&'a GateCheck),
    /// A gate ended.
    GateEnded(&'a GateResult),
    /// What the user should know and is no reason to stop.
    Notice(&'a str),
}

/// Is told what happens, from several threads. It should return quickly: the review waits for it.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn observe(&self, update: Progress<'_>);

    /// Whether the run's events are wanted: telling them takes a second look at every record.
    fn wants_events(&self) -> bool {
        false
    }
}

/// An observer that can be handed on.
pub type SharedObserver = Arc<dyn Observer>;

/// An observer that shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&self, _update: Progress<'_>) {}
}

/// An observer that shows nothing, to hand on.
pub fn silent() -> SharedObserver {
    Arc::new(Silent)
}

/// Tells reviewers' progress to an observer.
pub(crate) struct Reviewers<'a>(pub(crate) &'a dyn Observer);

impl quorum_dispatch::llm::Observer for Reviewers<'_> {
    fn standing(&self, agent: &str, standing: Standing) {
        self.0.observe(Progress::Reviewer { agent, standing: &standing });
    }
}
