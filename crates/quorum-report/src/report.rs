//! What a report is made of.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use quorum_model::event::Event;
use quorum_model::finding::{Finding, FindingState};
use quorum_model::gate::GateResult;
use quorum_model::plan::Plan;
use quorum_model::result::{AgentExecution, ReviewResult};
use quorum_model::verdict::AgentVerdict;

use crate::orders;

/// What a report is made of: the result, and what a reader needs to make sense of it.
///
/// Only the first two have to be there; the rest makes pages better.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What came out.
    pub result: &'a ReviewResult,
    /// What had been decided before.
    pub plan: &'a Plan,
    /// The code around each finding, by the finding's id.
    pub excerpts: BTreeMap<String, Excerpt>,
    /// What happened during the run, in order.
    pub events: Vec<Event>,
    /// When the run started, in UTC, RFC 3339.
    pub started: Option<String>,
    /// When it ended, in UTC, RFC 3339.
    pub ended: Option<String>,
    /// Violated standing orders, in the form of findings.
    pub orders: Vec<Finding>,
}

impl<'a> Report<'a> {
    /// A report with nothing but the result and the plan.
    pub fn new(result: &'a ReviewResult, plan: &'a Plan) -> Self {
        Self {
            result,
            plan,
            excerpts: BTreeMap::new(),
            events: Vec::new(),
            started: None,
            ended: None,
            orders: orders::violated(result),
        }
    }

    /// The agent's name in headings.
    pub fn title<'b>(&'b self, agent: &'b str) -> &'b str {
        let executed = self.result.execution.agents.iter().find(|other| other.name == agent);
        executed
            .map(|agent| agent.title.as_str())
            .filter(|title| !title.is_empty())
            .unwrap_or(agent)
    }

    /// The findings that stand, worst first, and then those of earlier reviews and those that are
    /// set aside.
    pub fn findings(&self) -> Vec<&'a Finding> {
        let result = self.result;
        worst_first(result.findings.iter().chain(&result.history).chain(&result.suppressed))
    }

    /// The findings that stand, violated standing orders and the findings of earlier reviews, worst
    /// first: for formats that know nothing but findings.
    pub fn entries(&self) -> Vec<&Finding> {
        let result = self.result;
        let apart = result.history.iter().chain(&result.suppressed);
        worst_first(result.findings.iter().chain(&self.orders).chain(apart))
    }

    /// What does not count, worst first: what is in one of these states.
    pub fn apart(&self, state: FindingState) -> Vec<&'a Finding> {
        let result = self.result;
        let apart = result.history.iter().chain(&result.suppressed);
        worst_first(apart.filter(|finding| finding.state == state))
    }

    /// The entries that stand in the reviewed code, worst first: what an annotation is made for.
    pub fn current(&self) -> Vec<&Finding> {
        self.entries().into_iter().filter(|finding| is_current(finding)).collect()
    }
}

/// What a page says in place of reviewers, where a gate kept them from running.
pub(crate) const NOT_ASKED: &str = "Reviewers did not run, because a required gate did not pass.";

/// Whether nobody was asked, because a required gate did not pass.
pub(crate) fn is_gated(result: &ReviewResult) -> bool {
    let idle = |agent: &AgentExecution| agent.verdict == AgentVerdict::Error && agent.calls == 0;
    result.gates.iter().any(GateResult::blocks)
        && result.findings.is_empty()
        && result.execution.agents.iter().all(idle)
}

/// `findings`, worst first; among equals those that need a look, then by place.
pub(crate) fn worst_first<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<&'a Finding> {
    let mut sorted: Vec<&Finding> = findings.into_iter().collect();
    sorted.sort_by(|a, b| {
        let urgency = |finding: &Finding| (!is_current(finding), Reverse(finding.severity));
        let place = |finding: &Finding| (finding.line, finding.end_line);
        urgency(a)
            .cmp(&urgency(b))
            .then_with(|| a.file.cmp(&b.file))
            .then_with(|| place(a).cmp(&place(b)))
            .then_with(|| a.id.cmp(&b.id))
    });
    sorted
}

/// Whether the finding stands in the reviewed code, and nobody has set it aside.
pub(crate) fn is_current(finding: &Finding) -> bool {
    matches!(finding.state, FindingState::New | FindingState::Persisting)
}

/// Lines of a file, around a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of the first line.
    pub start_line: u64,
    /// The lines, without their ends.
    pub lines: Vec<String>,
}

impl Excerpt {
    /// The longest stretch of lines that is shown.
    const MOST_LINES: usize = 40;
    /// The longest line, in characters: more is of no use to a reader.
    const LONGEST_LINE: usize = 400;

    /// Lines `first` to `last` of `text` with `context` lines on either side; absent when the text
    /// has no such line.
    pub fn around(text: &str, first: u64, last: u64, context: u64) -> Option<Self> {
        Self::among(&text.lines().collect::<Vec<_>>(), first, last, context)
    }

    /// The same of a text that is cut into lines already, for many findings in one file.
    pub fn among(lines: &[&str], first: u64, last: u64, context: u64) -> Option<Self> {
        let start_line = first.max(1).saturating_sub(context).max(1);
        let end_line = last.max(first).saturating_add(context);
        let count = usize::try_from(end_line - start_line + 1).unwrap_or(usize::MAX);
        let skip = usize::try_from(start_line - 1).unwrap_or(usize::MAX);
        let lines: Vec<String> = lines
            .get(skip..)
            .unwrap_or_default()
            .iter()
            .take(count.min(Self::MOST_LINES))
            .map(|line| crate::text::clip(line, Self::LONGEST_LINE).into_owned())
            .collect();
        let shown = start_line + lines.len() as u64;
        (shown > first.max(1)).then_some(Self { start_line, lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_has_context_where_there_is_some() {
        let text = "one\ntwo\nthree\nfour\nfive\n";
        let around = |first, last| Excerpt::around(text, first, last, 1);
        let lines = |start_line, lines: &[&str]| {
            Some(Excerpt { start_line, lines: lines.iter().map(ToString::to_string).collect() })
        };
        assert_eq!(around(1, 1), lines(1, &["one", "two"]));
        assert_eq!(around(3, 3), lines(2, &["two", "three", "four"]));
        assert_eq!(around(5, 5), lines(4, &["four", "five"]));
        assert_eq!(around(0, 0), lines(1, &["one"]));
        assert_eq!(around(7, 7), None, "the file is shorter");
        assert_eq!(around(u64::MAX, u64::MAX), None);
    }

    #[test]
    fn an_excerpt_stays_small() {
        let text = "x".repeat(1 << 20);
        let excerpt = Excerpt::around(&text, 1, 1, 3).expect("there is a line");
        assert!(excerpt.lines[0].len() < 500);
        let excerpt = Excerpt::around(&"x\n".repeat(10_000), 1, 10_000, 3).expect("lines");
        assert_eq!(excerpt.lines.len(), 40);
    }
}
