//! Failures: one line that says what is wrong, one that says what to do.

use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use quorum_advisories::AdvisoryError;
use quorum_config::ConfigError;
use quorum_consensus::ConsensusError;
use quorum_forge::ForgeError;
use quorum_plan::PlanError;
use quorum_scope::ScopeError;
use quorum_store::StoreError;

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

impl From<ScopeError> for Failure {
    fn from(error: ScopeError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}

impl From<quorum_rules::RuleError> for Failure {
    fn from(error: quorum_rules::RuleError) -> Self {
        Self::new(error.to_string()).with_hint(error.hint())
    }
}

impl From<quorum_dispatch::sops::CheckError> for Failure {
    fn from(error: quorum_dispatch::sops::CheckError) -> Self {
        Self::new(error.to_string()).with_hint(error.hint())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}

impl From<ConsensusError> for Failure {
    fn from(error: ConsensusError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}

impl From<ForgeError> for Failure {
    fn from(error: ForgeError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}

impl From<AdvisoryError> for Failure {
    fn from(error: AdvisoryError) -> Self {
        Self { message: error.to_string(), hint: error.hint(), quiet: false }
    }
}
