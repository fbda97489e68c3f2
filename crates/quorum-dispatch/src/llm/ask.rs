//! One call: looked up in what is recorded, else held against the ceilings, made, and recorded.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use quorum_llm::{
    Admission, Answer, Believed, Counted, Exchange, Finish, LlmError, Progress, Refused, Request,
};
use quorum_model::outcome::Usage;
use quorum_model::report::CutoffReason;
use tokio::time::sleep_until;

use super::desk::{Desk, Recording};
use super::ledger::{Ledger, Reached};
use super::line::Line;
use super::tally::Tally;
use super::{prompt::Style, scrub};

/// A call that was answered.
pub(crate) struct Asked {
    pub(crate) answer: Answer,
    pub(crate) believed: Believed,
    pub(crate) counted_input: u64,
    /// What the model wrote, in tokens, as far as it was let.
    pub(crate) written: u64,
    /// What was set aside of the branch's budget for it.
    pub(crate) reserved: u64,
    /// That the server has read less than it was sent, where its figures say so.
    pub(crate) prompt_cut: Option<String>,
}

/// Why a call was not answered.
pub(crate) enum Stopped {
    /// The server does not know this way of answering.
    Unsupported,
    By(CutoffReason, String),
}

/// Asks `request`, of which `pending` tokens are new to the branch.
pub(crate) async fn ask(
    line: &mut Line<'_>,
    mut request: Request,
    pending: u64,
    tally: &mut Tally,
) -> Result<Asked, Stopped> {
    let worker = line.worker;
    let desk = worker.desk;
    let agent = &worker.agent.name;
    if let Some((_, model)) = worker.engine.client.as_ref().and_then(|client| client.first()) {
        request.model = model.to_owned();
    } else if let Some(model) = &worker.planned.model {
        request.model.clone_from(model);
    }
    // Whatever stands in it (orders, titles, names of files), no secret leaves the machine.
    request
        .clean(|text| desk.library.clean(text))
        .map_err(|cause| Stopped::By(CutoffReason::Error, cause))?;
    let counted_input = request.texts().iter().map(|text| desk.count(text)).sum();
    let key = line.key(&request);
    let recording = match desk.review.journal.recall(agent, &key) {
        Some(recording) => recording,
        None => make(line, &request, pending, counted_input, tally).await?,
    };
    let answer = recording.answer.clone();
    let counted = Counted {
        input: counted_input,
        output: desk.count(&answer.written()),
        max_output: request.max_output,
    };
    let believed = answer.usage.believed(counted);
    // What a server sent past the end of the budget was not taken.
    let cut = answer.finish == Finish::Cut;
    let written = if cut { counted.output } else { believed.output };
    if let Some(doubt) = &believed.doubt {
        tally.note(doubt.clone());
    }
    let usd = worker.engine.prices.map_or(0.0, |prices| prices.of(&believed));
    let tokens = believed.input.saturating_add(believed.output).saturating_add(recording.wasted);
    tally.tokens = tally.tokens.saturating_add(tokens);
    tally.usd += usd;
    tally.calls += recording.attempts;
    let mut reserved = 0;
    if let Some((held, set_aside)) = line.take_held() {
        reserved = set_aside;
        desk.ledger.settle(held, tokens, usd);
        // On disk before anything is concluded from it: it is never paid for again.
        let usage = Usage {
            budget: desk.branches.account(line.branch).budget,
            budget_used: pending.saturating_add(believed.output),
            tokens,
            usd,
            calls: recording.attempts,
        };
        let recorded = desk.review.journal.settled(agent, &key, usage, &recording);
        recorded.map_err(|cause| Stopped::By(CutoffReason::Error, cause))?;
    } else {
        desk.ledger.recall(recording.attempts, tokens, usd);
    }
    let prompt_cut = prompt_cut(answer.usage.input, counted_input);
    Ok(Asked { answer, believed, counted_input, written, reserved, prompt_cut })
}

