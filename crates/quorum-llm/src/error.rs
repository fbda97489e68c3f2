//! What can go wrong between us and a model.

use std::time::Duration;

/// What went wrong between us and a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// A provider needs a key and none is set.
    #[error("{provider} needs a key")]
    NoKey {
        /// The provider.
        provider: String,
        /// The variables that it is looked for in.
        variables: Vec<&'static str>,
    },
    /// A variable holds something that is no key.
    #[error("the key in {variable} holds characters that cannot be sent")]
    InvalidKey {
        /// The variable.
        variable: String,
    },
    /// The address of a server makes no sense.
    #[error("`{address}` is no address of a server: {reason}")]
    InvalidAddress {
        /// What was given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The connection could not be set up at all.
    #[error("no client for {endpoint}: {reason}")]
    Setup {
        /// The server.
        endpoint: String,
        /// Why.
        reason: String,
    },
    /// Nobody answers there.
    #[error("{endpoint} cannot be reached: {reason}")]
    Unreachable {
        /// The server.
        endpoint: String,
        /// Why.
        reason: String,
    },
    /// It took too long.
    #[error("{endpoint} sent no {what} within {} s", .limit.as_secs_f64())]
    TimedOut {
        /// The server.
        endpoint: String,
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The answer broke off.
    #[error("the answer of {endpoint} broke off: {reason}")]
    Interrupted {
        /// The server.
        endpoint: String,
        /// Why.
        reason: String,
    },
    /// The server refused, or failed.
    #[error("{endpoint} answered {status}: {message}")]
    Status {
        /// The server.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// What it says about it.
        message: String,
        /// How long it asks us to wait.
        retry_after: Option<Duration>,
    },
    /// The answer is larger than any answer.
    #[error("the answer of {endpoint} is larger than {limit} bytes")]
    TooLarge {
        /// The server.
        endpoint: String,
        /// The most that is read.
        limit: usize,
    },
    /// The answer is not what the server's own rules say.
    #[error("{endpoint} answered something that is no answer: {reason}")]
    Malformed {
        /// The server.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server failed so often that it is left alone.
    #[error("{endpoint} is left alone after {failures} failures in a row, the last: {last}")]
    CircuitOpen {
        /// The server.
        endpoint: String,
        /// How often it failed.
        failures: u32,
        /// The last failure.
        last: String,
    },
    /// The server asks for more patience than there is.
    #[error("{endpoint} asks to wait {} s, longer than the run may take", .asked.as_secs())]
    WaitTooLong {
        /// The server.
        endpoint: String,
        /// How long it asks us to wait.
        asked: Duration,
    },
    /// The run's own limits do not allow another call.
    #[error("{0}")]
    NotAdmitted(String),
    /// A program that was to answer failed.
    #[error("`{program}` {reason}")]
    Command {
        /// The program.
        program: String,
        /// What happened.
        reason: String,
        /// Whether another try may help.
        transient: bool,
    },
    /// A recorded run has no answer to this request.
    #[error("the recorded run has no answer to this request")]
    NotRecorded,
}

impl LlmError {
    /// Whether the same request may well succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Interrupted { .. }
            | Self::TooLarge { .. }
            | Self::Malformed { .. } => true,
            Self::Status { status, .. } => {
                matches!(status, 408 | 409 | 425 | 429 | 500..=599)
            }
            Self::Command { transient, .. } => *transient,
            _ => false,
        }
    }

    /// Whether the server says that too much is asked of it.
    pub fn is_overload(&self) -> bool {
        matches!(self, Self::Status { status: 429 | 503 | 529, .. })
    }

    /// How long the server asks us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoKey { variables, .. } => {
                Some(format!("set {}, or use `--provider builtin`", variables.join(" or ")))
            }
            Self::Status { status: 401 | 403, .. } => {
                Some("check the key and what it is allowed to do".to_owned())
            }
            Self::Status { status: 404, .. } => {
                Some("check the model's name and the server's address".to_owned())
            }
            Self::Unreachable { .. } => Some("check the address and the network".to_owned()),
            Self::InvalidAddress { .. } => Some("an address looks like https://host/v1".to_owned()),
            _ => None,
        }
    }
}
