//! An installed assistant as a provider: the request on its standard input, the answer on its output.

use std::fmt::Write as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::time::timeout;

use crate::error::LlmError;
use crate::message::{Answer, Finish, Message, Request};
use crate::provider::{Answering, Progress, Provider};
use crate::usage::Usage;

/// The most that is read of an answer.
const LARGEST_ANSWER: usize = 10 * 1024 * 1024;

/// The most that is read of what a program complains about.
const LARGEST_COMPLAINT: usize = 16 * 1024;

/// A program and its arguments. No shell reads them, unless the user names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTemplate {
    program: String,
    arguments: Vec<String>,
}

impl CommandTemplate {
    /// Splits `text` at spaces; quotes hold an argument together, a backslash takes the next
    /// character as it is.
    pub fn parse(text: &str) -> Result<Self, LlmError> {
        let invalid = |reason: &str| LlmError::Command {
            program: text.to_owned(),
            reason: reason.to_owned(),
            transient: false,
        };
        let mut words: Vec<String> = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match (quote, character) {
                (Some(open), close) if open == close => quote = None,
                (None, '"' | '\'') => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                (None | Some('"'), '\\') => {
                    let next = characters.next().ok_or_else(|| invalid("ends with a backslash"))?;
                    word.get_or_insert_default().push(next);
                }
                (None, space) if space.is_whitespace() => words.extend(word.take()),
                (_, character) => word.get_or_insert_default().push(character),
            }
        }
        if quote.is_some() {
            return Err(invalid("has a quote that is not closed"));
        }
        words.extend(word);
        if words.is_empty() {
            return Err(invalid("names no program"));
        }
        let program = words.remove(0);
        Ok(Self { program, arguments: words })
    }
}

/// Runs a program for every request.
#[derive(Debug)]
pub struct CommandProvider {
    template: CommandTemplate,
    limit: Duration,
}

impl CommandProvider {
    /// Runs `template`, each time for at most `limit`.
    pub fn new(template: CommandTemplate, limit: Duration) -> Self {
        Self { template, limit }
    }

    async fn call(&self, request: &Request, progress: &dyn Progress) -> Result<Answer, LlmError> {
        // An assistant reads files around it, and a repository under review may hold instructions.
        let folder = tempfile::tempdir().map_err(|error| self.failed(&error.to_string(), false))?;
        let child = start(&self.template, folder.path())
            .map_err(|error| self.failed(&format!("cannot be started: {error}"), false))?;
        let mut running = Running { child };
        let prompt = prompt(request);
        let talk = running.talk(&prompt);
        let (status, output, complaint) = timeout(self.limit, talk)
            .await
            .map_err(|_| LlmError::TimedOut {
                endpoint: self.endpoint().to_owned(),
                what: "complete answer",
                limit: self.limit,
            })?
            .map_err(|error| self.failed(&error.to_string(), true))?;
        if output.len() > LARGEST_ANSWER {
            let endpoint = self.endpoint().to_owned();
            return Err(LlmError::TooLarge { endpoint, limit: LARGEST_ANSWER });
        }
        if !status.success() {
            let line: String = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
            let line: String = line.chars().take(300).collect();
            return Err(self.failed(&format!("failed ({status}): {line}"), true));
        }
        let answer = read(&output);
        if progress.wrote(&answer.text).is_break() {
            return Ok(Answer { finish: Finish::Cut, ..answer });
        }
        Ok(answer)
    }

    fn failed(&self, reason: &str, transient: bool) -> LlmError {
        let (program, reason) = (self.template.program.clone(), reason.to_owned());
        LlmError::Command { program, reason, transient }
    }
}

impl Provider for CommandProvider {
    fn name(&self) -> &'static str {
        "command"
    }

    fn endpoint(&self) -> &str {
        &self.template.program
    }

    fn answer<'a>(&'a self, request: &'a Request, progress: &'a dyn Progress) -> Answering<'a> {
        Box::pin(self.call(request, progress))
    }
}

