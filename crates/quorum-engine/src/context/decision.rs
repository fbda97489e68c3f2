//! What was decided before about the code under review.

use quorum_model::context::ContextKind;
use quorum_model::finding::Finding;

use crate::context::assemble::{Candidate, Cut};

/// How an earlier finding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending<'a> {
    /// Somebody set it aside.
    Dismissed {
        /// Why.
        reason: &'a str,
        /// Who.
        author: &'a str,
    },
    /// A later review found it gone.
    Resolved,
    /// Nobody did anything about it yet.
    Open,
}

/// What became of a finding of an earlier review.
pub(crate) fn finding(finding: &Finding, ending: Ending<'_>) -> Candidate {
    let Finding { file, line, severity, issue, fingerprint, .. } = finding;
    let title = issue.lines().next().unwrap_or_default();
    let said = format!("{} {file}:{line}: {title}", severity.as_str());
    let (text, reason) = match ending {
        Ending::Dismissed { reason, author } => {
            (format!("{said}\nSet aside by {author}: {reason}"), "dismissed")
        }
        Ending::Resolved => (format!("{said}\nIt was resolved."), "resolved"),
        Ending::Open => (format!("{said}\nIt was reported and is still open."), "open"),
    };
    Candidate {
        kind: ContextKind::Decision,
        source: format!("finding {}", fingerprint.get(..8).unwrap_or(fingerprint)),
        reason: format!("{reason}, in {file}"),
        text,
        cut: Cut::Never,
    }
}

/// A lesson of an earlier review.
pub(crate) fn lesson(id: &str, title: &str, content: &str) -> Candidate {
    Candidate {
        kind: ContextKind::Decision,
        source: format!("memory {id}"),
        reason: "its words fit the change".to_owned(),
        text: format!("{title}\n{}", content.trim()),
        cut: Cut::Never,
    }
}
