//! Why a call cannot be answered: a code for programs, words for people, and the way out.

use quorum_dispatch::branch::BranchError;
use quorum_store::StoreError;
use serde_json::{Value, json};

/// What went wrong. The spelling is part of every error and does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An argument is missing, unknown or of the wrong form.
    InvalidArgument,
    /// An argument is larger than is taken.
    TooLarge,
    /// A path leads out of the roots that the client gave.
    OutsideRoots,
    /// There is no run of that name, or it is somebody else's.
    RunNotFound,
    /// The run is not decided yet.
    RunUndecided,
    /// The run was not begun for a host's own agents.
    NotDelegated,
    /// There is nothing of that name.
    NotFound,
    /// There is no branch of that name.
    BranchNotFound,
    /// The branch has ended.
    BranchNotActive,
    /// The branch is out of time.
    BranchTimeout,
    /// Branches are nested too deeply, or too many are at work.
    BranchLimit,
    /// A budget is not a number of tokens that can be given.
    InvalidBudget,
    /// The branch has used so much that nothing new is shown.
    BudgetForceReturn,
    /// What was asked for does not fit what is left.
    BudgetExhausted,
    /// A text could not be searched for secrets, so that it is not passed on.
    ScrubFailed,
    /// What is reviewed changed since the review began.
    Changed,
    /// Somebody else works on it.
    Busy,
    /// This server does not do that.
    Unavailable,
    /// It needs the user's word, which the server was not started with.
    NotAllowed,
    /// The caller stopped it.
    Cancelled,
    /// The operation itself failed.
    Failed,
}

impl Code {
    /// The spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::TooLarge => "TOO_LARGE",
            Self::OutsideRoots => "OUTSIDE_ROOTS",
            Self::RunNotFound => "RUN_NOT_FOUND",
            Self::RunUndecided => "RUN_UNDECIDED",
            Self::NotDelegated => "NOT_DELEGATED",
            Self::NotFound => "NOT_FOUND",
            Self::BranchNotFound => "BRANCH_NOT_FOUND",
            Self::BranchNotActive => "BRANCH_NOT_ACTIVE",
            Self::BranchTimeout => "BRANCH_TIMEOUT",
            Self::BranchLimit => "BRANCH_LIMIT",
            Self::InvalidBudget => "INVALID_BUDGET",
            Self::BudgetForceReturn => "BUDGET_FORCE_RETURN",
            Self::BudgetExhausted => "BUDGET_EXHAUSTED",
            Self::ScrubFailed => "SCRUB_FAILED",
            Self::Changed => "CHANGED",
            Self::Busy => "BUSY",
            Self::Unavailable => "UNAVAILABLE",
            Self::NotAllowed => "NOT_ALLOWED",
            Self::Cancelled => "CANCELLED",
            Self::Failed => "FAILED",
        }
    }

    /// Whether the same call, or a smaller one, may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Busy | Self::BranchLimit | Self::BudgetExhausted)
    }
}

/// Why a call cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct ToolError {
    /// For programs.
    pub code: Code,
    /// For people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ToolError {
    /// An error without a hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// The same with a way out.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The form in which a caller is told.
    pub(crate) fn document(&self) -> Value {
        let mut error = json!({ "code": self.code.as_str(), "message": self.message });
        if let Some(hint) = &self.hint {
            error["hint"] = json!(hint);
        }
        if self.code.is_retryable() {
            error["retryable"] = json!(true);
        }
        json!({ "error": error })
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::NoRuns(_) | StoreError::NoSuchRun(_) | StoreError::AmbiguousRun { .. } => {
                Code::RunNotFound
            }
            StoreError::AmbiguousFinding { .. } => Code::NotFound,
            StoreError::Locked(_) => Code::Busy,
            _ => Code::Failed,
        };
        Self { code, message: error.to_string(), hint: error.hint() }
    }
}

impl From<BranchError> for ToolError {
    fn from(error: BranchError) -> Self {
        let code = match &error {
            BranchError::Unknown => Code::BranchNotFound,
            BranchError::TooDeep(_) | BranchError::TooMany(_) => Code::BranchLimit,
            BranchError::Transition { .. } | BranchError::ActiveChildren => Code::BranchNotActive,
            BranchError::Exhausted { .. } => Code::BudgetExhausted,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_part_of_the_error() {
        let error = ToolError::from(BranchError::TooMany(10)).with_hint("end one");
        assert_eq!(error.to_string(), "BRANCH_LIMIT: 10 branches may be at work at most");
        let document = error.document();
        assert_eq!(document["error"]["code"], "BRANCH_LIMIT");
        assert_eq!(document["error"]["hint"], "end one");
        assert_eq!(document["error"]["retryable"], true);
    }
}
