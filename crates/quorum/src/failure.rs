//! Failures: one line that says what is wrong, one that says what to do.

use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use quorum_engine::EngineError;

/// Why a command could not do its work. Always exit code 2, never 0.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    quiet: bool,
}

/// The exit code of everything that is not a verdict.
const FAILED: u8 = 2;

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, quiet: false }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The reader of the output went away; there is nobody to tell.
    pub(crate) fn broken_pipe() -> Self {
        Self { message: String::new(), hint: None, quiet: true }
    }

    pub(crate) fn report(&self) -> ExitCode {
        if !self.quiet {
            let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
            let bold = Style::new().bold();
            let mut stderr = anstream::stderr().lock();
            // There is nowhere left to report that standard error is gone.
            drop(writeln!(stderr, "{red}error{red:#}: {}", self.message));
            if let Some(hint) = &self.hint {
                drop(writeln!(stderr, "{bold}hint{bold:#}: {hint}"));
            }
        }
        ExitCode::from(FAILED)
    }
}

impl<E: Into<EngineError>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}
