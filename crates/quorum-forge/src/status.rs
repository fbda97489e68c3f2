//! What a refusal means.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;

use crate::error::{ForgeError, Peer, Reset};

/// An answer that is no success.
pub(crate) struct Refusal<'a> {
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    /// What the host says, fit to be shown.
    pub(crate) reason: String,
    /// How often it was asked.
    pub(crate) attempts: u32,
}

impl Refusal<'_> {
    /// The error that it stands for.
    pub(crate) fn explain(self, peer: Peer, subject: &str) -> ForgeError {
        let subject = subject.to_owned();
        let Self { status, headers, reason, attempts } = self;
        match status {
            StatusCode::UNAUTHORIZED => ForgeError::Unauthorized { peer },
            StatusCode::TOO_MANY_REQUESTS => {
                ForgeError::RateLimited { peer, reset: reset(headers) }
            }
            StatusCode::FORBIDDEN if is_rate_limit(headers) => {
                ForgeError::RateLimited { peer, reset: reset(headers) }
            }
            StatusCode::FORBIDDEN => ForgeError::Forbidden { peer, subject, reason },
            StatusCode::NOT_FOUND => ForgeError::NotFound { peer, subject },
            _ if status.is_server_error() => {
                ForgeError::Server { peer, status: status.as_u16(), attempts }
            }
            _ => ForgeError::Rejected { peer, subject, status: status.as_u16(), reason },
        }
    }
}

/// The wait that a host asks for, where it gives it in seconds.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    number(headers, RETRY_AFTER.as_str()).map(Duration::from_secs)
}

/// The message in the body of a refusal, empty where there is none.
pub(crate) fn message(body: &[u8]) -> String {
    #[derive(Default, Deserialize)]
    struct Refused {
        #[serde(default)]
        message: serde_json::Value,
        #[serde(default)]
        error: serde_json::Value,
    }
    let refused = serde_json::from_slice::<Refused>(body).unwrap_or_default();
    let text = refused.message.as_str().or(refused.error.as_str());
    text.unwrap_or_default().to_owned()
}

/// GitHub uses the same status for a used-up allowance, for requests that come too fast (then it
/// says how long to wait), and for lack of rights.
fn is_rate_limit(headers: &HeaderMap) -> bool {
    ["x-ratelimit-remaining", "ratelimit-remaining"]
        .iter()
        .any(|name| number(headers, name) == Some(0))
        || headers.contains_key(RETRY_AFTER)
}

fn reset(headers: &HeaderMap) -> Reset {
    let after = retry_after(headers).map(|wait| Reset::After(wait.as_secs()));
    let at = ["x-ratelimit-reset", "ratelimit-reset"]
        .iter()
        .find_map(|name| number(headers, name))
        .map(Reset::At);
    after.or(at).unwrap_or(Reset::Unknown)
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}