/// The one place here that starts programs.
fn start(template: &CommandTemplate, folder: &std::path::Path) -> std::io::Result<Child> {
    let mut command = tokio::process::Command::new(&template.program);
    command
        .args(&template.arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command.spawn()
}

/// A program that runs; when it is no longer wanted, it ends with everything that it started.
struct Running {
    child: Child,
}

impl Running {
    async fn talk(&mut self, prompt: &str) -> std::io::Result<(ExitStatus, String, String)> {
        let input = self.child.stdin.take();
        let output = self.child.stdout.take();
        let complaints = self.child.stderr.take();
        let write = async {
            if let Some(mut input) = input {
                // A program may answer without having read everything.
                drop(input.write_all(prompt.as_bytes()).await);
                drop(input.shutdown().await);
            }
        };
        let ((), output, complaints) = tokio::join!(
            write,
            read_some(output, LARGEST_ANSWER + 1),
            read_some(complaints, LARGEST_COMPLAINT)
        );
        let status = self.child.wait().await?;
        Ok((status, output?, complaints?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.child.id()
            && let Some(group) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended by itself in the meantime.
            _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Reads up to `most` bytes, and throws the rest away so that the writer does not wait for ever.
async fn read_some(stream: Option<impl AsyncRead + Unpin>, most: usize) -> std::io::Result<String> {
    let Some(mut stream) = stream else { return Ok(String::new()) };
    let mut kept = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    let mut size = 0_usize;
    loop {
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        size = size.saturating_add(read);
        let room = most.saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..read.min(room)]);
        if size > LARGEST_ANSWER.saturating_mul(2) {
            // Nobody waits for the end of this.
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
    }
}

/// The whole conversation as one text.
fn prompt(request: &Request) -> String {
    let mut prompt = String::new();
    for text in &request.system {
        prompt.push_str(&text.text);
        prompt.push_str("\n\n");
    }
    for message in &request.messages {
        match message {
            Message::User(blocks) => {
                for block in blocks {
                    prompt.push_str(&block.text);
                    prompt.push_str("\n\n");
                }
            }
            Message::Assistant { text, .. } => {
                // Writing to a string cannot fail.
                _ = write!(prompt, "You answered:\n{text}\n\n");
            }
            Message::Results(results) => {
                for result in results {
                    _ = write!(prompt, "Result of {}:\n{}\n\n", result.name, result.text);
                }
            }
        }
    }
    prompt
}

/// Some assistants wrap their answer in JSON with figures about it.
fn read(output: &str) -> Answer {
    let wrapped: Option<Value> = serde_json::from_str(output).ok();
    let text = wrapped.as_ref().and_then(|value| value.get("result")).and_then(Value::as_str);
    match (text, &wrapped) {
        (Some(text), Some(wrapped)) => {
            let figure = |name: &str| wrapped.get("usage")?.get(name)?.as_u64();
            let input = figure("input_tokens");
            let output = figure("output_tokens");
            let usage = Usage { input, output, ..Usage::default() };
            Answer { text: text.to_owned(), usage, ..Answer::default() }
        }
        _ => Answer { text: output.to_owned(), ..Answer::default() },
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::message::{Text, ToolChoice};
    use crate::provider::Silent;

    fn request() -> Request {
        Request {
            model: String::new(),
            system: vec![Text::new("You review.")],
            messages: vec![Message::user("$(touch oops) `x`; look")],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            schema: None,
            max_output: 9,
        }
    }

    async fn run(template: &str, seconds: u64) -> Result<Answer, LlmError> {
        let template = CommandTemplate::parse(template)?;
        let provider = CommandProvider::new(template, Duration::from_secs(seconds));
        provider.answer(&request(), &Silent).await
    }

    #[test]
    fn templates_are_split_as_a_shell_would_and_no_further() {
        let parsed = CommandTemplate::parse(r#"claude -p --x "a b" 'c $d' e\ f "" "#).unwrap();
        assert_eq!(parsed.program, "claude");
        assert_eq!(parsed.arguments, ["-p", "--x", "a b", "c $d", "e f", ""]);
        for bad in ["", "  ", "a 'b", "a\\"] {
            assert!(CommandTemplate::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn the_request_is_standard_input_and_no_shell_reads_it() {
        let answer = run("cat", 20).await.unwrap();
        assert_eq!(answer.text, "You review.\n\n$(touch oops) `x`; look\n\n");
    }

    #[tokio::test]
    async fn what_does_not_end_is_ended_with_all_that_it_started() {
        // The child of the child would go on for a minute and keep the pipe open. Its argument
        // tells it apart from everybody else's.
        let minute = format!("61.{}", std::process::id());
        let error = run(&format!("sh -c 'sleep {minute} & sleep {minute}'"), 1).await.unwrap_err();
        assert!(matches!(error, LlmError::TimedOut { .. }), "{error}");
        let alive = || {
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let lines = processes
                .map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
            let wanted = format!("sleep\0{minute}");
            lines.filter(|line| line.starts_with(wanted.as_bytes())).count()
        };
        // Killing takes the system a moment; a killed process has no command line any more.
        for _ in 0..100 {
            if alive() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{} processes go on", alive());
    }

    #[tokio::test]
    async fn failures_say_what_the_program_said() {
        let error = run("sh -c 'echo no key >&2; exit 3'", 20).await.unwrap_err();
        assert!(error.to_string().contains("exit status: 3): no key"), "{error}");
        let error = run("/no/such/program", 20).await.unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains("cannot be started"));
    }

    #[test]
    fn answers_may_come_wrapped() {
        let answer = read(r#"{"result":"{\"findings\":[]}","usage":{"output_tokens":5}}"#);
        assert_eq!((answer.text.as_str(), answer.usage.output), (r#"{"findings":[]}"#, Some(5)));
        assert_eq!(read("plain").text, "plain");
    }
}
