//! An endpoint that speaks the protocol of `/v1/embeddings`.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use super::Sending;
use crate::error::IndexError;

/// Time for one attempt.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Attempts when the endpoint fails or is busy.
const ATTEMPTS: u32 = 4;
/// The pause after the first attempt; it doubles each time.
const PAUSE: Duration = Duration::from_millis(500);
/// Bytes of one answer.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// The endpoint. A small runtime runs inside, so nothing here may be called from async code.
pub(super) struct Endpoint {
    runtime: Runtime,
    client: Client,
    url: Url,
    model: String,
    key: Option<String>,
    redact: fn(&str) -> String,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of it.
        f.debug_struct("Endpoint").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Endpoint {
    pub(super) fn new(base: &str, model: &str, sending: Sending<'_>) -> Result<Self, IndexError> {
        let failed = |message: String| IndexError::Embeddings(message);
        let base = base.trim_end_matches('/');
        let url = if base.ends_with("/embeddings") {
            base.to_owned()
        } else {
            format!("{base}/embeddings")
        };
        let url = Url::parse(&url).map_err(|error| failed(format!("`{url}`: {error}")))?;
        let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if url.scheme() != "https" && !loopback {
            return Err(failed(format!(
                "`{url}` would carry code and a key in the open; use https"
            )));
        }
        // Another part of the program may have installed one already.
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder().timeout(TIMEOUT).redirect(Policy::none()).build();
        let client = client.map_err(|error| failed(error.to_string()))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            runtime,
            client,
            url,
            model: model.to_owned(),
            key: sending.key.map(str::to_owned),
            redact: sending.redact,
        })
    }

    pub(super) fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, IndexError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let input: Vec<String> = texts.iter().map(|text| (self.redact)(text)).collect();
        let request = Request { model: &self.model, input: &input, encoding_format: "float" };
        let answer = self.runtime.block_on(self.ask(&request))?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for (place, found) in answer.data.into_iter().enumerate() {
            if let Some(slot) = vectors.get_mut(found.index.unwrap_or(place)) {
                *slot = found.embedding;
            }
        }
        let size = vectors.first().map_or(0, Vec::len);
        if size == 0 || vectors.iter().any(|vector| vector.len() != size) {
            let message = format!("{} did not answer with one vector for each text", self.url);
            return Err(IndexError::Embeddings(message));
        }
        Ok(vectors)
    }

    async fn ask(&self, request: &Request<'_>) -> Result<Answer, IndexError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.ask_once(request).await {
                Ok(answer) => return Ok(answer),
                Err((_, true)) if attempt < ATTEMPTS => {
                    tokio::time::sleep(PAUSE * 2_u32.pow(attempt - 1)).await;
                }
                Err((message, _)) => {
                    return Err(IndexError::Embeddings(format!("{}: {message}", self.url)));
                }
            }
        }
    }

    /// One attempt; an error says whether another may help.
    async fn ask_once(&self, request: &Request<'_>) -> Result<Answer, (String, bool)> {
        let mut ask = self.client.post(self.url.clone()).json(request);
        if let Some(key) = &self.key {
            ask = ask.bearer_auth(key);
        }
        let mut answer = ask.send().await.map_err(|error| (cause(&error), true))?;
        let status = answer.status();
        if !status.is_success() {
            let busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            return Err((format!("it answers {status}"), busy));
        }
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(|error| (cause(&error), true))? {
            body.extend_from_slice(&part);
            if body.len() > LARGEST_ANSWER {
                return Err(("its answer is too long".to_owned(), false));
            }
        }
        serde_json::from_slice(&body)
            .map_err(|error| (format!("its answer is not what was asked for: {error}"), false))
    }
}

/// What went wrong at the bottom; the message around it repeats the address.
fn cause(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
