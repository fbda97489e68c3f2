//! Over HTTP: who is let in, and that the same server answers.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const TOKEN: &str = "0123456789abcdef-token";

struct Listening {
    child: Child,
    address: String,
}

const ARGUMENTS: [&str; 5] = ["mcp", "--http", "127.0.0.1:0", "--token-file", "../token"];

fn write_token(sandbox: &Sandbox, mode: u32) {
    sandbox.write("../token", TOKEN);
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(sandbox.root().join("../token"), mode).expect("a mode");
}

impl Listening {
    fn start(sandbox: &Sandbox) -> Self {
        write_token(sandbox, 0o600);
        Self::of(sandbox.spawn_quorum(&ARGUMENTS))
    }

    /// With so many descriptors.
    #[expect(clippy::disallowed_methods, reason = "the binary under test")]
    fn start_with(sandbox: &Sandbox, descriptors: u32) -> Self {
        write_token(sandbox, 0o600);
        let mut command = Command::new("sh");
        let limited = format!("ulimit -n {descriptors} && exec \"$@\"");
        command.args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_quorum")]).args(ARGUMENTS);
        sandbox.surround(&mut command);
        Self::of(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    fn of(mut child: Child) -> Self {
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
        Self::of(Listening::start(sandbox))
    }

    fn of(server: Listening) -> Self {
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

#[test]
fn slow_clients_without_a_token_keep_nobody_out_and_are_cut() {
    let sandbox = Sandbox::new();
    let server = Listening::start_with(&sandbox, 128);
    let bearer = format!("Bearer {TOKEN}");
    let slow: Vec<TcpStream> = (0..200)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(&server.address).ok()?;
            write!(stream, "POST /mcp HTTP/1.1\r\nHost: {}\r\nX-Slow: ", server.address).ok()?;
            Some(stream)
        })
        .collect();
    let started = Instant::now();
    let (status, answer) = server.post(&[("Authorization", &bearer)], &initialize());
    assert_eq!(status, 200, "{answer}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    for mut stream in slow {
        let patience = Duration::from_secs(20).saturating_sub(started.elapsed());
        let patience = patience.max(Duration::from_millis(1));
        stream.set_read_timeout(Some(patience)).expect("a time limit");
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let waits = ended.is_err_and(|error| {
            matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        });
        assert!(!waits, "a client without a token is still connected after 20 s");
    }
}

#[test]
fn abandoned_sessions_are_bounded() {
    let sandbox = Sandbox::new();
    let server = Listening::start(&sandbox);
    let bearer = format!("Bearer {TOKEN}");
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
        line.split_whitespace().nth(1).and_then(|size| size.parse::<u64>().ok()).expect("a size")
    };
    let mut after_hundred = 0;
    for number in 0..1000 {
        assert_eq!(server.post(&[("Authorization", &bearer)], &initialize()).0, 200, "{number}");
        if number == 100 {
            after_hundred = memory();
        }
    }
    let grown = memory().saturating_sub(after_hundred);
    assert!(grown < 20_000, "900 abandoned sessions took {grown} KiB");
}

#[test]
fn a_session_that_nobody_uses_expires_and_one_in_use_does_not() {
    let sandbox = Sandbox::new();
    write_token(&sandbox, 0o600);
    let mut arguments = ARGUMENTS.to_vec();
    arguments.extend(["--idle", "2"]);
    let session = Session::of(Listening::of(sandbox.spawn_quorum(&arguments)));
    for _ in 0..8 {
        session.still_works();
        std::thread::sleep(Duration::from_millis(500));
    }
    let started = Instant::now();
    loop {
        // A client that waits, longer each time.
        std::thread::sleep(Duration::from_secs(4));
        let (status, answer) = session.call(7, "semantic_search", &json!({ "query": "one" }));
        if status == 404 {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{status}: {answer}");
    }
    let (status, _) = session.server.post(&[("Authorization", &session.bearer)], &initialize());
    assert_eq!(status, 200, "a new one begins");
}

#[test]
fn a_token_file_that_others_can_read_or_write_is_refused() {
    let sandbox = Sandbox::new();
    for mode in [0o644, 0o640, 0o620, 0o602, 0o666] {
        write_token(&sandbox, mode);
        let said = sandbox.fails(&ARGUMENTS);
        assert!(said.contains("others can read or write the token"), "{mode:o}: {said}");
        assert!(said.contains("chmod 600"), "{mode:o}: {said}");
    }
}
