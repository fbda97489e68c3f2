//! How a change stands against the SOPs that code can check.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use quorum_model::plan::PlannedAgent;
use quorum_model::result::{SopResult, SopStatus};
use quorum_plan::sop::{Check, Sop};
use quorum_rules::{RuleFinding, SourceFile};
use regex::Regex;
use thiserror::Error;

/// Places that evidence names; more are counted.
const MOST_PLACES: usize = 5;
/// The longest line of evidence, in bytes.
const LONGEST_LINE: usize = 120;

/// A check that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: check `{check}`: {message}")]
pub struct CheckError {
    /// The SOP's file.
    pub path: String,
    /// The check.
    pub check: String,
    /// What is wrong with it.
    pub message: String,
}

impl CheckError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        "name a rule (`quorum rules`), or write a regular expression"
    }
}

/// The checks of SOPs, and what they have seen so far. Shared by all threads.
#[derive(Debug)]
pub struct Checks<'a> {
    sops: Vec<(&'a Sop, Vec<Ready>)>,
    /// For each SOP, the files that were looked at, each with what was found there.
    seen: Mutex<BTreeMap<usize, BTreeMap<String, Vec<Place>>>>,
}

#[derive(Debug)]
enum Ready {
    Rule(String),
    Forbid(Regex),
    Require(Regex),
}

/// A place where an SOP is violated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    line: u64,
    what: String,
}

impl<'a> Checks<'a> {
    /// Makes the checks of `sops` ready; `is_rule` knows the ids of rules.
    pub fn new(sops: &'a [Sop], is_rule: impl Fn(&str) -> bool) -> Result<Self, CheckError> {
        let ready = |sop: &'a Sop| {
            let checks = sop.checks.iter().map(|check| ready(sop, check, &is_rule));
            Ok((sop, checks.collect::<Result<_, CheckError>>()?))
        };
        let sops = sops.iter().map(ready).collect::<Result<_, CheckError>>()?;
        Ok(Self { sops, seen: Mutex::default() })
    }

    /// Looks at one file of the change.
    pub fn look(&self, file: &SourceFile) {
        let Some(text) = &file.head else { return };
        let path = &*file.entry.path;
        for (index, (sop, checks)) in self.sops.iter().enumerate() {
            if checks.is_empty() || !sop.applies(path) {
                continue;
            }
            let mut places = Vec::new();
            for check in checks {
                match check {
                    Ready::Rule(_) => {}
                    Ready::Forbid(pattern) => {
                        let lines = (1..).zip(text.lines());
                        let hits = lines.filter(|(number, line)| {
                            file.is_added(*number) && pattern.is_match(line)
                        });
                        places.extend(hits.map(|(line, text)| Place { line, what: shown(text) }));
                    }
                    Ready::Require(pattern) if pattern.is_match(text) => {}
                    Ready::Require(pattern) => {
                        let what = format!("nothing matches `{}`", pattern.as_str());
                        places.push(Place { line: 0, what });
                    }
                }
            }
            if let Ok(mut seen) = self.seen.lock() {
                seen.entry(index).or_default().entry(path.to_owned()).or_default().extend(places);
            }
        }
    }

    /// What the embedded reviewers say for `agent` about the SOPs that it was planned with.
    pub fn answers(
        &self,
        agent: &PlannedAgent,
        findings: &[RuleFinding],
        unread: &BTreeSet<String>,
    ) -> Vec<SopResult> {
        let planned: BTreeSet<&str> =
            agent.shards.iter().flat_map(|shard| &shard.sops).map(String::as_str).collect();
        let own: BTreeSet<&str> = agent.files.iter().map(String::as_str).collect();
        let sops = self.sops.iter().enumerate();
        sops.filter(|(_, (sop, _))| planned.contains(sop.name.as_str()))
            .map(|(index, (sop, checks))| {
                if checks.is_empty() {
                    let evidence = "the embedded reviewers have no check for it";
                    return answer(sop, SopStatus::NotChecked, evidence.to_owned());
                }
                let places = self.places(index, &own, findings);
                let missed =
                    unread.iter().find(|path| own.contains(path.as_str()) && sop.applies(path));
                let (status, evidence) = judge(&places, checks.len(), missed);
                let first = places.iter().find_map(|(path, found)| Some((path, found.first()?)));
                SopResult {
                    file: first.map(|(path, _)| path.clone()),
                    line: first.map(|(_, place)| place.line).filter(|line| *line > 0),
                    ..answer(sop, status, evidence)
                }
            })
            .collect()
    }

    /// The files of an agent that were looked at, each with where it violates an SOP.
    fn places(
        &self,
        index: usize,
        own: &BTreeSet<&str>,
        findings: &[RuleFinding],
    ) -> BTreeMap<String, Vec<Place>> {
        let mut places = match self.seen.lock() {
            Ok(seen) => seen.get(&index).cloned().unwrap_or_default(),
            Err(_) => BTreeMap::new(),
        };
        places.retain(|path, _| own.contains(path.as_str()));
        let checks = self.sops.get(index).map(|(_, checks)| checks.as_slice()).unwrap_or_default();
        let rules = checks.iter().filter_map(|check| match check {
            Ready::Rule(id) => Some(id),
            _ => None,
        });
        for id in rules {
            for found in findings.iter().filter(|found| is_of(found, id)) {
                if let Some(known) = places.get_mut(&found.file) {
                    let what = format!("{} ({id})", shown(&found.evidence));
                    known.push(Place { line: found.line, what });
                }
            }
        }
        for known in places.values_mut() {
            known.sort();
            known.dedup();
        }
        places
    }
}

