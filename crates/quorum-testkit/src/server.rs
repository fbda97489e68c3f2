//! The server itself: a thread for each connection, everything recorded.

use std::io::{self, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::answer::Turn;
use crate::http::{self, RawRequest};

/// The language of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Chat Completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

/// What is asked.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The requests that came before it.
    pub number: usize,
    /// Its language.
    pub protocol: Protocol,
    /// The request.
    pub body: &'a Value,
    /// Every text in it, system and conversation.
    pub text: &'a str,
}

/// What to answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A proper answer, streamed where it is asked for.
    Say(Turn),
    /// A proper answer in one piece, whatever is asked for.
    Whole(Turn),
    /// A refusal, perhaps with seconds to wait.
    Refuse(u16, Option<u64>),
    /// A stream that breaks off after the first part of an answer.
    Break(Turn),
    /// A byte at a time, with a pause between them, without an end.
    Drip(Duration),
    /// Nothing, until the other side gives up.
    Silence,
    /// So many bytes of an answer that has no end.
    Flood(usize),
    /// These bytes, as JSON that they are not.
    Garbage(String),
}

/// What was recorded of one request.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// When it came, from the start of the server.
    pub at: Duration,
    /// Its language.
    pub protocol: Protocol,
    /// Its headers, in lower case.
    pub headers: Vec<(String, String)>,
    /// The request.
    pub body: Value,
    /// Every text in it, system and conversation.
    pub text: String,
    /// Whether it got a proper answer.
    pub answered: bool,
}

type Policy = dyn Fn(&Asked<'_>) -> Reply + Send + Sync;

struct Shared {
    policy: Box<Policy>,
    latency: Duration,
    started: Instant,
    recorded: Mutex<Vec<Recorded>>,
    count: AtomicUsize,
    stopped: AtomicBool,
}

impl Shared {
    fn recorded(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Answers by `policy`, at once.
    pub fn start(policy: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        Self::with_latency(Duration::ZERO, policy)
    }

    /// Answers by `policy`, each time after `latency`.
    pub fn with_latency(
        latency: Duration,
        policy: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            policy: Box::new(policy),
            latency,
            started: Instant::now(),
            recorded: Mutex::default(),
            count: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stopped.load(Ordering::Relaxed) {
                    break;
                }
                let shared = accepting.clone();
                // A client that hangs up in the middle is what some of the tests are about.
                thread::spawn(move || drop(serve(&shared, stream)));
            }
        });
        Ok(Self { address, shared })
    }

    /// What `OPENAI_BASE_URL` is to be.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What `ANTHROPIC_BASE_URL` is to be.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order in which they came.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.shared.recorded().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // The thread that accepts looks up when somebody knocks.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let Some(request) = http::read(&mut reader)? else { return Ok(()) };
    let mut stream = reader.into_inner();
    let protocol =
        if request.path.contains("/messages") { Protocol::Anthropic } else { Protocol::OpenAi };
    let (reply, streamed) = record(shared, request, protocol);
    thread::sleep(shared.latency);
    write(&mut stream, &reply, protocol, streamed)?;
    stream.shutdown(Shutdown::Both)
}

fn record(shared: &Shared, request: RawRequest, protocol: Protocol) -> (Reply, bool) {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mut text = String::new();
    for part in ["system", "messages"] {
        collect(body.get(part).unwrap_or(&Value::Null), &mut text);
    }
    let number = shared.count.fetch_add(1, Ordering::SeqCst);
    let reply = (shared.policy)(&Asked { number, protocol, body: &body, text: &text });
    let streamed = body.get("stream").and_then(Value::as_bool).unwrap_or_default();
    let answered = matches!(reply, Reply::Say(_) | Reply::Whole(_));
    let at = shared.started.elapsed();
    let headers = request.headers;
    shared.recorded().push(Recorded { at, protocol, headers, body, text, answered });
    (reply, streamed)
}

/// Every string in a value that is content and not a name or a kind.
fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if !matches!(name.as_str(), "role" | "type" | "id" | "tool_call_id" | "name") {
                    collect(field, text);
                }
            }
        }
        _ => {}
    }
}

fn write(
    stream: &mut TcpStream,
    reply: &Reply,
    protocol: Protocol,
    streamed: bool,
) -> io::Result<()> {
    const EVENTS: &str = "text/event-stream";
    const JSON: &str = "application/json";
    match reply {
        Reply::Say(turn) if streamed => {
            http::head(stream, 200, EVENTS, &[])?;
            turn.events(protocol).iter().try_for_each(|event| stream.write_all(event.as_bytes()))
        }
        Reply::Say(turn) | Reply::Whole(turn) => {
            http::head(stream, 200, JSON, &[])?;
            stream.write_all(turn.whole(protocol).to_string().as_bytes())
        }
        Reply::Refuse(status, wait) => {
            let wait: Vec<_> = wait.iter().map(|s| ("retry-after", s.to_string())).collect();
            http::head(stream, *status, JSON, &wait)?;
            stream.write_all(br#"{"error":{"message":"scripted refusal"}}"#)
        }
        Reply::Break(turn) => {
            http::head(stream, 200, EVENTS, &[])?;
            let events = turn.events(protocol).concat();
            stream.write_all(&events.as_bytes()[..events.len() / 2])
        }
        Reply::Drip(pause) => {
            http::head(stream, 200, EVENTS, &[])?;
            loop {
                stream.write_all(b":")?;
                thread::sleep(*pause);
            }
        }
        Reply::Silence => loop {
            // A closed connection shows when something is peeked at.
            thread::sleep(Duration::from_millis(50));
            if stream.peek(&mut [0])? == 0 {
                return Ok(());
            }
        },
        Reply::Flood(bytes) => {
            http::head(stream, 200, JSON, &[])?;
            stream.write_all(br#"{"choices":[{"message":{"content":""#)?;
            let piece = vec![b'x'; 64 * 1024];
            (0..*bytes / piece.len()).try_for_each(|_| stream.write_all(&piece))
        }
        Reply::Garbage(text) => {
            http::head(stream, 200, JSON, &[])?;
            stream.write_all(text.as_bytes())
        }
    }
}
