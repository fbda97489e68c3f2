//! `quorum:ignore RULE reason` in a comment suppresses one rule on its line or on the next one.
//!
//! A suppression hides nothing: what it silences is returned beside the findings, with the reason
//! and with whether the change itself brings the comment. Who may silence what is decided later.

mod comment;

use std::collections::BTreeMap;

use quorum_model::finding::Effort;
use quorum_model::severity::Severity;
use quorum_syntax::Tree;

use crate::finding::RuleFinding;
use comment::Comment;

/// A finding that a comment in its file suppresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Suppressed {
    /// What was found.
    pub finding: RuleFinding,
    /// The line of the comment.
    pub line: u64,
    /// Why, in the comment's words; empty where it says nothing.
    pub reason: String,
    /// Whether the change brings the comment; false for one that the base has.
    pub by_change: bool,
}

/// The comments of a file that suppress something, or try to.
#[derive(Debug, Default)]
pub(crate) struct Suppressions {
    comments: Vec<Comment>,
    /// Which of them the change brings.
    new: Vec<bool>,
    used: Vec<bool>,
}

impl Suppressions {
    /// Reads the comments of `head`. Those that stand in `base` with the same code are the base's;
    /// in a review of whole files, all are.
    pub(crate) fn read(head: &str, tree: Option<&Tree>, base: Option<&str>, whole: bool) -> Self {
        let comments = comment::read(head, tree);
        let mut at_base: BTreeMap<String, usize> = BTreeMap::new();
        if !whole && !comments.is_empty() {
            for comment in base.map(|base| comment::read(base, None)).unwrap_or_default() {
                *at_base.entry(comment.key).or_default() += 1;
            }
        }
        let is_new = |comment: &Comment| match at_base.get_mut(&comment.key) {
            _ if whole => false,
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        };
        let new: Vec<bool> = comments.iter().map(is_new).collect();
        let used = vec![false; comments.len()];
        Self { comments, new, used }
    }

    /// Notes which comments have something to suppress, whether or not it is about the change.
    pub(crate) fn see<'a>(&mut self, findings: impl IntoIterator<Item = &'a RuleFinding>) {
        if self.comments.is_empty() {
            return;
        }
        let by_target = self.by_target();
        for found in findings {
            for (_, index) in near(&by_target, found) {
                self.used[*index] |= self.comments[*index].silences(found);
            }
        }
    }

    /// The line that each comment is about, in order, with the comment's place in the list.
    fn by_target(&self) -> Vec<(u64, usize)> {
        let mut targets: Vec<(u64, usize)> =
            self.comments.iter().enumerate().map(|(index, at)| (at.target, index)).collect();
        targets.sort_unstable();
        targets
    }

    /// Takes out what is suppressed; a suppression without a reason is a finding of its own.
    pub(crate) fn apply(
        &mut self,
        findings: Vec<RuleFinding>,
        path: &str,
    ) -> (Vec<RuleFinding>, Vec<Suppressed>) {
        if self.comments.is_empty() {
            return (findings, Vec::new());
        }
        self.see(&findings);
        let (mut open, mut suppressed) = (Vec::with_capacity(findings.len()), Vec::new());
        let mut unexplained = vec![false; self.comments.len()];
        let by_target = self.by_target();
        for finding in findings {
            let silencing =
                near(&by_target, &finding).filter(|(_, at)| self.comments[*at].silences(&finding));
            let Some(index) = silencing.map(|(_, index)| *index).min() else {
                open.push(finding);
                continue;
            };
            let comment = &self.comments[index];
            unexplained[index] |= comment.reason.is_empty();
            suppressed.push(Suppressed {
                finding,
                line: comment.line,
                reason: comment.reason.clone(),
                by_change: self.new[index],
            });
        }
        let unexplained = self.comments.iter().zip(unexplained).filter(|(_, is)| *is);
        open.extend(unexplained.map(|(comment, _)| without_reason(comment, path)));
        (open, suppressed)
    }

    /// What is wrong with the comments: malformed ones, unknown rules, and those of the change that
    /// suppress nothing. `all` also names those that the base has.
    pub(crate) fn warnings(&self, known: &dyn Fn(&str) -> bool, all: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        for ((comment, new), used) in self.comments.iter().zip(&self.new).zip(&self.used) {
            if !new && !all {
                continue;
            }
            let line = comment.line;
            if let Some(problem) = comment.problem {
                warnings.push(format!("the suppression on line {line} has no effect: {problem}"));
                continue;
            }
            let unknown: Vec<&str> =
                comment.rules.iter().map(String::as_str).filter(|rule| !known(rule)).collect();
            if !unknown.is_empty() && !used {
                warnings.push(format!(
                    "the suppression on line {line} has no effect: there is no rule `{}`",
                    unknown.join("`, `")
                ));
            } else if !used {
                warnings.push(format!(
                    "the suppression on line {line} is not used: `{}` finds nothing there",
                    comment.rules.join("`, `")
                ));
            }
        }
        warnings
    }
}

