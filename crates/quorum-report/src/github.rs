//! Annotations in a GitHub workflow: commands on standard output that the runner picks up.
//!
//! <https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions>

use std::fmt::Write as _;

use quorum_model::finding::Finding;
use quorum_model::severity::Severity;

use crate::report::Report;
use crate::text;

/// One command for each finding that stands, worst first: of each type GitHub shows the first ten
/// of a step.
pub fn render(report: &Report<'_>) -> String {
    let mut commands = String::new();
    for finding in report.current() {
        // Writing to a string cannot fail.
        let _ = writeln!(commands, "{}", command(finding));
    }
    commands
}

fn command(finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "notice",
    };
    let (first, last) = text::lines(finding);
    let title = format!(
        "{} {} {}",
        text::line(&finding.id, 60),
        finding.severity.as_str(),
        text::rule(finding)
    );
    let mut message = text::block(&finding.issue, 2_000);
    if !finding.recommendation.trim().is_empty() {
        message.push('\n');
        message.push_str(&text::block(&finding.recommendation, 2_000));
    }
    format!(
        "::{level} file={},line={first},endLine={last},title={}::{}",
        property(&text::visible(&finding.file)),
        property(&title),
        data(&message)
    )
}

/// What stands after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands after `=`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_end_themselves() {
        assert_eq!(property("a:b,c%d\ne"), "a%3Ab%2Cc%25d%0Ae");
        assert_eq!(data("100 %\n::error::x"), "100 %25%0A::error::x");
    }
}
