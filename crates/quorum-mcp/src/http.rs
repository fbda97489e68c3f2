//! The same server over streamable HTTP: on this machine alone, for who has the token, and not for
//! pages in a browser.

mod connections;
mod sessions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use connections::{Caller, Door};
use sessions::Sessions;

use crate::error::{Code, ToolError};
use crate::server::Server;

/// The largest request that is read, in bytes.
const LARGEST: usize = 2 << 20;

/// How long a connection may be without a token: for all of a first request's headers.
const HEADERS: Duration = Duration::from_secs(10);

/// How long a request's body may take to arrive.
const BODY: Duration = Duration::from_secs(30);

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// An address of this machine.
    pub address: SocketAddr,
    /// What every request must bring as a bearer token.
    pub token: String,
    /// Origins whose pages may send requests; none of a browser may where there are none.
    pub origins: Vec<String>,
    /// A session that nobody uses for so long is closed.
    pub idle: Duration,
}

struct Gate {
    token: blake3::Hash,
    origins: Vec<String>,
    sessions: Sessions,
    /// How long a body may take.
    body: Duration,
}

/// Serves until the process is interrupted; `ready` is told the address first.
pub async fn serve_http(
    server: Server,
    settings: HttpSettings,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ToolError> {
    let HttpSettings { address, token, origins, idle } = settings;
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
    let sessions = Sessions::new(idle);
    let service = StreamableHttpService::new(
        move || Ok(server.for_another_client()),
        Arc::clone(&sessions.manager),
        config,
    );
    let token = blake3::hash(token.as_bytes());
    let gate = Arc::new(Gate { token, origins, sessions, body: BODY });
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
    let service = router.into_make_service_with_connect_info::<Caller>();
    let serving = axum::serve(Door::new(listener, HEADERS), service);
    serving.with_graceful_shutdown(interrupted).await.map_err(failed)
}

/// Lets nobody in without the token, and no page of a browser at all.
async fn guard(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(status) = check(&gate, request.headers()) {
        // What follows on the connection is of no interest.
        return (status, [(header::CONNECTION, "close")]).into_response();
    }
    caller.let_in();
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(gate.body, to_bytes(body, LARGEST)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    match head.headers.get(SESSION).and_then(|id| id.to_str().ok()) {
        Some(id) => gate.sessions.touch(id),
        None if head.method == Method::POST => gate.sessions.make_room().await,
        None => {}
    }
    next.run(Request::from_parts(head, Body::from(body))).await
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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

    fn gate() -> Gate {
        let (token, sessions) = (blake3::hash(b"secret"), Sessions::new(BODY));
        Gate { token, origins: Vec::new(), sessions, body: Duration::from_millis(300) }
    }

    /// A server that only says that somebody came in, with little patience.
    async fn start() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .fallback(|| async { "in" })
            .layer(middleware::from_fn_with_state(Arc::new(gate()), guard));
        let service = router.into_make_service_with_connect_info::<Caller>();
        let door = Door::new(listener, Duration::from_millis(300));
        tokio::spawn(async move { axum::serve(door, service).await });
        address
    }

    /// Sends `text` and returns what comes until the connection is closed, within five seconds.
    async fn say(address: SocketAddr, text: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        let read = tokio::time::timeout(Duration::from_secs(5), read).await;
        // A connection that is reset is closed as well.
        drop(read.expect("the connection is closed"));
        String::from_utf8_lossy(&answer).into_owned()
    }

    const TOKEN: &str = "Authorization: Bearer secret\r\nHost: a\r\nConnection: close\r\n";

    #[tokio::test]
    async fn who_is_slow_is_cut() {
        let address = start().await;
        let fast = say(address, &format!("GET / HTTP/1.1\r\n{TOKEN}\r\n")).await;
        assert!(fast.starts_with("HTTP/1.1 200") && fast.ends_with("in"), "{fast}");
        for silent in ["", "GET / HTTP/1.1\r\nHost: a\r\n", "POST / HTTP/1.1\r\nX: "] {
            assert_eq!(say(address, silent).await, "", "{silent:?}");
        }
        let refused = say(address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
        // With the token, a body that does not come is not waited for either.
        let body = format!("POST / HTTP/1.1\r\n{TOKEN}Content-Length: 100\r\n\r\n{{");
        let late = say(address, &body).await;
        assert!(late.starts_with("HTTP/1.1 408"), "{late}");
    }

    #[tokio::test]
    async fn of_many_without_a_token_the_oldest_is_cut() {
        let address = start().await;
        let mut waiting = Vec::new();
        for _ in 0..connections::MOST * 3 {
            let stream = tokio::net::TcpStream::connect(address).await.unwrap();
            waiting.push(stream);
        }
        let fast = say(address, &format!("GET / HTTP/1.1\r\n{TOKEN}\r\n")).await;
        assert!(fast.starts_with("HTTP/1.1 200"), "{fast}");
        let mut first = waiting.remove(0);
        let mut answer = Vec::new();
        drop(first.read_to_end(&mut answer).await);
        assert_eq!(answer, b"");
    }

    #[test]
    fn who_may_come_in() {
        let allowed = "http://localhost:5173".to_owned();
        let gate = Gate { origins: vec![allowed], ..gate() };
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
