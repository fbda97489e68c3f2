//! Over HTTP: who is let in, and that the same server answers.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const TOKEN: &str = "0123456789abcdef-token";

struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(sandbox: &Sandbox) -> Self {
        sandbox.write("../token", TOKEN);
        let arguments = ["mcp", "--http", "127.0.0.1:0", "--token-file", "../token"];
        let mut child = sandbox.spawn_quorum(&arguments);
        let mut lines = BufReader::new(child.stderr.take().expect("its notices")).lines();
        let said = lines.next().expect("a notice").expect("text");
        let address = said.split("http://").nth(1).and_then(|rest| rest.strip_suffix("/mcp"));
        Self { address: address.expect("an address").to_owned(), child }
    }

    /// Sends one request and returns its status and body.
    fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let body = body.to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            _ = write!(request, "{name}: {value}\r\n");
        }
        if !headers.iter().any(|(name, _)| *name == "Host") {
            _ = write!(request, "Host: {}\r\n", self.address);
        }
        write!(stream, "{request}\r\n{body}").expect("it reads");
        let mut answer = String::new();
        // A connection that is closed early has said what it had to say.
        drop(stream.read_to_string(&mut answer));
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } })
}

#[test]
fn nobody_comes_in_without_the_token_or_from_a_page() {
    let sandbox = Sandbox::new();
    let server = Listening::start(&sandbox);
    let bearer = format!("Bearer {TOKEN}");
    let cases: [(&[(&str, &str)], u16); 7] = [
        (&[("Authorization", &bearer)], 200),
        (&[], 401),
        (&[("Authorization", "Bearer wrong")], 401),
        (&[("Authorization", &bearer), ("Origin", "https://evil.example")], 403),
        (&[("Authorization", &bearer), ("Origin", "null")], 403),
        (&[("Authorization", &bearer), ("Origin", "http://localhost:3000")], 403),
        (&[("Authorization", &bearer), ("Host", "evil.example")], 403),
    ];
    for (headers, wanted) in cases {
        let (status, answer) = server.post(headers, &initialize());
        assert_eq!(status, wanted, "{headers:?}: {answer}");
    }
    let huge =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": { "x": "y".repeat(3 << 20) } });
    let (status, _) = server.post(&[("Authorization", &bearer)], &huge);
    assert!(status == 413 || status == 0, "{status}");
    assert_eq!(server.post(&[("Authorization", &bearer)], &initialize()).0, 200);
}

#[test]
fn a_session_over_http_calls_tools() {
    let sandbox = Sandbox::new();
    let server = Listening::start(&sandbox);
    let bearer = format!("Bearer {TOKEN}");
    let (_, answer) = server.post(&[("Authorization", &bearer)], &initialize());
    let session = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
    });
    let session = session.expect("a session");
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", &session)];
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.post(&headers, &ready).0, 202);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "semantic_search", "arguments": { "query": "one" } } });
    let (status, answer) = server.post(&headers, &call);
    assert!(status == 200 && answer.contains("src/lib.rs"), "{answer}");
    let outside = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "repository_map", "arguments": { "project_path": "/" } } });
    assert!(server.post(&headers, &outside).1.contains("OUTSIDE_ROOTS"));
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let sandbox = Sandbox::new();
    let said = sandbox.fails(&["mcp", "--http", "0.0.0.0:0"]);
    assert!(said.contains("other machines") && said.contains("127.0.0.1"), "{said}");
}