/// The comments about lines of a finding.
fn near<'a>(
    by_target: &'a [(u64, usize)],
    found: &RuleFinding,
) -> impl Iterator<Item = &'a (u64, usize)> + use<'a> {
    let (first, last) = (found.line, found.end_line.max(found.line));
    let from = by_target.partition_point(|(target, _)| *target < first);
    by_target[from..].iter().take_while(move |(target, _)| *target <= last)
}

fn without_reason(comment: &Comment, path: &str) -> RuleFinding {
    RuleFinding {
        rule: "generic.ignore-without-reason".to_owned(),
        agent: "code-quality-reviewer",
        severity: Severity::Low,
        confidence: 0.95,
        category: "patterns".to_owned(),
        cwe: None,
        file: path.to_owned(),
        line: comment.line,
        end_line: comment.line,
        evidence: comment.text.clone(),
        issue: format!(
            "`{}` is silenced here without a reason. The next reader cannot tell whether it was \
             looked at.",
            comment.rules.join("`, `")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: &str, line: u64) -> RuleFinding {
        let mut found = without_reason(&comment::read("# quorum:ignore r", None)[0], "a.py");
        rule.clone_into(&mut found.rule);
        (found.line, found.end_line) = (line, line);
        found
    }

    fn apply(head: &str, base: Option<&str>) -> (usize, Vec<bool>) {
        let mut read = Suppressions::read(head, None, base, false);
        let (open, suppressed) = read.apply(vec![found("r.x", 2)], "a.py");
        (open.len(), suppressed.iter().map(|one| one.by_change).collect())
    }

    #[test]
    fn what_is_suppressed_is_kept_with_who_brought_it() {
        let text = "a\nb() # quorum:ignore r.x a fixture\n";
        assert_eq!(apply(text, None), (0, vec![true]));
        assert_eq!(apply(text, Some(text)), (0, vec![false]));
        assert_eq!(
            apply(text, Some("z\ny\n  b() # quorum:ignore r.x a fixture\n")),
            (0, vec![false])
        );
        // The same comment at other code is another one.
        assert_eq!(apply(text, Some("c() # quorum:ignore r.x a fixture\n")), (0, vec![true]));
        assert_eq!(apply("a\nb()\n", Some("a\nb()\n")), (1, vec![]));
    }

    #[test]
    fn a_copy_is_not_covered_by_the_original() {
        let one = "b() # quorum:ignore r.x a fixture\n";
        let mut read = Suppressions::read(&format!("{one}{one}"), None, Some(one), false);
        let (_, suppressed) = read.apply(vec![found("r.x", 1), found("r.x", 2)], "a.py");
        assert_eq!(suppressed.iter().filter(|one| one.by_change).count(), 1);
    }

    #[test]
    fn mistakes_are_named() {
        let text = "# quorum: ignore r.x why\n# quorum:ignore\n# quorum:ignore[r.x why\n\
                    x # quorum:ignore r.y why\nx # quorum:ignore r.x why\n";
        let read = Suppressions::read(text, None, None, false);
        let warnings = read.warnings(&|rule| rule == "r.x", false).join("\n");
        for (line, word) in [
            (1, "no effect"),
            (2, "no effect"),
            (3, "no effect"),
            (4, "no rule `r.y`"),
            (5, "not used"),
        ] {
            let said = warnings.lines().find(|said| said.contains(&format!("line {line} ")));
            assert!(said.is_some_and(|said| said.contains(word)), "{line} {word}: {warnings}");
        }
    }

    #[test]
    fn without_a_reason_it_is_a_finding() {
        let mut read = Suppressions::read("x\nb() # quorum:ignore r.x\n", None, None, false);
        let (open, suppressed) = read.apply(vec![found("r.x", 2)], "a.py");
        assert_eq!(open[0].rule, "generic.ignore-without-reason");
        assert_eq!(suppressed.len(), 1);
    }
}
