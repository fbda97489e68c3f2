//! The developer's command: the user's own, run as the user would.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::LoopOptions;
use crate::error::EngineError;
use crate::observer::{Observer, Progress};

/// Runs the command for a round; its exit code, or none where it took too long.
pub(super) fn work(
    options: &LoopOptions,
    root: &Path,
    prompt: &Path,
    round: u64,
    observer: &dyn Observer,
) -> Result<Option<i32>, EngineError> {
    let failed = |error: io::Error| {
        EngineError::failed(format!("`{}` cannot be run: {error}", options.develop))
            .with_hint("`--develop` takes a command as a shell reads it")
    };
    let input = File::open(prompt).map_err(failed)?;
    let family = quorum_gates::Family::adopt();
    let mut child = shell(&options.develop)
        .current_dir(root)
        .env("QUORUM_PROMPT", prompt)
        .env("QUORUM_ROUND", round.to_string())
        .stdin(input)
        // Standard output is for the result.
        .stdout(Stdio::from(io::stderr()))
        .spawn()
        .map_err(failed)?;
    let deadline = Instant::now() + Duration::from_secs(options.develop_seconds);
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status.code());
        }
        if Instant::now() >= deadline {
            let text = "the developer's command took too long and was ended";
            observer.observe(Progress::Notice(text));
            // It stays in the terminal's group, so that an interrupt reaches it; what it started is
            // found by parentage.
            family.end();
            // What has ended in the meantime is not there to be killed.
            drop(child.kill());
            drop(child.wait());
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts the developer's command")]
fn shell(line: &str) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let mut command = Command::new(program);
    command.args([flag, line]);
    command
}
