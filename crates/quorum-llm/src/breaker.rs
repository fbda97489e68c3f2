//! Leaves a server alone that keeps failing.

use std::time::Duration;

use tokio::time::Instant;

/// What a breaker says to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Go on.
    Pass,
    /// Ask again then.
    WaitUntil(Instant),
    /// The server was left alone, tried again, and failed again: give up on it.
    Refused {
        /// How often it failed in a row.
        failures: u32,
        /// The last failure.
        last: String,
    },
}

/// Opens after failures in a row; after a pause one call may try; if that fails too, it stays open.
#[derive(Debug)]
pub(crate) struct Breaker {
    threshold: u32,
    pause: Duration,
    failures: u32,
    last: String,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Instant },
    Trying { since: Instant },
    Broken,
}

impl Breaker {
    pub(crate) fn new(threshold: u32, pause: Duration) -> Self {
        Self { threshold, pause, failures: 0, last: String::new(), state: State::Closed }
    }

    /// Whether a call may be made at `now`.
    pub(crate) fn enter(&mut self, now: Instant) -> Entry {
        match self.state {
            State::Closed => Entry::Pass,
            State::Open { until } if now < until => Entry::WaitUntil(until),
            // A try that nobody hears of again, because its caller gave up, is not waited for.
            State::Trying { since } if now < since + self.pause * 4 => {
                Entry::WaitUntil(now + self.pause / 4)
            }
            State::Open { .. } | State::Trying { .. } => {
                self.state = State::Trying { since: now };
                Entry::Pass
            }
            State::Broken => Entry::Refused { failures: self.failures, last: self.last.clone() },
        }
    }

    /// A call succeeded, or failed in a way that says nothing about the server.
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
        self.state = State::Closed;
    }

    /// A call failed.
    pub(crate) fn failed(&mut self, now: Instant, cause: &str) {
        self.failures = self.failures.saturating_add(1);
        cause.clone_into(&mut self.last);
        match self.state {
            State::Closed if self.failures >= self.threshold => {
                self.state = State::Open { until: now + self.pause };
            }
            State::Trying { .. } => self.state = State::Broken,
            // Calls that were under way when it opened.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(5);

    #[test]
    fn it_opens_tries_once_and_gives_up() {
        let start = Instant::now();
        let mut breaker = Breaker::new(3, PAUSE);
        for _ in 0..3 {
            assert_eq!(breaker.enter(start), Entry::Pass);
            breaker.failed(start, "500");
        }
        assert_eq!(breaker.enter(start), Entry::WaitUntil(start + PAUSE));
        let later = start + PAUSE;
        assert_eq!(breaker.enter(later), Entry::Pass);
        assert!(matches!(breaker.enter(later), Entry::WaitUntil(_)), "one tries at a time");
        breaker.failed(later, "500 again");
        let refused = Entry::Refused { failures: 4, last: "500 again".to_owned() };
        assert_eq!(breaker.enter(later), refused);
    }

    #[test]
    fn a_success_closes_it() {
        let start = Instant::now();
        let mut breaker = Breaker::new(2, PAUSE);
        breaker.failed(start, "a");
        breaker.succeeded();
        breaker.failed(start, "b");
        assert_eq!(breaker.enter(start), Entry::Pass);
        breaker.failed(start, "c");
        assert_eq!(breaker.enter(start + PAUSE), Entry::Pass);
        breaker.succeeded();
        assert_eq!(breaker.enter(start + PAUSE), Entry::Pass);
    }
}
