//! Findings across the reviews of one pull request, which remembers them itself: a runner that starts
//! from a fresh clone has no ledger.

use std::collections::BTreeMap;

use quorum_model::finding::{Finding, FindingState};
use quorum_model::record::{FindingRecord, RecordStatus};

use super::dismissal::Dismissal;
use super::judge::{Entry, QUOTED, Texts, fingerprints};
use super::region::{Anchors, digest};

/// The run under which a pull request remembers what was resolved.
const EARLIER: &str = "an earlier review";

/// The entries that a review of a pull request meets: everything that the pull request remembers, with
/// what people set aside there, by id.
pub fn entries(records: &[FindingRecord], dismissed: &BTreeMap<String, Dismissal>) -> Vec<Entry> {
    let one = |(number, record): (i64, &FindingRecord)| Entry {
        id: number,
        fingerprints: record.fingerprints.iter().cloned().collect(),
        finding: finding(record),
        anchors: Anchors { before: record.before.clone(), after: record.after.clone() },
        first_run: EARLIER.to_owned(),
        resolved_run: (record.status == RecordStatus::Resolved).then(|| EARLIER.to_owned()),
        digested: true,
        dismissal: dismissed.get(&record.id).cloned(),
    };
    (0..).zip(records).map(one).collect()
}

/// What a pull request remembers, as a finding for people. Its quote is digests of lines.
fn finding(record: &FindingRecord) -> Finding {
    Finding {
        id: record.id.clone(),
        fingerprint: record.fingerprints.first().cloned().unwrap_or_default(),
        severity: record.severity,
        category: record.category.clone(),
        rule: record.rule.clone(),
        file: record.file.clone(),
        line: record.line,
        end_line: record.end_line,
        evidence: record.code.join("\n"),
        issue: record.title.clone(),
        recommendation: String::new(),
        cwe: None,
        agents: record.agents.clone(),
        corroboration: 0,
        covered_by: 0,
        confidence: 0.0,
        state: FindingState::NotReviewed,
        positions: Vec::new(),
        confirmed_by: Vec::new(),
        disputed_by: Vec::new(),
        refuted_by: None,
        refutation: None,
        same_place: Vec::new(),
        same_issue: Vec::new(),
        trace: Vec::new(),
        replacement: None,
        references: Vec::new(),
        effort: None,
        dependency: None,
        user_impact: None,
        suppression: None,
    }
}

/// Makes records of findings; each file is read once.
#[derive(Debug)]
pub struct Records<'a> {
    texts: Texts<'a>,
}

impl<'a> Records<'a> {
    /// With the text of a file at the reviewed revision, where it has one.
    pub fn new(text: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { texts: Texts::new(text) }
    }

    /// What a pull request is to remember of a finding.
    pub fn of(&mut self, finding: &Finding, status: RecordStatus) -> FindingRecord {
        let end = finding.end_line.max(finding.line);
        let lines = self.texts.lines_of(&finding.file, true);
        let code = match lines {
            Some(lines) => {
                lines.between(finding.line, end).take(QUOTED).map(str::to_owned).collect()
            }
            // A review of the host's diff alone has no file: what is quoted is all there is.
            None => squeezed(&finding.evidence).map(|line| digest(&line)).take(QUOTED).collect(),
        };
        let around = lines.map(|lines| Anchors::around(lines, finding.line, end));
        let Anchors { before, after } = around.unwrap_or_default();
        let mut names: Vec<String> = fingerprints(finding).map(str::to_owned).collect();
        names.dedup();
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        FindingRecord {
            id: finding.id.clone(),
            status,
            fingerprints: names,
            severity: finding.severity,
            category: finding.category.clone(),
            rule: finding.rule.clone(),
            agents: finding.agents.clone(),
            file: finding.file.clone(),
            line: finding.line,
            end_line: finding.end_line,
            title: title(&finding.issue),
            code,
            before,
            after,
        }
    }
}

fn squeezed(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(|line| line.chars().filter(|c| !c.is_whitespace()).collect());
    lines.filter(|line: &String| !line.is_empty())
}

/// The first sentence, short enough for a line.
fn title(issue: &str) -> String {
    let line = issue.lines().next().unwrap_or_default();
    let sentence = line.split(". ").next().unwrap_or(line);
    sentence.chars().take(160).collect()
}
