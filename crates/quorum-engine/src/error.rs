//! Why the engine could not do what it was asked for.

use quorum_advisories::AdvisoryError;
use quorum_consensus::ConsensusError;
use quorum_dispatch::sops::CheckError;
use quorum_forge::ForgeError;
use quorum_gates::GateError;
use quorum_index::IndexError;
use quorum_llm::LlmError;
use quorum_plan::PlanError;
use quorum_rules::RuleError;
use quorum_scope::ScopeError;
use quorum_store::StoreError;

use crate::config::ConfigError;

/// What sort of failure it is, for programs. The spelling is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The request, the configuration or an argument is wrong.
    InvalidRequest,
    /// It needs the user's consent.
    NotAllowed,
    /// There is no such run, finding, file or gate.
    NotFound,
    /// What was reviewed is not what it was.
    Changed,
    /// Another process is working on it.
    Busy,
    /// It is not available in this place: no repository, no key, no host.
    Unavailable,
    /// The caller cancelled it.
    Cancelled,
    /// It failed: the disk, git, the network, or a program.
    Failed,
}

impl ErrorCode {
    /// The stable spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::NotAllowed => "NOT_ALLOWED",
            Self::NotFound => "NOT_FOUND",
            Self::Changed => "CHANGED",
            Self::Busy => "BUSY",
            Self::Unavailable => "UNAVAILABLE",
            Self::Cancelled => "CANCELLED",
            Self::Failed => "FAILED",
        }
    }
}

/// Why the engine could not do what it was asked for. Errors of the libraries are kept as they are.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Finding out what is under review.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// Reading rules.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// Reading the checks of SOPs.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Reading or writing runs, ledger and memories.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Deciding.
    #[error(transparent)]
    Consensus(#[from] ConsensusError),
    /// Planning.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Loading the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Talking to a code host.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// Reading advisories.
    #[error(transparent)]
    Advisory(#[from] AdvisoryError),
    /// Running gates.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// Indexing and searching.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Setting up or asking models.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// What the engine itself refuses, or found wrong.
    #[error("{message}")]
    Refused {
        /// What sort of failure.
        code: ErrorCode,
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl EngineError {
    /// A failure of this sort.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into(), hint: None }
    }

    /// The request, the configuration or an argument is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// It needs the user's consent.
    pub fn not_allowed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotAllowed, message)
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// It is not available here.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unavailable, message)
    }

    /// The disk, git, the network or a program failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Failed, message)
    }

    /// The same with a way out, where the error has none of its own.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Self::Refused { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// What sort of failure it is.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Store(error) => code_of_store(error),
            Self::Rule(_) | Self::Check(_) | Self::Plan(_) | Self::Config(_) => {
                ErrorCode::InvalidRequest
            }
            Self::Scope(ScopeError::NoRepository(_) | ScopeError::NoGit(_)) => {
                ErrorCode::Unavailable
            }
            Self::Forge(ForgeError::Unauthorized { .. } | ForgeError::Forbidden { .. }) => {
                ErrorCode::NotAllowed
            }
            Self::Scope(_)
            | Self::Consensus(_)
            | Self::Forge(_)
            | Self::Advisory(_)
            | Self::Gate(_)
            | Self::Index(_)
            | Self::Llm(_) => ErrorCode::Failed,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Scope(error) => error.hint(),
            Self::Rule(error) => Some(error.hint().to_owned()),
            Self::Check(error) => Some(error.hint().to_owned()),
            Self::Store(error) => error.hint(),
            Self::Consensus(_) => None,
            Self::Plan(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Forge(error) => error.hint(),
            Self::Advisory(error) => error.hint(),
            Self::Gate(error) => error.hint(),
            Self::Index(error) => error.hint(),
            Self::Llm(error) => error.hint(),
            Self::Refused { hint, .. } => hint.clone(),
        }
    }
}

fn code_of_store(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::NoRuns(_)
        | StoreError::NoSuchRun(_)
        | StoreError::AmbiguousRun { .. }
        | StoreError::AmbiguousFinding { .. } => ErrorCode::NotFound,
        StoreError::Locked(_) => ErrorCode::Busy,
        StoreError::Foreign(_) => ErrorCode::NotAllowed,
        _ => ErrorCode::Failed,
    }
}