/// That a server has not read all of a prompt, which some cut to their window without a word. No
/// tokenizer makes so much less of the same text.
fn prompt_cut(said: Option<u64>, counted: u64) -> Option<String> {
    const SHARE: u64 = 75;
    const FRAMING: u64 = 256;
    let said = said.filter(|said| *said > 0)?;
    (said.saturating_add(FRAMING).saturating_mul(100) < counted.saturating_mul(SHARE)).then(|| {
        format!(
            "the server read {said} of some {counted} tokens: it cut the prompt. Give it a larger \
             window (Ollama: OLLAMA_CONTEXT_LENGTH)"
        )
    })
}

/// Makes the call.
async fn make(
    line: &mut Line<'_>,
    request: &Request,
    pending: u64,
    counted_input: u64,
    tally: &mut Tally,
) -> Result<Recording, Stopped> {
    let worker = line.worker;
    let desk = worker.desk;
    let Some(client) = &worker.engine.client else {
        return Err(Stopped::By(CutoffReason::Error, LlmError::NotRecorded.to_string()));
    };
    let held = desk
        .ledger
        .hold(counted_input, request.max_output, worker.engine.prices)
        .map_err(|Reached(cause)| Stopped::By(CutoffReason::Ceiling, cause))?;
    let account = desk.branches.account(line.branch);
    let left = account.budget.saturating_sub(account.used).saturating_sub(account.reserved);
    let reserved = pending.saturating_add(request.max_output).min(left);
    desk.branches
        .reserve(line.branch, reserved)
        .map_err(|error| Stopped::By(CutoffReason::Budget, error.to_string()))?;
    let gate = Gate {
        ledger: desk.ledger,
        counted_input,
        attempts: AtomicU64::new(0),
        wasted: AtomicU64::new(0),
        reached: AtomicBool::new(false),
    };
    // By its own count a model may write a little more than by ours, but never past the budget.
    let within = left.saturating_sub(pending);
    let most = request.max_output.saturating_mul(5) / 4 + 64;
    let most = most.min(within);
    let watch = Watch { desk, written: AtomicU64::new(0), most };
    let seed = seed(&line.label);
    let asked = tokio::select! {
        asked = client.ask(request, seed, &watch, &gate) => asked,
        () = desk.cancel.wanted() => {
            give_back(line, held, reserved, tally, &gate);
            return Err(Stopped::By(CutoffReason::Interrupt, "it was interrupted".to_owned()));
        }
        () = sleep_until(desk.ledger.deadline()) => {
            give_back(line, held, reserved, tally, &gate);
            let cause = "the run has no time left".to_owned();
            return Err(Stopped::By(CutoffReason::Timeout, cause));
        }
    };
    let exchange = match asked {
        Ok(exchange) => exchange,
        Err(error) => {
            give_back(line, held, reserved, tally, &gate);
            return Err(stopped(&error, &gate, line.style));
        }
    };
    for failure in &exchange.failures {
        tally.note(format!("a call was made again: {failure}"));
    }
    line.hold(held, reserved);
    let Exchange { mut answer, provider, model, .. } = exchange;
    if answer.finish == Finish::Cut {
        cut_at(&mut answer, most, &|text| desk.count(text));
    }
    let answer = scrub::answer(desk.library, answer)
        .map_err(|cause| Stopped::By(CutoffReason::Error, cause))?;
    Ok(Recording {
        request: request.clone(),
        answer,
        provider,
        model,
        attempts: gate.attempts.load(Ordering::Relaxed),
        wasted: gate.wasted.load(Ordering::Relaxed),
    })
}

fn stopped(error: &LlmError, gate: &Gate<'_>, style: Style) -> Stopped {
    if is_unsupported(error, style) {
        return Stopped::Unsupported;
    }
    let reached = gate.reached.load(Ordering::Relaxed);
    let reason = match error {
        LlmError::NotAdmitted(_) if reached => CutoffReason::Ceiling,
        LlmError::WaitTooLong { .. } => CutoffReason::Timeout,
        _ => CutoffReason::Error,
    };
    Stopped::By(reason, error.to_string())
}

/// Whether an error says that the server does not know what the request asks for.
fn is_unsupported(error: &LlmError, style: Style) -> bool {
    style != Style::Plain
        && matches!(error, LlmError::Status { status: 400 | 404 | 422 | 501, message, .. } if {
            let message = message.to_lowercase();
            ["tool", "function", "response_format", "json_schema", "schema", "grammar", "unsupported", "not supported"]
                .iter().any(|word| message.contains(word))
        })
}

