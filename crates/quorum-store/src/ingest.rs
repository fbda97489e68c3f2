//! Findings from elsewhere: pages with a findings index, or agents' JSON, from any tool.
//!
//! What comes in is data from a stranger. It is sorted into what can be used and what cannot, its
//! quotes are held against the code, and it never says what it covered.

mod evidence;
mod markdown;

use std::collections::BTreeMap;

pub use evidence::check;
use quorum_model::budget::Mode;
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, OutcomeStatus, Usage};
use quorum_model::report::{AgentReport, CutoffReason};
use quorum_model::wording;
use serde_json::Value;

/// More than any reviewer writes.
const LARGEST: usize = 16 << 20;

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Ingested {
    /// Findings that can be used, also if there are none.
    Valid(Box<AgentReport>),
    /// It says that it belongs to another run.
    Foreign {
        /// The run that it names.
        run: String,
    },
    /// It follows no form that is known.
    Malformed {
        /// What is missing.
        cause: String,
    },
    /// Its author says that it failed. Its findings stand, but it approves nothing.
    Error(Box<AgentReport>),
    /// There is no such file.
    Missing,
}

impl Ingested {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Valid(_) => "valid",
            Self::Foreign { .. } => "foreign",
            Self::Malformed { .. } => "malformed",
            Self::Error(_) => "error",
            Self::Missing => "missing",
        }
    }

    /// What was reported, where something was.
    pub fn report(&self) -> Option<&AgentReport> {
        match self {
            Self::Valid(report) | Self::Error(report) => Some(report),
            Self::Foreign { .. } | Self::Malformed { .. } | Self::Missing => None,
        }
    }
}

/// Reads what a file holds. `stem` is its name without the ending, which names the agent where the
/// file does not; `run` is the run that is to take it in, where there is one.
pub fn read(stem: &str, bytes: Option<&[u8]>, run: Option<&str>) -> Ingested {
    let Some(bytes) = bytes else { return Ingested::Missing };
    if bytes.len() > LARGEST {
        return malformed("it is larger than 16 MiB");
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return malformed("it is not UTF-8");
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let trimmed = text.trim_start();
    if trimmed.is_empty() {
        return malformed("it is empty");
    }
    if trimmed.starts_with('{') {
        of_json(stem, trimmed, run)
    } else {
        markdown::read(stem, text, run)
    }
}

fn malformed(cause: impl Into<String>) -> Ingested {
    Ingested::Malformed { cause: cause.into() }
}

/// An agent's report as JSON.
fn of_json(stem: &str, text: &str, run: Option<&str>) -> Ingested {
    let mut value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(cause) => {
            return malformed(format!("it is not JSON: {}", wording::plain(&cause.to_string())));
        }
    };
    let said =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(named) = said(&value, "run")
        && run.is_some_and(|run| run != named)
    {
        return Ingested::Foreign { run: named };
    }
    if !value.get("findings").is_some_and(Value::is_array) && said(&value, "error").is_none() {
        return malformed("it has no list of findings");
    }
    if let Some(object) = value.as_object_mut() {
        object.entry("agent").or_insert_with(|| Value::String(stem.to_owned()));
    }
    let failed = said(&value, "error").is_some()
        || value.get("verdict").and_then(Value::as_str) == Some("ERROR");
    match serde_json::from_value::<AgentReport>(value) {
        Ok(report) if failed => Ingested::Error(Box::new(report)),
        Ok(report) => Ingested::Valid(Box::new(report)),
        Err(cause) => malformed(wording::with_keys_of::<AgentReport>(&cause.to_string())),
    }
}

/// The outcome that takes part in consensus. `place` holds each finding against the code and
/// returns it with its lines, or says why it is not taken. Coverage stays empty: what was shown to
/// another tool is not known here.
pub fn outcome(
    run: &str,
    ingested: &Ingested,
    place: impl Fn(&AgentFinding) -> Result<AgentFinding, Rejection>,
) -> Option<AgentOutcome> {
    let report = ingested.report()?;
    let failed = matches!(ingested, Ingested::Error(_));
    let mut findings = Vec::new();
    let mut rejected: BTreeMap<String, u64> = BTreeMap::new();
    for finding in &report.findings {
        match place(finding) {
            Ok(finding) => findings.push(finding),
            Err(reason) => *rejected.entry(reason.as_str().to_owned()).or_default() += 1,
        }
    }
    let status = match (failed, report.partial) {
        (true, _) => OutcomeStatus::Failed,
        (false, true) => OutcomeStatus::Partial,
        (false, false) => OutcomeStatus::Completed,
    };
    Some(AgentOutcome {
        run: run.to_owned(),
        agent: report.agent.clone(),
        engine: "ingest".to_owned(),
        model: None,
        status,
        cutoff_reason: report.cutoff_reason.or(failed.then_some(CutoffReason::Error)),
        error: failed.then(|| "its author says that it failed".to_owned()),
        mode: report.mode.unwrap_or(Mode::FullAnalysis),
        usage: Usage::default(),
        covered: Vec::new(),
        bounded: Vec::new(),
        unreadable: Vec::new(),
        not_compared: None,
        findings,
        suppressed: Vec::new(),
        skipped: report.skipped,
        rejected,
        reactions: Vec::new(),
        sops: Vec::new(),
        patterns: report.patterns.clone(),
        notes: vec!["taken in from a file; what its author was shown is not known".to_owned()],
    })
}

/// Why a finding is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It names no file.
    NoPlace,
    /// The file is not part of what is reviewed.
    OutOfScope,
    /// The quoted code is not in the file.
    EvidenceNotFound,
}

impl Rejection {
    /// The spelling used in counts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoPlace => "no_place",
            Self::OutOfScope => "out_of_scope",
            Self::EvidenceNotFound => "evidence_not_found",
        }
    }
}

#[cfg(test)]
mod tests;
