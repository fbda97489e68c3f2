//! Running one command apart from the rest of the machine.
//!
//! What is under review runs here, so nothing of it is trusted. The command is started by a helper,
//! which is this same program under a hidden name: it enters namespaces of its own, gives up every
//! right that it can, starts the command, and watches it. Doing that in a process of its own, and
//! not between `fork` and `exec`, needs no `unsafe`.
//!
//! The helper speaks to us on its standard error, one message a line; the command's own output goes
//! to the helper's standard output. The command cannot reach the former.

mod capture;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use quorum_model::gate::Isolation;
use serde::{Deserialize, Serialize};

pub use capture::Captured;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;
pub use system::Family;

use crate::error::GateError;

/// The hidden name under which the program is its own helper.
pub const HELPER: &str = "__gate";

/// How long the helper may take to end what took too long, before it is ended itself.
const GRACE: Duration = Duration::from_secs(10);

/// One command, and all that it is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What a shell is given to run.
    pub command: String,
    /// Where.
    pub working_dir: PathBuf,
    /// The folder that holds everything it may write to.
    pub scratch: PathBuf,
    /// Files and folders that it may read and run.
    pub readable: Vec<PathBuf>,
    /// Folders below the scratch folder that it may write to.
    pub writable: Vec<PathBuf>,
    /// The folder that it sees as `/tmp`.
    pub tmp: PathBuf,
    /// An empty folder in which its view of the file system is put together.
    pub root: PathBuf,
    /// Whether it may reach the network.
    pub network: bool,
    /// Whether the user accepts that nothing keeps it from this user's files.
    pub unsandboxed: bool,
    /// After this many milliseconds it is ended.
    pub timeout_ms: u64,
    /// Bytes of memory, of all its processes together.
    pub memory: u64,
    /// How many processes and threads.
    pub processes: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes in the scratch folder.
    pub disk: u64,
}

/// What the helper says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// What keeps the command apart.
    Isolation(Isolation),
    /// It ended, by itself or by force.
    Ended(End),
    /// It could not be started.
    Broken(String),
    /// Nothing was started: this program gets no view of its own, and bubblewrap would.
    Wrap,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// With this exit code.
    Exited(i32),
    /// By this signal, as a shell would count it.
    Killed(i32),
    /// It took too long.
    TimedOut,
    /// It used more than it may, of this.
    OverLimit(String),
    /// The helper could not run it, or was lost with it.
    Lost(String),
    /// It was not started: nothing would have kept it from this user's files.
    Refused,
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it printed.
    pub output: Captured,
    /// How long it took.
    pub duration: Duration,
    /// What kept it apart from the machine.
    pub isolation: Isolation,
}

/// Runs `spec` with the variables in `environment` and no others.
pub fn run(
    helper: &Path,
    spec: &Spec,
    environment: &[(OsString, OsString)],
) -> Result<Ran, GateError> {
    let ran = attempt(helper, "enter", spec, environment)?;
    match ran {
        Some(ran) => Ok(ran),
        None => attempt(helper, "wrap", spec, environment)?.ok_or_else(|| {
            GateError::Helper(std::io::Error::other("bubblewrap gives no view of its own"))
        }),
    }
}

/// One way to run it; absent where another one is better.
fn attempt(
    helper: &Path,
    stage: &str,
    spec: &Spec,
    environment: &[(OsString, OsString)],
) -> Result<Option<Ran>, GateError> {
    let started = Instant::now();
    let mut child = start(helper, stage, spec, environment).map_err(GateError::Helper)?;
    let output = child.stdout.take().map(|stdout| thread::spawn(move || capture::read(stdout)));
    let messages = listen(&mut child);
    let deadline = started + Duration::from_millis(spec.timeout_ms) + GRACE;
    let mut isolation = Isolation::default();
    let end = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match messages.recv_timeout(left) {
            Ok(Message::Isolation(found)) => isolation = found,
            Ok(Message::Ended(end)) => break end,
            Ok(Message::Broken(why)) => break End::Lost(why),
            Ok(Message::Wrap) => {
                finish(&mut child);
                return Ok(None);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => break End::TimedOut,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                break End::Lost("the helper ended before the command did".to_owned());
            }
        }
    };
    // The helper ends by itself after its last word; one that does not is of no more use.
    finish(&mut child);
    let output = output.and_then(|reader| reader.join().ok()).unwrap_or_default();
    Ok(Some(Ran { end, output, duration: started.elapsed(), isolation }))
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts the helper")]
fn start(
    helper: &Path,
    stage: &str,
    spec: &Spec,
    environment: &[(OsString, OsString)],
) -> std::io::Result<Child> {
    let text = serde_json::to_string(spec)?;
    Command::new(helper)
        .args([HELPER, stage, &text])
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn listen(child: &mut Child) -> mpsc::Receiver<Message> {
    let (sender, receiver) = mpsc::channel();
    if let Some(stderr) = child.stderr.take() {
        thread::spawn(move || {
            // Nothing that the helper says is long; a flood would not be the helper's.
            let lines = BufReader::new(stderr.take(1 << 20)).lines();
            for line in lines.map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        });
    }
    receiver
}

fn finish(child: &mut Child) {
    let patience = Instant::now() + Duration::from_secs(2);
    while Instant::now() < patience && !matches!(child.try_wait(), Ok(Some(_))) {
        thread::sleep(Duration::from_millis(5));
    }
    // What has ended is not there to be killed, and that is all that can go wrong.
    drop(child.kill());
    drop(child.wait());
}

/// What the hidden command does: `arguments` follow [`HELPER`]. Returns the exit code.
pub fn helper(arguments: &[String]) -> u8 {
    let [stage, text, rest @ ..] = arguments else { return 2 };
    let Ok(spec) = serde_json::from_str::<Spec>(text) else { return 2 };
    match stage.as_str() {
        "enter" => system::enter(&spec, text),
        "wrap" => system::wrap(&spec, text),
        "init" => system::init(&spec, rest),
        _ => 2,
    }
}

/// Tells the one that started the helper.
#[expect(clippy::print_stderr, reason = "the helper's standard error is how it speaks")]
fn tell(message: &Message) {
    if let Ok(line) = serde_json::to_string(message) {
        eprintln!("{line}");
    }
}
