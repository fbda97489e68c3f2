use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::message::{Message, Text, ToolChoice};
use crate::provider::{Answering, Provider, Silent};

/// Answers what it was told to, then always the last.
#[derive(Debug)]
struct Scripted {
    name: &'static str,
    answers: Mutex<VecDeque<Result<Answer, LlmError>>>,
    calls: AtomicU32,
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn endpoint(&self) -> &str {
        self.name
    }

    fn answer<'a>(&'a self, request: &'a Request, _progress: &'a dyn Progress) -> Answering<'a> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let mut answers = self.answers.lock().unwrap();
            let next =
                if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
            next.unwrap().map(|answer| Answer { model: Some(request.model.clone()), ..answer })
        })
    }
}

fn status(status: u16, retry_after: Option<u64>) -> Result<Answer, LlmError> {
    Err(LlmError::Status {
        endpoint: "e".to_owned(),
        status,
        message: "no".to_owned(),
        retry_after: retry_after.map(Duration::from_secs),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "it stands among answers that are errors")]
fn good() -> Result<Answer, LlmError> {
    Ok(Answer { text: "good".to_owned(), ..Answer::default() })
}

fn scripted(
    name: &'static str,
    answers: impl IntoIterator<Item = Result<Answer, LlmError>>,
) -> (Arc<Scripted>, Arc<Endpoint>) {
    let answers = Mutex::new(answers.into_iter().collect());
    let provider = Arc::new(Scripted { name, answers, calls: AtomicU32::new(0) });
    (provider.clone(), Arc::new(Endpoint::new(provider, 8)))
}

fn request() -> Request {
    Request {
        model: String::new(),
        system: vec![Text::new("be")],
        messages: vec![Message::user("look")],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        schema: None,
        max_output: 9,
    }
}

fn client(endpoint: Arc<Endpoint>) -> Client {
    Client::new(vec![(endpoint, "m".to_owned())], ClientSettings::default())
}

async fn ask(client: &Client) -> Result<Exchange, LlmError> {
    client.ask(&request(), 7, &Silent, &Unlimited).await
}

#[tokio::test(start_paused = true)]
async fn it_waits_as_long_as_the_server_asks() {
    let (provider, endpoint) = scripted("a", [status(429, Some(17)), good()]);
    let start = Instant::now();
    let exchange = ask(&client(endpoint)).await.unwrap();
    assert_eq!(exchange.answer.text, "good");
    assert_eq!(start.elapsed().as_secs(), 17);
    assert_eq!(provider.calls.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn one_asks_for_quiet_and_all_are_quiet() {
    let (provider, endpoint) = scripted("a", [status(429, Some(10)), good()]);
    let first = client(endpoint.clone());
    let second = client(endpoint);
    let start = Instant::now();
    let later = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        ask(&second).await
    };
    let (one, two) = tokio::join!(ask(&first), later);
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(provider.calls.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_always_fails_gets_a_bounded_number_of_calls() {
    let (provider, endpoint) = scripted("a", [status(500, None)]);
    let clients: Vec<Client> = (0..6).map(|_| client(endpoint.clone())).collect();
    let mut asked = tokio::task::JoinSet::new();
    for client in clients {
        asked.spawn(async move { ask(&client).await });
    }
    while let Some(answer) = asked.join_next().await {
        let error = answer.unwrap().unwrap_err();
        assert!(error.to_string().contains("500: no"), "{error}");
    }
    assert!(provider.calls.load(Ordering::Relaxed) <= 14, "{:?}", provider.calls);
}

#[tokio::test(start_paused = true)]
async fn what_fails_for_good_is_not_tried_again_but_elsewhere() {
    let (bad, first) = scripted("a", [status(401, None)]);
    let (_, second) = scripted("b", [good()]);
    let chain = vec![(first, "m".to_owned()), (second, "n".to_owned())];
    let exchange = ask(&Client::new(chain, ClientSettings::default())).await.unwrap();
    assert_eq!((exchange.provider.as_str(), exchange.model.as_str()), ("b", "n"));
    assert_eq!(exchange.answer.model.as_deref(), Some("n"));
    assert_eq!(exchange.failures, ["e answered 401: no"]);
    assert_eq!(bad.calls.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn most_faults_are_outlived() {
    let faults = [status(500, None), status(503, None), status(529, None), status(408, None)];
    let (provider, endpoint) = scripted("a", faults.into_iter().chain([good()]));
    assert!(ask(&client(endpoint)).await.is_ok());
    assert_eq!(provider.calls.load(Ordering::Relaxed), 5);
}

struct Limits(Duration, AtomicU32);

impl Admission for Limits {
    fn admit(&self) -> Result<(), Refused> {
        match self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
        {
            Ok(_) => Ok(()),
            Err(_) => Err(Refused("the plan allows no more calls".to_owned())),
        }
    }

    fn time_left(&self) -> Option<Duration> {
        Some(self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn no_patience_goes_beyond_the_run() {
    let (_, endpoint) = scripted("a", [status(429, Some(3600)), good()]);
    let limits = Limits(Duration::from_mins(1), AtomicU32::new(9));
    let error = client(endpoint).ask(&request(), 7, &Silent, &limits).await.unwrap_err();
    assert!(error.to_string().contains("asks to wait 3600 s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_runs_limits_stop_attempts_and_the_cause_is_kept() {
    let (provider, endpoint) = scripted("a", [status(500, None)]);
    let limits = Limits(Duration::from_mins(10), AtomicU32::new(2));
    let error = client(endpoint).ask(&request(), 7, &Silent, &limits).await.unwrap_err();
    assert_eq!(provider.calls.load(Ordering::Relaxed), 2);
    let text = error.to_string();
    assert!(text.contains("500: no") && text.ends_with("allows no more calls"), "{text}");
}

#[test]
fn silence_lets_a_model_write() {
    assert_eq!(Silent.wrote("x"), ControlFlow::Continue(()));
}
