//! Merge conflicts that were committed as they are.

use quorum_model::finding::Effort;
use quorum_model::severity::Severity;

use crate::finding::RuleFinding;
use crate::source::ParsedFile;

/// Finds the three markers of a conflict in their order, each at the start of its line.
pub(crate) fn check(file: &ParsedFile, findings: &mut Vec<RuleFinding>) {
    let mut opened: Option<(u64, &str)> = None;
    let mut divided = false;
    for (number, line) in (1..).zip(file.text().lines()) {
        if line.starts_with("<<<<<<< ") {
            opened = Some((number, line));
            divided = false;
        } else if opened.is_some() && line == "=======" {
            divided = true;
        } else if divided
            && line.starts_with(">>>>>>> ")
            && let Some((first, marker)) = opened.take()
        {
            findings.push(found(file.path(), first, number, marker));
        }
    }
}

fn found(path: &str, first: u64, last: u64, marker: &str) -> RuleFinding {
    RuleFinding {
        rule: "generic.merge-conflict".to_owned(),
        agent: "code-quality-reviewer",
        severity: Severity::Critical,
        confidence: 0.95,
        category: "logic".to_owned(),
        cwe: None,
        file: path.to_owned(),
        line: first,
        end_line: last,
        evidence: marker.to_owned(),
        issue: "A merge conflict was left in the file. Both sides stand between its markers, so \
                the file is neither of them."
            .to_owned(),
        recommendation: "Choose what each side of the conflict contributes and remove the markers."
            .to_owned(),
        references: Vec::new(),
        effort: Some(Effort::Small),
        trace: Vec::new(),
        dependency: None,
        replacement: None,
        caused: false,
    }
}
