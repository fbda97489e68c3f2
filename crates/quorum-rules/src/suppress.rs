//! `quorum:ignore rule-id reason` in a comment silences one rule on its line or on the next one.

use quorum_model::finding::Effort;
use quorum_model::severity::Severity;

use crate::finding::RuleFinding;

const MARK: &str = "quorum:ignore";

/// The comments of a file that silence something.
#[derive(Debug, Default)]
pub(crate) struct Suppressions(Vec<Suppression>);

#[derive(Debug)]
struct Suppression {
    line: u64,
    /// Whether code stands before it, so that it speaks about its own line.
    trailing: bool,
    rule: String,
    reason: bool,
    text: String,
}

impl Suppressions {
    /// Reads the comments of any language: what counts is the mark, and what stands before it.
    pub(crate) fn read(text: &str) -> Self {
        if !text.contains(MARK) {
            return Self::default();
        }
        let found =
            (1..).zip(text.lines()).filter_map(|(line, code)| Suppression::read(line, code));
        Self(found.collect())
    }

    /// Drops what is silenced, and reports what is silenced without a reason.
    pub(crate) fn apply(self, mut findings: Vec<RuleFinding>, path: &str) -> Vec<RuleFinding> {
        for suppression in self.0 {
            let before = findings.len();
            findings.retain(|found| !suppression.silences(found));
            if !suppression.reason && findings.len() < before {
                findings.push(suppression.unexplained(path));
            }
        }
        findings
    }
}

impl Suppression {
    fn read(line: u64, code: &str) -> Option<Self> {
        let at = code.find(MARK)?;
        let before = code[..at].trim_end();
        let opener = ["//", "#", "<!--", "--", "/*", ";", "%", "*", "{-", "(*", "'"]
            .into_iter()
            .find(|opener| before.ends_with(opener))?;
        let mut words = code[at + MARK.len()..].trim_start_matches(':').split_whitespace();
        let rule = words.next()?.trim_end_matches([':', ',']).to_owned();
        let closers = ["*/", "-->", "*)", "-}"];
        Some(Self {
            line,
            trailing: !before[..before.len() - opener.len()].trim().is_empty(),
            rule,
            reason: words
                .any(|word| !closers.contains(&word) && word.chars().any(char::is_alphanumeric)),
            text: code.trim().to_owned(),
        })
    }

    fn silences(&self, found: &RuleFinding) -> bool {
        let here = if self.trailing { self.line } else { self.line + 1 };
        found.rule == self.rule && found.line <= here && here <= found.end_line.max(found.line)
    }

    fn unexplained(&self, path: &str) -> RuleFinding {
        RuleFinding {
            rule: "generic.ignore-without-reason".to_owned(),
            agent: "code-quality-reviewer",
            severity: Severity::Low,
            confidence: 0.95,
            category: "patterns".to_owned(),
            cwe: None,
            file: path.to_owned(),
            line: self.line,
            end_line: self.line,
            evidence: self.text.clone(),
            issue: format!(
                "`{}` is silenced here without a reason. The next reader cannot tell whether it was \
                 looked at.",
                self.rule
            ),
            recommendation: "Say after the rule's id why the finding does not apply.".to_owned(),
            references: Vec::new(),
            effort: Some(Effort::Trivial),
            trace: Vec::new(),
            dependency: None,
            replacement: None,
            caused: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(bool, String, bool)> {
        Suppression::read(1, line).map(|found| (found.trailing, found.rule, found.reason))
    }

    #[test]
    fn any_comment_can_hold_it() {
        for line in [
            "// quorum:ignore go.x it is a fixture",
            "# quorum:ignore go.x it is a fixture",
            "<!-- quorum:ignore go.x it is a fixture -->",
            "-- quorum:ignore go.x: it is a fixture",
        ] {
            assert_eq!(read(line), Some((false, "go.x".to_owned(), true)), "{line}");
        }
        assert_eq!(read("f() /* quorum:ignore go.x */"), Some((true, "go.x".to_owned(), false)));
        assert_eq!(read("x = \"say quorum:ignore go.x why\""), None);
        assert_eq!(read("// quorum:ignore"), None);
    }
}
