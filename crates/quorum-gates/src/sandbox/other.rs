//! The helper where the kernel offers none of what Linux does: limits on time alone.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use quorum_model::gate::Isolation;

use super::{End, Message, Spec, tell};

/// Runs the command, with nothing between it and the machine, and says so.
#[expect(clippy::disallowed_methods, reason = "the one place that starts a check's command")]
pub(super) fn enter(spec: &Spec, _: &str) -> u8 {
    tell(&Message::Isolation(Isolation {
        holds: Vec::new(),
        missing: vec![
            "this system offers nothing to keep a check apart: it can read and write the files of \
             this user, reach the network, and leave processes behind"
                .to_owned(),
        ],
    }));
    if !spec.unsandboxed {
        tell(&Message::Ended(End::Refused));
        return 0;
    }
    let deadline = Instant::now() + Duration::from_millis(spec.timeout_ms);
    let shell = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
    let command = format!("{} 2>&1", spec.command);
    let started = Command::new(shell.0)
        .args([shell.1, &command])
        .current_dir(&spec.working_dir)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let end = match started {
        Err(error) => End::Lost(error.to_string()),
        Ok(mut child) => loop {
            match child.try_wait() {
                Ok(Some(status)) => break End::Exited(status.code().unwrap_or(-1)),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
                Ok(None) => {
                    drop(child.kill());
                    break End::TimedOut;
                }
                Err(error) => break End::Lost(error.to_string()),
            }
        },
    };
    tell(&Message::Ended(end));
    0
}

/// What this process starts; nothing here can tell it from what others start.
#[derive(Debug)]
pub struct Family;

impl Family {
    /// Does nothing.
    pub fn adopt() -> Self {
        Self
    }

    /// Does nothing.
    pub fn end(&self) {}
}

/// There is no bubblewrap.
pub(super) fn wrap(_: &Spec, _: &str) -> u8 {
    2
}

/// There is no second stage.
pub(super) fn init(_: &Spec, _: &[String]) -> u8 {
    2
}
