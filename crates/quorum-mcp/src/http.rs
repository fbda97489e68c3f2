//! The same server over streamable HTTP: on this machine alone, for who has the token, and not for
//! pages in a browser.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::error::{Code, ToolError};
use crate::server::Server;

/// The largest request that is read, in bytes.
const LARGEST: usize = 2 << 20;

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// An address of this machine.
    pub address: SocketAddr,
    /// What every request must bring as a bearer token.
    pub token: String,
    /// Origins whose pages may send requests; none of a browser may where there are none.
    pub origins: Vec<String>,
}

struct Gate {
    token: blake3::Hash,
    origins: Vec<String>,
}

/// Serves until the process is interrupted; `ready` is told the address first.
pub async fn serve_http(
    server: Server,
    settings: HttpSettings,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ToolError> {
    let HttpSettings { address, token, origins } = settings;
    if !address.ip().is_loopback() {
        let text = format!("{address} can be reached from other machines");
        return Err(ToolError::new(Code::Unavailable, text)
            .with_hint("bind to 127.0.0.1 or [::1], and forward to it what is to reach it"));
    }
    let failed =
        |cause: std::io::Error| ToolError::new(Code::Failed, format!("{address}: {cause}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    ready(listener.local_addr().map_err(failed)?);
    let stop = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(origins.clone())
        .enforce_origin_validation()
        .with_max_request_body_bytes(LARGEST)
        .with_cancellation_token(stop.child_token());
    let service = StreamableHttpService::new(
        move || Ok(server.for_another_client()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let gate = Arc::new(Gate { token: blake3::hash(token.as_bytes()), origins });
    let router = Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(gate, guard));
    let interrupted = async move {
        // Where the signal cannot be had, the process ends by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        stop.cancel();
    };
    axum::serve(listener, router).with_graceful_shutdown(interrupted).await.map_err(failed)
}

/// Lets nobody in without the token, and no page of a browser at all.
async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    match check(&gate, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    }
}

fn check(gate: &Gate, headers: &HeaderMap) -> Result<(), StatusCode> {
    if let Some(origin) = headers.get(header::ORIGIN) {
        let known = |known: &String| origin.as_bytes() == known.as_bytes();
        if !gate.origins.iter().any(known) {
            return Err(StatusCode::FORBIDDEN);
        }
    }
    let given = headers.get(header::AUTHORIZATION).map(axum::http::HeaderValue::as_bytes);
    let given = given.and_then(|given| given.strip_prefix(b"Bearer ")).unwrap_or_default();
    // Hashes are compared in constant time.
    if blake3::hash(given) == gate.token { Ok(()) } else { Err(StatusCode::UNAUTHORIZED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(origin: Option<&str>, authorization: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        if let Some(authorization) = authorization {
            headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
        }
        headers
    }

    #[test]
    fn who_may_come_in() {
        let allowed = "http://localhost:5173".to_owned();
        let gate = Gate { token: blake3::hash(b"secret"), origins: vec![allowed] };
        let (unauthorized, forbidden) = (StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN);
        let cases = [
            (None, Some("Bearer secret"), Ok(())),
            (Some("http://localhost:5173"), Some("Bearer secret"), Ok(())),
            (None, None, Err(unauthorized)),
            (None, Some("Bearer wrong"), Err(unauthorized)),
            (None, Some("Bearer "), Err(unauthorized)),
            (None, Some("Basic secret"), Err(unauthorized)),
            (None, Some("secret"), Err(unauthorized)),
            (Some("https://evil.example"), Some("Bearer secret"), Err(forbidden)),
            (Some("null"), Some("Bearer secret"), Err(forbidden)),
            (Some("http://localhost:5173.evil"), Some("Bearer secret"), Err(forbidden)),
        ];
        for (origin, authorization, wanted) in cases {
            let got = check(&gate, &headers(origin, authorization));
            assert_eq!(got, wanted, "{origin:?} {authorization:?}");
        }
    }
}
