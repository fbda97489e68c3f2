//! Patience, limits, and a way out: what every provider needs in front of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::backoff::Backoff;
use crate::breaker::{Breaker, Entry};
use crate::connect::Endpoint;
use crate::error::LlmError;
use crate::limiter::Limiter;
use crate::message::{Answer, Request};
use crate::provider::Progress;

/// How patient a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// Attempts for one request at one server.
    pub attempts: u32,
    /// The wait after the first failure.
    pub first_wait: Duration,
    /// The longest wait that is our own choice.
    pub longest_wait: Duration,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            attempts: 8,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(8),
        }
    }
}

/// Says whether another attempt may be made; the run's limits stand behind it.
pub trait Admission: Sync {
    /// Asked before every attempt, which it counts.
    fn admit(&self) -> Result<(), Refused>;

    /// Told about every attempt that failed.
    fn failed(&self, _error: &LlmError) {}

    /// How long the run may still take.
    fn time_left(&self) -> Option<Duration> {
        None
    }
}

/// Why no further attempt is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

/// Lets everything pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Admission for Unlimited {
    fn admit(&self) -> Result<(), Refused> {
        Ok(())
    }
}

/// An answer and how it was come by.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The answer.
    pub answer: Answer,
    /// The provider that gave it.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// What went wrong before.
    pub failures: Vec<String>,
}

/// One server's place in a chain of fallbacks.
#[derive(Clone, Debug)]
struct Link {
    endpoint: Arc<Endpoint>,
    model: String,
}

/// Asks the first model of a chain, and the next one when that fails for good.
#[derive(Clone, Debug)]
pub struct Client {
    chain: Vec<Link>,
    settings: ClientSettings,
}

/// How a server is doing; all clients that ask it share this.
#[derive(Debug)]
pub(crate) struct Lane {
    limiter: Limiter,
    breaker: Mutex<Breaker>,
    /// The server asked to be left alone until then.
    quiet_until: Mutex<Option<Instant>>,
}

/// Failures in a row after which a server is left alone.
const FAILURES: u32 = 8;

/// How long it is left alone before it is tried once more.
const PAUSE: Duration = Duration::from_secs(4);

impl Lane {
    pub(crate) fn new(most_at_once: usize) -> Self {
        Self {
            limiter: Limiter::new(most_at_once),
            breaker: Mutex::new(Breaker::new(FAILURES, PAUSE)),
            quiet_until: Mutex::new(None),
        }
    }

    fn breaker<T>(&self, act: impl FnOnce(&mut Breaker) -> T) -> T {
        act(&mut self.breaker.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn quiet_until(&self) -> Option<Instant> {
        *self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn be_quiet_until(&self, until: Instant) {
        let mut quiet = self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        *quiet = Some(quiet.map_or(until, |set| set.max(until)));
    }
}

impl Client {
    /// Asks the models of `chain` in their order.
    pub fn new(chain: Vec<(Arc<Endpoint>, String)>, settings: ClientSettings) -> Self {
        let chain = chain.into_iter().map(|(endpoint, model)| Link { endpoint, model });
        Self { chain: chain.collect(), settings }
    }

    /// The provider and the model that are asked first.
    pub fn first(&self) -> Option<(&str, &str)> {
        let link = self.chain.first()?;
        Some((link.endpoint.provider().name(), &link.model))
    }

    /// Asks until there is an answer, or nothing is left to try.
    ///
    /// `seed` makes this caller's waits its own.
    pub async fn ask(
        &self,
        request: &Request,
        seed: u64,
        progress: &dyn Progress,
        admission: &dyn Admission,
    ) -> Result<Exchange, LlmError> {
        let mut failures = Vec::new();
        let mut last = LlmError::NotAdmitted("no model is set".to_owned());
        let mut first = true;
        for link in &self.chain {
            let request = Request { model: link.model.clone(), ..request.clone() };
            let backoff = Backoff {
                first: self.settings.first_wait,
                longest: self.settings.longest_wait,
                seed,
            };
            for attempt in 1..=self.settings.attempts.max(1) {
                if !std::mem::take(&mut first) {
                    progress.restarted();
                }
                let tried = link.attempt(&request, progress, admission).await;
                let error = match tried {
                    Ok(answer) => {
                        let provider = link.endpoint.provider().name().to_owned();
                        let model = link.model.clone();
                        return Ok(Exchange { answer, provider, model, failures });
                    }
                    Err(error @ LlmError::NotAdmitted(_)) => {
                        // Why it was asked again says more than that it may not be.
                        failures.push(error.to_string());
                        failures.dedup();
                        return Err(LlmError::NotAdmitted(failures.join("; then ")));
                    }
                    Err(error) => error,
                };
                admission.failed(&error);
                failures.push(error.to_string());
                let again = error.is_transient() && attempt < self.settings.attempts;
                let wait = error.retry_after().unwrap_or_else(|| backoff.wait(attempt));
                let asked_for_too_much = admission.time_left().is_some_and(|left| wait >= left);
                last = if again && asked_for_too_much && error.retry_after().is_some() {
                    let endpoint = link.endpoint.provider().endpoint().to_owned();
                    LlmError::WaitTooLong { endpoint, asked: wait }
                } else {
                    error
                };
                if !again || asked_for_too_much {
                    break;
                }
                let until = Instant::now() + wait;
                if last.retry_after().is_some() {
                    link.endpoint.lane().be_quiet_until(until);
                }
                sleep_until(until).await;
            }
        }
        Err(last)
    }
}

impl Link {
    /// One attempt, when the server is ready for it.
    async fn attempt(
        &self,
        request: &Request,
        progress: &dyn Progress,
        admission: &dyn Admission,
    ) -> Result<Answer, LlmError> {
        let lane = self.endpoint.lane();
        let provider = self.endpoint.provider();
        let place = loop {
            let place = lane.limiter.enter().await;
            let now = Instant::now();
            let quiet = lane.quiet_until().filter(|until| *until > now);
            let until = match quiet.map_or_else(|| lane.breaker(|b| b.enter(now)), Entry::WaitUntil)
            {
                Entry::Pass => break place,
                Entry::WaitUntil(until) => until,
                Entry::Refused { failures, last } => {
                    let endpoint = provider.endpoint().to_owned();
                    return Err(LlmError::CircuitOpen { endpoint, failures, last });
                }
            };
            drop(place);
            if admission.time_left().is_some_and(|left| until.duration_since(now) >= left) {
                let (endpoint, asked) = (provider.endpoint().to_owned(), until.duration_since(now));
                return Err(LlmError::WaitTooLong { endpoint, asked });
            }
            sleep_until(until).await;
        };
        admission.admit().map_err(|Refused(why)| LlmError::NotAdmitted(why))?;
        let answer = provider.answer(request, progress).await;
        match &answer {
            Ok(_) => {
                lane.breaker(Breaker::succeeded);
                lane.limiter.succeeded();
            }
            Err(error) if error.is_overload() => lane.limiter.overloaded(),
            Err(error) if error.is_transient() => {
                lane.breaker(|breaker| breaker.failed(Instant::now(), &error.to_string()));
            }
            // It answers; what it refuses is this request.
            Err(_) => lane.breaker(Breaker::succeeded),
        }
        drop(place);
        answer
    }
}

#[cfg(test)]
mod tests;
