//! How many calls a server gets at once: half as many when it says that it is too much, and one more
//! at a time when all goes well.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// Bounds the calls that are under way to one server.
#[derive(Debug)]
pub(crate) struct Limiter {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    running: usize,
    limit: usize,
    most: usize,
    /// Successes since the limit changed.
    good: usize,
}

/// A place among the calls under way; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    limiter: &'a Limiter,
}

impl Limiter {
    /// At most `most` calls at once, whatever happens.
    pub(crate) fn new(most: usize) -> Self {
        let most = most.max(1);
        let state = State { running: 0, limit: most, most, good: 0 };
        Self { state: Mutex::new(state), freed: Notify::new() }
    }

    /// Waits for a place.
    pub(crate) async fn enter(&self) -> Place<'_> {
        loop {
            // Registered before the look, so that a place that is freed in between is not missed.
            let freed = self.freed.notified();
            if self.with(|state| {
                let free = state.running < state.limit;
                state.running += usize::from(free);
                free
            }) {
                return Place { limiter: self };
            }
            freed.await;
        }
    }

    /// The server says that it is too much.
    pub(crate) fn overloaded(&self) {
        self.with(|state| {
            state.limit = (state.limit / 2).max(1);
            state.good = 0;
        });
    }

    /// A call went well.
    pub(crate) fn succeeded(&self) {
        let grown = self.with(|state| {
            state.good += 1;
            let grows = state.limit < state.most && state.good >= state.limit;
            if grows {
                state.limit += 1;
                state.good = 0;
            }
            grows
        });
        if grown {
            self.freed.notify_one();
        }
    }

    #[cfg(test)]
    fn limit(&self) -> usize {
        self.with(|state| state.limit)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        // A panic while it was held left whole numbers behind.
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.limiter.with(|state| state.running -= 1);
        self.limiter.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn it_halves_and_recovers_one_by_one() {
        let limiter = Limiter::new(8);
        limiter.overloaded();
        limiter.overloaded();
        limiter.overloaded();
        limiter.overloaded();
        assert_eq!(limiter.limit(), 1);
        limiter.succeeded();
        assert_eq!(limiter.limit(), 2);
        limiter.succeeded();
        assert_eq!(limiter.limit(), 2);
        limiter.succeeded();
        assert_eq!(limiter.limit(), 3);
        for _ in 0..100 {
            limiter.succeeded();
        }
        assert_eq!(limiter.limit(), 8);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_enters_above_the_limit_and_everybody_enters_in_the_end() {
        let limiter = Limiter::new(2);
        let first = limiter.enter().await;
        let _second = limiter.enter().await;
        let third = timeout(Duration::from_secs(9), limiter.enter()).await;
        assert!(third.is_err(), "two are under way");
        drop(first);
        assert!(timeout(Duration::from_secs(9), limiter.enter()).await.is_ok());
    }
}
