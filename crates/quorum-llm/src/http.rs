//! Requests over HTTP, with a limit on everything: each wait, the whole call, and the answer's size.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::error::LlmError;
use crate::key::Key;
use crate::message::{Answer, Finish, Request};
use crate::provider::{Answering, Progress, Provider};
use crate::sse::Reader;
use crate::wire::{Fault, Wire, no_json};

/// How long is waited for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// For the first byte of an answer.
    pub first_byte: Duration,
    /// For the next byte.
    pub idle: Duration,
    /// For the whole call.
    pub total: Duration,
}

impl Timeouts {
    /// The usual patience within a call of `total`.
    pub fn within(total: Duration) -> Self {
        let at_most = |seconds| Duration::from_secs(seconds).min(total);
        Self { connect: at_most(10), first_byte: at_most(90), idle: at_most(45), total }
    }
}

/// The most that is read of one answer.
const LARGEST_ANSWER: usize = 10 * 1024 * 1024;

/// The most that is read of a refusal.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// A server that is spoken to over HTTP.
pub struct HttpProvider {
    wire: Box<dyn Wire>,
    client: Client,
    base: String,
    endpoint: String,
    key: Option<Key>,
    timeouts: Timeouts,
    largest: usize,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider")
            .field("wire", &self.wire)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl HttpProvider {
    /// A server at `base`; nothing is sent yet.
    pub(crate) fn new(
        wire: Box<dyn Wire>,
        base: &str,
        key: Option<Key>,
        timeouts: Timeouts,
    ) -> Result<Self, LlmError> {
        let invalid = |reason: String| LlmError::InvalidAddress {
            // An address may hold a password.
            address: base.rsplit('@').next().unwrap_or_default().to_owned(),
            reason,
        };
        let url = Url::parse(base).map_err(|error| invalid(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(invalid("it is not http or https".to_owned()));
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let endpoint = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        // Another part of the program may have chosen a provider before: then that one is used.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder()
            .user_agent(concat!("quorum/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect)
            .referer(false)
            // A key stays with the server that it was meant for.
            .redirect(Policy::none());
        if is_loopback(&host) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| LlmError::Setup {
            endpoint: endpoint.clone(),
            reason: root_cause(&error),
        })?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self { wire, client, base, endpoint, key, timeouts, largest: LARGEST_ANSWER })
    }

    async fn call(&self, request: &Request, progress: &dyn Progress) -> Result<Answer, LlmError> {
        let deadline = Instant::now() + self.timeouts.total;
        let url = format!("{}{}", self.base, self.wire.path(request));
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        for (name, value) in self.wire.headers(self.key.as_ref()) {
            if let Ok(mut value) = HeaderValue::from_str(&value) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        let body = self.wire.body(request).to_string();
        let sent = self
            .client
            .post(url)
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .body(body)
            .send();
        let first_byte = deadline.min(Instant::now() + self.timeouts.first_byte);
        let response = timeout_at(first_byte, sent)
            .await
            .map_err(|_| self.timed_out("answer", first_byte, deadline))?
            .map_err(|error| self.broken(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(response, deadline).await);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            self.stream(response, progress, deadline).await
        } else {
            self.whole(response, progress, deadline).await
        }
    }

    async fn stream(
        &self,
        mut response: Response,
        progress: &dyn Progress,
        deadline: Instant,
    ) -> Result<Answer, LlmError> {
        let mut reader = Reader::default();
        let mut assembler = self.wire.assembler();
        let mut events = Vec::new();
        let mut size = 0_usize;
        loop {
            let piece = self.next(&mut response, deadline).await;
            let piece = match piece {
                Ok(piece) => piece,
                // What comes after the end of an answer is of no interest.
                Err(_) if assembler.may_end() => None,
                Err(error) => return Err(error),
            };
            let over = piece.is_none();
            match piece {
                Some(piece) => {
                    size = size.saturating_add(piece.len());
                    if size > self.largest {
                        return Err(self.too_large());
                    }
                    reader.push(&piece, &mut events);
                }
                None => reader.finish(&mut events),
            }
            for event in events.drain(..) {
                let written = match assembler.take(&event) {
                    Ok(written) => written,
                    // The last line of a stream that was cut is half of one.
                    Err(Fault::Malformed(_)) if over && !assembler.may_end() => {
                        return Err(self.cut_off());
                    }
                    Err(fault) => return Err(self.fault(fault)),
                };
                if !written.is_empty() && progress.wrote(&written).is_break() {
                    return Ok(Answer { finish: Finish::Cut, ..assembler.answer() });
                }
            }
            if assembler.is_complete() || (over && assembler.may_end()) {
                return Ok(assembler.answer());
            }
            if over {
                return Err(self.cut_off());
            }
        }
    }

    async fn whole(
        &self,
        mut response: Response,
        progress: &dyn Progress,
        deadline: Instant,
    ) -> Result<Answer, LlmError> {
        let mut body = Vec::new();
        while let Some(piece) = self.next(&mut response, deadline).await? {
            if body.len().saturating_add(piece.len()) > self.largest {
                return Err(self.too_large());
            }
            body.extend_from_slice(&piece);
        }
        let body: Value = serde_json::from_slice(&body)
            .map_err(|error| self.fault(Fault::malformed(no_json(&error))))?;
        let answer = self.wire.whole(&body).map_err(|fault| self.fault(fault))?;
        Ok(match progress.wrote(&answer.written()) {
            ControlFlow::Continue(()) => answer,
            ControlFlow::Break(()) => Answer { finish: Finish::Cut, ..answer },
        })
    }

    async fn next(
        &self,
        response: &mut Response,
        deadline: Instant,
    ) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + use<>>, LlmError> {
        let idle = deadline.min(Instant::now() + self.timeouts.idle);
        timeout_at(idle, response.chunk())
            .await
            .map_err(|_| self.timed_out("next byte", idle, deadline))?
            .map_err(|error| self.broken(&error))
    }

    async fn refusal(&self, mut response: Response, deadline: Instant) -> LlmError {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let mut body = Vec::new();
        // Why it was refused matters more than a body that cannot be read.
        while let Ok(Some(piece)) = self.next(&mut response, deadline).await {
            body.extend_from_slice(&piece);
            if body.len() > LARGEST_REFUSAL {
                break;
            }
        }
        let message = self.presentable(&refusal_message(&body));
        LlmError::Status { endpoint: self.endpoint.clone(), status, message, retry_after }
    }

    fn fault(&self, fault: Fault) -> LlmError {
        let endpoint = self.endpoint.clone();
        match fault {
            Fault::Malformed(reason) => {
                LlmError::Malformed { endpoint, reason: self.presentable(&reason) }
            }
            Fault::Failed { status, message } => {
                let message = self.presentable(&message);
                LlmError::Status { endpoint, status, message, retry_after: None }
            }
        }
    }

    fn cut_off(&self) -> LlmError {
        let reason = "the stream ended in the middle".to_owned();
        LlmError::Interrupted { endpoint: self.endpoint.clone(), reason }
    }

    fn too_large(&self) -> LlmError {
        LlmError::TooLarge { endpoint: self.endpoint.clone(), limit: self.largest }
    }

    fn timed_out(&self, what: &'static str, reached: Instant, deadline: Instant) -> LlmError {
        let endpoint = self.endpoint.clone();
        if reached >= deadline {
            let limit = self.timeouts.total;
            return LlmError::TimedOut { endpoint, what: "complete answer", limit };
        }
        let limit = match what {
            "answer" => self.timeouts.first_byte,
            _ => self.timeouts.idle,
        };
        LlmError::TimedOut { endpoint, what, limit }
    }

    fn broken(&self, error: &reqwest::Error) -> LlmError {
        let endpoint = self.endpoint.clone();
        let reason = self.presentable(&root_cause(error));
        if error.is_timeout() {
            LlmError::TimedOut { endpoint, what: "connection", limit: self.timeouts.connect }
        } else if error.is_connect() {
            LlmError::Unreachable { endpoint, reason }
        } else {
            LlmError::Interrupted { endpoint, reason }
        }
    }

    /// A server's words as one short line without the key.
    fn presentable(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        };
        let line = text.split(|c: char| c.is_whitespace() || c.is_control());
        let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        line.chars().take(300).collect()
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        self.wire.name()
    }

    fn endpoint(&self) -> &str {
        &self.endpoint
    }

    fn answer<'a>(&'a self, request: &'a Request, progress: &'a dyn Progress) -> Answering<'a> {
        Box::pin(self.call(request, progress))
    }
}

/// Milliseconds first, then seconds; a date is left to our own patience, because clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |value: Option<&HeaderValue>| -> Option<f64> {
        let number: f64 = value?.to_str().ok()?.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    if let Some(milliseconds) = number(headers.get("retry-after-ms")) {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    Duration::try_from_secs_f64(number(headers.get(RETRY_AFTER))?).ok()
}

/// What servers of all kinds say when they refuse, or the beginning of what they sent.
fn refusal_message(body: &[u8]) -> String {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let found = parsed.as_ref().and_then(|value| {
        ["/error/message", "/message", "/error", "/detail"]
            .into_iter()
            .find_map(|pointer| value.pointer(pointer).and_then(Value::as_str))
    });
    match found {
        Some(message) => message.to_owned(),
        None if body.is_empty() => "no reason given".to_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    }
}

pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The innermost error says what happened; the outer ones say that something did.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_are_read_in_both_units() {
        let of = |name: &'static str, value: &'static str| {
            retry_after(&HeaderMap::from_iter([(
                reqwest::header::HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )]))
        };
        assert_eq!(of("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(of("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(of("retry-after", "1e300"), None);
        assert_eq!(of("retry-after", "-1"), None);
        assert_eq!(of("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"), None);
    }

    #[test]
    fn refusals_of_all_kinds_give_their_reason() {
        assert_eq!(refusal_message(br#"{"error":{"message":"no"}}"#), "no");
        assert_eq!(refusal_message(br#"{"error":"no model"}"#), "no model");
        assert_eq!(refusal_message(b"<html>"), "<html>");
        assert_eq!(refusal_message(b""), "no reason given");
    }
}