/// A call that was not answered costs what its attempts cost.
fn give_back(
    line: &Line<'_>,
    held: super::ledger::Held,
    reserved: u64,
    tally: &mut Tally,
    gate: &Gate<'_>,
) {
    let desk = line.worker.desk;
    let wasted = gate.wasted.load(Ordering::Relaxed);
    desk.ledger.settle(held, wasted, 0.0);
    desk.branches.settle(line.branch, reserved, 0);
    tally.tokens = tally.tokens.saturating_add(wasted);
    tally.calls += gate.attempts.load(Ordering::Relaxed);
}

/// Cuts an answer off where it has `most` tokens: a stream ends with a piece, a budget anywhere.
fn cut_at(answer: &mut Answer, most: u64, count: &dyn Fn(&str) -> u64) {
    while !answer.calls.is_empty() && count(&answer.written()) > most {
        answer.calls.pop();
    }
    if count(&answer.text) <= most {
        return;
    }
    let ends: Vec<usize> = answer.text.char_indices().map(|(at, _)| at).collect();
    let fits = ends.partition_point(|end| count(&answer.text[..*end]) <= most);
    answer.text.truncate(fits.checked_sub(1).map_or(0, |last| ends[last]));
}

/// What makes one caller's waits its own.
fn seed(label: &str) -> u64 {
    let digest = blake3::hash(label.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

/// Counts attempts against the ceilings.
struct Gate<'a> {
    ledger: &'a Ledger,
    counted_input: u64,
    attempts: AtomicU64,
    wasted: AtomicU64,
    reached: AtomicBool,
}

impl Admission for Gate<'_> {
    fn admit(&self) -> Result<(), Refused> {
        self.ledger.attempt().map_err(|Reached(cause)| {
            self.reached.store(true, Ordering::Relaxed);
            Refused(cause)
        })?;
        self.attempts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn failed(&self, error: &LlmError) {
        // A server that began to answer has read the request, and may want to be paid for it.
        let read = matches!(
            error,
            LlmError::Interrupted { .. } | LlmError::TooLarge { .. } | LlmError::TimedOut { .. }
        );
        if read {
            self.wasted.fetch_add(self.counted_input, Ordering::Relaxed);
        }
    }

    fn time_left(&self) -> Option<Duration> {
        Some(self.ledger.time_left())
    }
}

/// Stops a model that writes more than it may.
struct Watch<'a> {
    desk: &'a Desk<'a>,
    written: AtomicU64,
    most: u64,
}

impl Progress for Watch<'_> {
    fn wrote(&self, text: &str) -> ControlFlow<()> {
        // Long pieces are not counted exactly: they are too long in any case.
        let tokens =
            if text.len() > 65_536 { text.len() as u64 / 8 } else { self.desk.count(text) };
        let written = self.written.fetch_add(tokens, Ordering::Relaxed) + tokens;
        if written >= self.most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn restarted(&self) {
        self.written.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_to_the_token() {
        let count = |text: &str| text.split_whitespace().count() as u64;
        let mut answer = Answer { text: "één two three four ".repeat(100), ..Answer::default() };
        cut_at(&mut answer, 7, &count);
        assert_eq!(count(&answer.text), 7, "{}", answer.text);
        cut_at(&mut answer, 0, &count);
        assert_eq!(count(&answer.text), 0);
    }

    #[test]
    fn a_server_that_read_less_than_it_was_sent_is_found_out() {
        assert!(prompt_cut(Some(4_096), 9_000).is_some_and(|cause| cause.contains("4096 of")));
        assert!(prompt_cut(Some(4_096), 6_000).is_some());
        assert_eq!(prompt_cut(Some(7_000), 9_000), None, "another tokenizer");
        assert_eq!(prompt_cut(Some(9_500), 9_000), None);
        assert_eq!(prompt_cut(Some(0), 9_000), None, "it does not say");
        assert_eq!(prompt_cut(None, 9_000), None);
        assert_eq!(prompt_cut(Some(10), 200), None, "too little to judge by");
    }
}
