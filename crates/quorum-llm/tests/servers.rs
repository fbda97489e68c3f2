//! Providers against a real server on loopback, well-behaved and not.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quorum_llm::{
    Answer, Finish, LlmError, Message, Progress, Provider, Request, Silent, Text, Timeouts, Tool,
    ToolChoice, connect,
};
use quorum_testkit::{Asked, Reply, Server, Turn};
use serde_json::json;

fn request() -> Request {
    Request {
        model: "m".to_owned(),
        system: vec![Text::cached("You review.")],
        messages: vec![Message::user("look")],
        tools: vec![Tool {
            name: "done".to_owned(),
            description: "ends".to_owned(),
            parameters: json!({ "type": "object" }),
        }],
        tool_choice: ToolChoice::Auto,
        schema: None,
        max_output: 100,
    }
}

const PATIENCE: Timeouts = Timeouts {
    connect: Duration::from_secs(2),
    first_byte: Duration::from_millis(400),
    idle: Duration::from_millis(400),
    total: Duration::from_millis(900),
};

fn provider(server: &Server, name: &str, timeouts: Timeouts) -> Arc<dyn Provider> {
    connect(name, "m", timeouts, |variable| match variable {
        "OPENAI_BASE_URL" => Some(server.openai_url()),
        "ANTHROPIC_BASE_URL" => Some(server.anthropic_url()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => Some("sk-test-secret".to_owned()),
        _ => None,
    })
    .expect("it can be set up")
}

async fn answer(
    policy: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static,
) -> Result<Answer, LlmError> {
    let server = Server::start(policy).expect("it starts");
    provider(&server, "openai", PATIENCE).answer(&request(), &Silent).await
}

#[tokio::test]
async fn both_languages_streamed_and_whole() {
    let turn = Turn::text("höre: \"{}\"").call("done", &json!({ "a": 1 })).claiming(12, 3);
    for name in ["openai", "anthropic"] {
        for whole in [false, true] {
            let turn = turn.clone();
            let server = Server::start(move |_| {
                if whole { Reply::Whole(turn.clone()) } else { Reply::Say(turn.clone()) }
            })
            .expect("it starts");
            let provider = provider(&server, name, PATIENCE);
            let answer = provider.answer(&request(), &Silent).await.expect("it answers");
            assert_eq!(answer.text, "höre: \"{}\"", "{name}, whole: {whole}");
            assert_eq!(answer.calls[0].arguments, json!({ "a": 1 }));
            assert_eq!(answer.finish, Finish::ToolCalls);
            assert_eq!((answer.usage.input, answer.usage.output), (Some(12), Some(3)));
            let recorded = server.recorded();
            assert!(recorded[0].text.contains("You review.") && recorded[0].text.contains("look"));
        }
    }
}

#[tokio::test]
async fn nothing_hangs_and_every_cause_is_told() {
    let cases: [(Reply, &str); 6] = [
        (Reply::Refuse(500, None), "answered 500: scripted refusal"),
        (Reply::Break(Turn::text("a long answer that breaks off")), "broke off"),
        (Reply::Silence, "sent no answer within 0.4 s"),
        (Reply::Drip(Duration::from_millis(30)), "sent no complete answer within 0.9 s"),
        (Reply::Flood(11 * 1024 * 1024), "larger than 10485760 bytes"),
        (Reply::Garbage("<html>".to_owned()), "something that is no answer"),
    ];
    for (reply, cause) in cases {
        let started = Instant::now();
        let error = answer(move |_| reply.clone()).await.expect_err("it misbehaves");
        assert!(error.to_string().contains(cause), "{error}");
        assert!(error.is_transient(), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let server = Server::start(|_| Reply::Silence).expect("it starts");
    let provider = provider(&server, "openai", PATIENCE);
    let endpoint = provider.endpoint().to_owned();
    drop(server);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let error = provider.answer(&request(), &Silent).await.expect_err("nobody is there");
    assert!(error.to_string().contains(&endpoint), "{error}");
}

#[tokio::test]
async fn the_key_is_sent_and_never_shown() {
    let server = Server::start(|_| Reply::Garbage("x sk-test-secret".to_owned())).expect("starts");
    let provider = provider(&server, "openai", PATIENCE);
    let error = provider.answer(&request(), &Silent).await.expect_err("it misbehaves");
    assert!(!format!("{provider:?}{error:?}{error}").contains("sk-test"), "{error}");
    let headers = server.recorded().remove(0).headers;
    assert!(headers.contains(&("authorization".to_owned(), "Bearer sk-test-secret".to_owned())));
}

/// Stops a model after so many bytes.
struct StopAfter(AtomicUsize);

impl Progress for StopAfter {
    fn wrote(&self, text: &str) -> ControlFlow<()> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(text.len())
        });
        if left.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[tokio::test]
async fn a_model_that_writes_too_much_is_stopped_and_what_it_wrote_is_kept() {
    let server = Server::start(|_| Reply::Say(Turn::text("abcd".repeat(5_000)))).expect("starts");
    let provider = provider(&server, "openai", PATIENCE);
    let stop = StopAfter(AtomicUsize::new(4_000));
    let answer = provider.answer(&request(), &stop).await.expect("a part is an answer");
    assert_eq!(answer.finish, Finish::Cut);
    assert!(answer.text.starts_with("abcdabcd") && answer.text.len() < 20_000);
}
