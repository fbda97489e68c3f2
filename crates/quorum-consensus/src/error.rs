//! Why nothing can be decided.

use thiserror::Error;

/// Why nothing can be decided. None of these may end in a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConsensusError {
    /// Two reports of one agent: which one counts would depend on their order.
    #[error("{agent} reported twice in run {run}: keep one of the two reports")]
    ReportedTwice {
        /// The agent.
        agent: String,
        /// The run.
        run: String,
    },
    /// Vetoes may be ignored for a reason only.
    #[error("vetoes are ignored without a reason: say why after `--ignore-vetos`")]
    NoReason,
    /// A finding that blocks and that no agent of this run made.
    #[error("finding {id} blocks, but no report of run {run} holds it")]
    Untraceable {
        /// The finding.
        id: String,
        /// The run.
        run: String,
    },
}