/// Whether a rule found it, if only beside a more specific one.
fn is_of(found: &RuleFinding, id: &str) -> bool {
    found.rule == id || found.references.iter().any(|other| other.strip_prefix("rule:") == Some(id))
}

fn judge(
    places: &BTreeMap<String, Vec<Place>>,
    checks: usize,
    missed: Option<&String>,
) -> (SopStatus, String) {
    let all: Vec<String> = places
        .iter()
        .flat_map(|(path, found)| {
            found.iter().map(move |place| match place.line {
                0 => format!("{path}: {}", place.what),
                line => format!("{path}:{line}: {}", place.what),
            })
        })
        .collect();
    if !all.is_empty() {
        let named = all.iter().take(MOST_PLACES).cloned().collect::<Vec<_>>().join("; ");
        let more = all.len().saturating_sub(MOST_PLACES);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        return (SopStatus::Violated, format!("{named}{more}"));
    }
    if let Some(path) = missed {
        return (SopStatus::NotReviewed, format!("{path} could not be read"));
    }
    if places.is_empty() {
        return (SopStatus::NotApplicable, "no text of its files is left to check".to_owned());
    }
    let checks = if checks == 1 { "1 check".to_owned() } else { format!("{checks} checks") };
    let files =
        if places.len() == 1 { "1 file".to_owned() } else { format!("{} files", places.len()) };
    (SopStatus::Passed, format!("{checks} on {files} found nothing"))
}

/// An answer that names no place.
pub(crate) fn answer(sop: &Sop, status: SopStatus, evidence: String) -> SopResult {
    SopResult {
        sop: sop.name.clone(),
        severity: sop.severity,
        status,
        evidence,
        file: None,
        line: None,
        finding_severity: None,
    }
}

/// A line as evidence quotes it, without a secret that it may hold.
fn shown(line: &str) -> String {
    let line = quorum_rules::secrets::redact(line.trim());
    let end = line.floor_char_boundary(LONGEST_LINE);
    let first = line[..end].lines().next().unwrap_or_default();
    format!("`{first}`")
}

fn ready(sop: &Sop, check: &Check, is_rule: &impl Fn(&str) -> bool) -> Result<Ready, CheckError> {
    let wrong = |check: &str, message: String| CheckError {
        path: sop.path.clone(),
        check: check.to_owned(),
        message,
    };
    let expression = |text: &String| {
        if has_metavariable(text) {
            let message = "code with metavariables belongs in a rule of .quorum/rules".to_owned();
            return Err(wrong(text, message));
        }
        let compiled = regex::RegexBuilder::new(text).multi_line(true).build();
        compiled.map_err(|error| {
            let message = error.to_string();
            let last = message.lines().last().unwrap_or_default();
            wrong(text, last.trim_start_matches("error: ").to_owned())
        })
    };
    match check {
        Check::Rule(id) if is_rule(id) => Ok(Ready::Rule(id.clone())),
        Check::Rule(id) => Err(wrong(id, "there is no such rule".to_owned())),
        Check::Named(text) if is_rule(text) => Ok(Ready::Rule(text.clone())),
        Check::Named(text) | Check::Forbid(text) => expression(text).map(Ready::Forbid),
        Check::Require(text) => expression(text).map(Ready::Require),
    }
}

/// Whether a text is code with holes, as rules have it: as an expression it would match nothing.
fn has_metavariable(text: &str) -> bool {
    let after = text.split('$').skip(1);
    after.into_iter().any(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
        || text.contains("$$$")
}

#[cfg(test)]
mod tests;
