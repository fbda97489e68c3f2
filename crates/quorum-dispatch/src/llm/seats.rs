//! How many conversations are held at once.

use std::collections::BTreeMap;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::desk::{AgentEngine, LlmReview};

/// Conversations with one provider at once, at least. No server is asked more at once unless the user
/// wants it, and what waits for its turn need not be written out yet.
const SEATS: usize = 16;

/// Seats for each provider, so that a slow one keeps nobody from asking another.
#[derive(Debug)]
pub(crate) struct Seats(BTreeMap<String, Semaphore>);

impl Seats {
    pub(crate) fn new(review: &LlmReview<'_>) -> Self {
        let wanted = review.limits.jobs.and_then(|jobs| usize::try_from(jobs).ok());
        let seats = SEATS.max(review.engines.len()).max(wanted.unwrap_or_default());
        let providers = review.engines.values().map(provider);
        Self(providers.map(|name| (name.to_owned(), Semaphore::new(seats))).collect())
    }

    /// Waits for a seat; nobody takes the seats away, so absent only where none were made.
    pub(crate) async fn take(&self, engine: &AgentEngine) -> Option<SemaphorePermit<'_>> {
        self.0.get(provider(engine))?.acquire().await.ok()
    }
}

fn provider(engine: &AgentEngine) -> &str {
    engine.client.as_ref().and_then(|client| client.first()).map_or("", |(name, _)| name)
}
