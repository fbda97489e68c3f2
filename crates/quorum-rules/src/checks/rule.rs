//! What a check in code says about itself, and how it reports.

use quorum_model::finding::Effort;
use quorum_model::severity::Severity;
use quorum_syntax::Node;

use super::syntax;
use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// One thing that a check in code looks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeRule {
    /// The id that reports and `quorum:ignore` use.
    pub(crate) id: &'static str,
    /// The agent that reports it.
    pub(crate) agent: &'static str,
    /// One of the agent's categories.
    pub(crate) category: &'static str,
    /// How bad it is unless the place says otherwise.
    pub(crate) severity: Severity,
    /// How sure the check is.
    pub(crate) confidence: f64,
}

impl CodeRule {
    /// A finding about a node.
    pub(crate) fn at(
        &self,
        file: &ParsedFile,
        node: Node<'_>,
        issue: impl Into<String>,
        recommendation: impl Into<String>,
    ) -> RuleFinding {
        let quote = syntax::quote(node, file.text());
        let lines = quote.lines().count().max(1) as u64;
        let line = syntax::line(node);
        self.on(file.path(), (line, line + lines - 1), quote, issue, recommendation)
    }

    /// A finding about lines of a file.
    pub(crate) fn on(
        &self,
        path: &str,
        (line, end_line): (u64, u64),
        evidence: impl Into<String>,
        issue: impl Into<String>,
        recommendation: impl Into<String>,
    ) -> RuleFinding {
        RuleFinding {
            rule: self.id.to_owned(),
            agent: self.agent,
            severity: self.severity,
            confidence: self.confidence,
            category: self.category.to_owned(),
            cwe: None,
            file: path.to_owned(),
            line,
            end_line,
            evidence: evidence.into(),
            issue: issue.into(),
            recommendation: recommendation.into(),
            references: Vec::new(),
            effort: Some(Effort::Small),
            trace: Vec::new(),
            dependency: None,
            replacement: None,
            caused: false,
        }
    }
}
