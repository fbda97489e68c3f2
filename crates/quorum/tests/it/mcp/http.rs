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

/// A client that has been let in.
struct Session {
    server: Listening,
    bearer: String,
    id: String,
}

impl Session {
    fn begin(sandbox: &Sandbox) -> Self {
        let server = Listening::start(sandbox);
        let bearer = format!("Bearer {TOKEN}");
        let (_, answer) = server.post(&[("Authorization", &bearer)], &initialize());
        let id = answer.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        let session = Self { server, bearer, id: id.expect("a session") };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.send(&ready).0, 202);
        session
    }

    fn send(&self, message: &Value) -> (u16, String) {
        let headers = [("Authorization", self.bearer.as_str()), ("Mcp-Session-Id", &self.id)];
        self.server.post(&headers, message)
    }

    fn call(&self, id: u64, tool: &str, arguments: &Value) -> (u16, String) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } }))
    }

    fn still_works(&self) {
        let (status, answer) = self.call(1_000, "semantic_search", &json!({ "query": "one" }));
        assert!(status == 200 && answer.contains("src/lib.rs"), "{answer}");
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
fn calls_that_no_friendly_client_makes_are_refused_and_the_server_goes_on() {
    let sandbox = Sandbox::new();
    let session = Session::begin(&sandbox);
    session.still_works();
    let (status, answer) = session.send(&json!("no request"));
    assert!((400..500).contains(&status), "{answer}");
    session.still_works();
    let refused = [
        ("no_such_tool", json!({}), "UNKNOWN_TOOL"),
        ("semantic_search", json!({ "query": 7 }), "INVALID_ARGUMENT"),
        ("repository_map", json!({ "project_path": "/" }), "OUTSIDE_ROOTS"),
        ("symbol", json!({ "file": "../../etc/passwd" }), "OUTSIDE_ROOTS"),
        ("memory_record", json!({ "title": "t", "content": "x".repeat(3 << 19) }), "TOO_LARGE"),
    ];
    for (id, (tool, arguments, code)) in (2..).zip(&refused) {
        let answer = session.call(id, tool, arguments).1;
        assert!(answer.contains(code), "{tool}: {answer}");
        session.still_works();
    }
}

#[test]
fn many_at_once_and_one_that_is_cancelled_are_answered_over_http() {
    let sandbox = Sandbox::new();
    for number in 0..150 {
        sandbox.write(&format!("src/m{number}.rs"), "pub fn f() -> u32 {\n    1\n}\n".repeat(40));
    }
    let session = &Session::begin(&sandbox);
    std::thread::scope(|scope| {
        let review = json!({ "scope": "uncommitted", "wait": 60 });
        let waiting = scope.spawn(move || session.call(500, "review", &review));
        let calls: Vec<_> = (2..18)
            .map(|id| scope.spawn(move || session.call(id, "repository_map", &json!({})).0))
            .collect();
        assert!(calls.into_iter().all(|call| call.join().expect("an answer") == 200));
        let stop = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 500, "reason": "enough" } });
        assert_eq!(session.send(&stop).0, 202);
        // Decided just before that or cancelled: its caller does not wait for ever.
        assert_eq!(waiting.join().expect("an answer").0, 200);
    });
    session.still_works();
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let sandbox = Sandbox::new();
    let said = sandbox.fails(&["mcp", "--http", "0.0.0.0:0"]);
    assert!(said.contains("other machines") && said.contains("127.0.0.1"), "{said}");
}
