//! Requests with a limit on everything: time, size, attempts, and where a token may go.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use quorum_model::wording;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use crate::address::{authority, is_loopback, is_protected};
use crate::credential::Credential;
use crate::error::{ForgeError, Peer};
use crate::post::Rehearsed;
use crate::status::{Refusal, message, retry_after};

/// The most that a request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time for one attempt, from connecting to the last byte.
    pub(crate) timeout: Duration,
    /// Attempts when the host fails.
    pub(crate) attempts: u32,
    /// The pause after the first attempt; it doubles each time.
    pub(crate) backoff: Duration,
    /// The longest pause, whatever the host asks for.
    pub(crate) longest_pause: Duration,
    /// The longest wait before a text is sent again that the host refused as too many at once.
    pub(crate) longest_wait: Duration,
    /// Bytes of one answer, and of a diff that is made of several.
    pub(crate) body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(20),
            attempts: 3,
            backoff: Duration::from_millis(500),
            longest_pause: Duration::from_secs(5),
            longest_wait: Duration::from_mins(2),
            body: 64 * 1024 * 1024,
        }
    }
}

impl Limits {
    pub(crate) fn pause(self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        asked.unwrap_or(self.backoff.saturating_mul(doubled)).min(self.longest_pause)
    }
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) url: Url,
    pub(crate) accept: &'static str,
    /// What it is, for errors.
    pub(crate) subject: &'a str,
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Asks one host.
pub(crate) struct Http {
    runtime: Runtime,
    client: Client,
    base: Url,
    peer: Peer,
    credential: Option<Credential>,
    limits: Limits,
    /// What would have been sent, while nothing is.
    rehearsal: Mutex<Option<Vec<Rehearsed>>>,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("base", &self.base.as_str())
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

impl Http {
    /// Sets up a client; connects to nothing.
    pub(crate) fn new(
        base: Url,
        peer: Peer,
        credential: Option<Credential>,
        limits: Limits,
    ) -> Result<Self, ForgeError> {
        // Another part of the program may have chosen a provider before: then that one is used.
        drop(rustls::crypto::ring::default_provider().install_default());
        let authenticated = credential.is_some();
        let mut builder = Client::builder()
            .user_agent(concat!("quorum/", env!("CARGO_PKG_VERSION")))
            .timeout(limits.timeout)
            .referer(false)
            .redirect(Policy::custom(move |attempt| {
                if may_follow(attempt.previous(), attempt.url(), authenticated) {
                    attempt.follow()
                } else {
                    attempt.stop()
                }
            }));
        if let Some(credential) = &credential {
            let header = (credential.header.clone(), credential.value.clone());
            builder = builder.default_headers(HeaderMap::from_iter([header]));
        }
        if is_loopback(&base) {
            builder = builder.no_proxy();
        }
        let failed = |reason: String| ForgeError::Client { reason };
        let client = builder.build().map_err(|error| failed(root_cause(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let rehearsal = Mutex::default();
        Ok(Self { runtime, client, base, peer, credential, limits, rehearsal })
    }

    /// Who is asked.
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The address of a resource; each part is encoded.
    pub(crate) fn url(&self, parts: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        url
    }

    /// Asks, and waits for the whole answer.
    pub(crate) fn get(&self, request: &Request<'_>) -> Result<Answer, ForgeError> {
        self.runtime.block_on(self.attempts(request))
    }

    /// Sends JSON, once: what a host may have done must not be done twice. Only a refusal for
    /// too many requests is waited out, because then nothing was done.
    pub(crate) fn send(
        &self,
        method: &Method,
        request: &Request<'_>,
        body: &Value,
    ) -> Result<Answer, ForgeError> {
        if let Ok(mut rehearsal) = self.rehearsal.lock()
            && let Some(calls) = rehearsal.as_mut()
        {
            let url = request.url.to_string();
            calls.push(Rehearsed { method: method.to_string(), url, body: body.clone() });
            return Ok(Answer { headers: HeaderMap::new(), body: b"{}".to_vec() });
        }
        self.runtime.block_on(self.send_patiently(method, request, body))
    }

    /// Asks a question that has a body. It changes nothing, so a rehearsal asks it, too.
    pub(crate) fn query(&self, request: &Request<'_>, body: &Value) -> Result<Answer, ForgeError> {
        self.runtime.block_on(self.send_patiently(&Method::POST, request, body))
    }

    /// From here on nothing is sent but questions.
    pub(crate) fn rehearse(&self) {
        if let Ok(mut rehearsal) = self.rehearsal.lock() {
            rehearsal.get_or_insert_default();
        }
    }

    /// What was not sent.
    pub(crate) fn rehearsed(&self) -> Vec<Rehearsed> {
        let calls = self.rehearsal.lock().ok();
        calls.and_then(|calls| calls.clone()).unwrap_or_default()
    }

    async fn send_patiently(
        &self,
        method: &Method,
        request: &Request<'_>,
        body: &Value,
    ) -> Result<Answer, ForgeError> {
        let mut attempt = 1;
        loop {
            let sent = self.client.request(method.clone(), request.url.clone());
            let sent = sent.header(ACCEPT, request.accept).json(body).send();
            let response = sent.await.map_err(|error| self.broken(&error))?;
            let asked = retry_after(response.headers());
            let refused = matches!(response.status().as_u16(), 403 | 429);
            match asked.filter(|pause| refused && *pause <= self.limits.longest_wait) {
                Some(pause) if attempt < self.limits.attempts => sleep(pause).await,
                _ => return self.finish(response, request.subject, attempt).await,
            }
            attempt += 1;
        }
    }

    /// Asks for JSON.
    pub(crate) fn get_json<T: DeserializeOwned>(
        &self,
        request: &Request<'_>,
    ) -> Result<(T, HeaderMap), ForgeError> {
        let answer = self.get(request)?;
        let value = serde_json::from_slice(&answer.body).map_err(|error| {
            self.malformed(request.subject, &wording::plain(&error.to_string()))
        })?;
        Ok((value, answer.headers))
    }

    /// An answer that is not what it should be.
    pub(crate) fn malformed(&self, subject: &str, reason: &str) -> ForgeError {
        let reason = self.presentable(reason);
        ForgeError::Malformed { peer: self.peer.clone(), subject: subject.to_owned(), reason }
    }

    /// A list that goes on after the last page that is asked for.
    pub(crate) fn truncated(&self, subject: &str, listed: usize) -> ForgeError {
        ForgeError::Truncated { peer: self.peer.clone(), subject: subject.to_owned(), listed }
    }

    /// A refusal in the host's words.
    pub(crate) fn rejected(&self, subject: &str, status: u16, reason: &str) -> ForgeError {
        let (peer, reason) = (self.peer.clone(), self.presentable(reason));
        ForgeError::Rejected { peer, subject: subject.to_owned(), status, reason }
    }

    /// Checks that a host's commit name is one: it ends up in a command line.
    pub(crate) fn commit(&self, name: String, subject: &str) -> Result<String, ForgeError> {
        if matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(name);
        }
        Err(self.malformed(subject, &format!("`{name}` is no commit")))
    }

    /// Checks the size of what has been put together so far.
    pub(crate) fn check_size(&self, size: usize, subject: &str) -> Result<(), ForgeError> {
        if size <= self.limits.body {
            return Ok(());
        }
        let (peer, limit) = (self.peer.clone(), self.limits.body);
        Err(ForgeError::TooLarge { peer, subject: subject.to_owned(), limit })
    }

    async fn attempts(&self, request: &Request<'_>) -> Result<Answer, ForgeError> {
        let mut attempt = 1;
        loop {
            let sent = self.client.get(request.url.clone()).header(ACCEPT, request.accept).send();
            let response = sent.await.map_err(|error| self.broken(&error))?;
            if !response.status().is_server_error() || attempt >= self.limits.attempts {
                return self.finish(response, request.subject, attempt).await;
            }
            sleep(self.limits.pause(attempt, retry_after(response.headers()))).await;
            attempt += 1;
        }
    }

    async fn finish(
        &self,
        mut response: Response,
        subject: &str,
        attempts: u32,
    ) -> Result<Answer, ForgeError> {
        let status = response.status();
        let headers = std::mem::take(response.headers_mut());
        if status.is_success() {
            let body = self.read(response, subject).await?;
            return Ok(Answer { headers, body });
        }
        if status.is_redirection() {
            let to = self.presentable(&destination(response.url(), headers.get(LOCATION)));
            return Err(ForgeError::Redirected { peer: self.peer.clone(), to });
        }
        // Why it was refused matters more than a body that cannot be read.
        let body = self.read(response, subject).await.unwrap_or_default();
        let reason = self.presentable(&message(&body));
        let refusal = Refusal { status, headers: &headers, reason, attempts };
        Err(refusal.explain(self.peer.clone(), subject))
    }

    /// Reads an answer piece by piece, so that an endless one is cut.
    async fn read(&self, mut response: Response, subject: &str) -> Result<Vec<u8>, ForgeError> {
        let announced = response.content_length().unwrap_or(0);
        self.check_size(usize::try_from(announced).unwrap_or(usize::MAX), subject)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(&error))? {
            self.check_size(body.len().saturating_add(chunk.len()), subject)?;
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn broken(&self, error: &reqwest::Error) -> ForgeError {
        let peer = self.peer.clone();
        let reason = self.presentable(&root_cause(error));
        if error.is_timeout() {
            ForgeError::TimedOut { peer, limit: self.limits.timeout }
        } else if error.is_connect() {
            ForgeError::Unreachable { peer, reason }
        } else {
            ForgeError::Interrupted { peer, reason }
        }
    }

    /// A host's words as one short line without the token.
    fn presentable(&self, text: &str) -> String {
        let text = match &self.credential {
            Some(credential) => credential.redact(text),
            None => text.to_owned(),
        };
        let line = text.split(|c: char| c.is_whitespace() || c.is_control());
        let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        line.chars().take(200).collect()
    }
}

/// A token stays on the host that it was meant for, and nothing leaves encryption.
fn may_follow(previous: &[Url], next: &Url, authenticated: bool) -> bool {
    let same_host = previous.first().is_some_and(|first| first.origin() == next.origin());
    previous.len() <= 5 && is_protected(next) && (same_host || !authenticated)
}

fn destination(from: &Url, location: Option<&HeaderValue>) -> String {
    let location = location.and_then(|value| value.to_str().ok());
    let url = location.and_then(|location| from.join(location).ok());
    url.map_or_else(|| "nowhere".to_owned(), |url| authority(&url))
}

/// The innermost error says what happened; the outer ones say that something did.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
