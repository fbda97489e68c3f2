//! Reviews that somebody else's agents carry out: what each of them is given to read, what is taken
//! of what they report, and what came of it. All of it goes through the code that models go through.

use std::collections::BTreeMap;

use minijinja::{Environment, context};
use quorum_llm::Message;
use quorum_model::budget::{Mode, Thresholds};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::AgentOutcome;
use quorum_model::plan::Shard;
use quorum_model::report::CutoffReason;
use quorum_model::severity::Severity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contract;
use super::desk::{Cancel, LlmReview};
use super::ground::Ground;
use super::run::{Panel, report_attempts, workers};
use super::scrub;
use super::session::{Session, Worker};
use super::shown::Library;
use super::tally::Tally;

/// What one of the host's agents is given: everything that one branch of an agent reads.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The agent whose work it is.
    pub agent: String,
    /// Which of the agent's branches it is, from 1.
    pub wave: u32,
    /// The branch's budget.
    pub budget: u64,
    /// What the code in it is charged.
    pub tokens: u64,
    /// Whether standing orders are part of it.
    pub sops: bool,
    /// Orders and code; [`closing`] comes after it.
    pub text: String,
}

/// What ends a brief.
#[derive(Clone, Copy, Debug)]
pub struct Closing<'a> {
    /// The branch's id.
    pub branch: &'a str,
    /// What proves that the brief was read to its end.
    pub receipt: &'a str,
    /// When the branch is told to do less.
    pub thresholds: Thresholds,
}

/// The briefs of all agents of the plan that have an engine, by agent and wave.
pub fn briefs(review: LlmReview<'_>) -> Vec<Brief> {
    let (_stop, cancel) = Cancel::new();
    let panel = Panel::new(LlmReview { complete: true, ..review }, cancel);
    let desk = panel.desk();
    let mut briefs = Vec::new();
    for worker in workers(&desk) {
        for (wave, shards) in waves(&worker) {
            briefs.extend(brief(&worker, wave, &shards));
        }
    }
    briefs
}

/// How a brief ends: how to look things up, how to report, and the receipt.
pub fn closing(brief: &Brief, closing: Closing<'_>) -> String {
    let Closing { branch, receipt, thresholds } = closing;
    let values = context! {
        branch, receipt,
        used => brief.tokens,
        budget => brief.budget,
        full => thresholds.full_analysis.floor_of(100),
        high => thresholds.high_severity.floor_of(100),
        sops => brief.sops,
    };
    let template = include_str!("../../prompts/delegate.md");
    // A template that does not render is found by the tests, which render it.
    Environment::new().render_str(template, values).unwrap_or_default()
}

/// The shards of each of an agent's branches.
fn waves<'a>(worker: &Worker<'a>) -> BTreeMap<u32, Vec<&'a Shard>> {
    let mut waves: BTreeMap<u32, Vec<&Shard>> = BTreeMap::new();
    for shard in &worker.planned.shards {
        waves.entry(shard.wave).or_default().push(shard);
    }
    waves
}

fn brief(worker: &Worker<'_>, wave: u32, shards: &[&Shard]) -> Option<Brief> {
    let budget = worker.planned.budget;
    let branch = worker.desk.branches.create(None, budget).ok()?;
    let mut parts: Vec<String> = Vec::new();
    for shard in shards {
        let request = Session::new(worker, branch, String::new()).first_request(shard);
        if parts.is_empty() {
            parts.extend(request.system.into_iter().map(|text| text.text));
        }
        for message in request.messages {
            if let Message::User(mut blocks) = message {
                // The last says how a model answers, which a host's agent does in another way.
                blocks.pop();
                parts.extend(blocks.into_iter().map(|text| text.text));
            }
        }
    }
    Some(Brief {
        agent: worker.agent.name.clone(),
        wave,
        budget,
        tokens: shards.iter().flat_map(|shard| &shard.units).map(|unit| unit.tokens).sum(),
        sops: shards.iter().any(|shard| !shard.sops.is_empty()),
        text: parts.join("\n\n"),
    })
}

/// What became of one reported finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// It is backed by the code.
    Recorded(Box<AgentFinding>),
    /// The budget has no room for findings of this severity: it is counted.
    Counted(Severity),
    /// It is not taken; the word says why.
    Refused {
        /// Such as `quote_not_found`.
        reason: &'static str,
        /// What to do about it.
        detail: String,
    },
}

/// Checks what `agent` reports as a model's findings are checked. On an error nothing may be kept:
/// the findings could not be searched for secrets.
pub fn take(
    review: LlmReview<'_>,
    agent: &str,
    mode: Mode,
    reported: &[Value],
) -> Result<Vec<Taken>, String> {
    let library = Library::new(review.material, review.redactor);
    let ground = Ground::new(review.plan, &library);
    let agent = review.agents.iter().find(|known| known.name == agent);
    let agent = agent.ok_or("there is no such agent")?;
    let mut all = Vec::new();
    for value in reported {
        all.push(match contract::finding(value) {
            Err(detail) => Taken::Refused { reason: "malformed", detail },
            Ok(reported)
                if mode >= Mode::HighSeverityOnly && reported.severity < Severity::High =>
            {
                Taken::Counted(reported.severity)
            }
            Ok(reported) => match ground.check(agent, reported, mode) {
                Ok(finding) => Taken::Recorded(Box::new(scrub::finding(&library, finding)?)),
                Err(rejection) => {
                    let detail = rejection.advice().to_owned();
                    Taken::Refused { reason: rejection.as_str(), detail }
                }
            },
        });
    }
    Ok(all)
}

/// What one of the host's agents has given so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The agent whose work it is.
    pub agent: String,
    /// Which of the agent's branches it is.
    pub wave: u32,
    /// Whether it proved that it read its brief to the end.
    pub read: bool,
    /// Whether it said that it was done.
    pub done: bool,
    /// What it found.
    pub findings: Vec<AgentFinding>,
    /// Findings that are not taken, by reason.
    #[serde(default)]
    pub rejected: BTreeMap<String, u64>,
    /// What it said at the end of each call: counts of what it left out, and standing orders.
    #[serde(default)]
    pub remarks: Vec<Value>,
    /// Tokens that its branch was given.
    pub budget: u64,
    /// Tokens that its branch was charged.
    pub used: u64,
    /// How often it reported.
    pub calls: u64,
    /// The mode that its branch was last told.
    pub mode: Option<Mode>,
}

/// What came of every agent. A branch without a part, or with one that is not done, is a failure:
/// what it found stands, and what it was to read is not covered.
pub fn outcomes(review: LlmReview<'_>, parts: &[Part]) -> Vec<AgentOutcome> {
    let (_stop, cancel) = Cancel::new();
    let panel = Panel::new(LlmReview { complete: true, ..review }, cancel);
    let desk = panel.desk();
    let mut outcomes = Vec::new();
    for worker in workers(&desk) {
        let mut tally = Tally::default();
        let mut mode = Mode::FullAnalysis;
        for (wave, shards) in waves(&worker) {
            let mine = |part: &&Part| part.agent == worker.agent.name && part.wave == wave;
            let part = parts.iter().find(mine);
            mode = mode.max(part.and_then(|part| part.mode).unwrap_or(mode));
            tally.absorb(wave_of(&worker, &shards, part));
        }
        outcomes.push(worker.outcome(tally, mode));
    }
    report_attempts(&desk, &mut outcomes);
    outcomes
}

fn wave_of(worker: &Worker<'_>, shards: &[&Shard], part: Option<&Part>) -> Tally {
    let mut tally = Tally::default();
    for shard in shards {
        tally.expected_sops.extend(shard.sops.iter().cloned());
        let units = shard.units.iter().cloned();
        let (shown, hidden): (Vec<_>, Vec<_>) = units.partition(|unit| worker.can_be_shown(unit));
        tally.miss(&hidden, CutoffReason::Error, "it cannot be shown without its secrets");
        match part {
            Some(part) if part.read && part.done => tally.cover(&shown),
            Some(part) if part.read => {
                tally.cover(&shown);
                let cause = "its agent did not say that it was done".to_owned();
                tally.cut_short = Some((CutoffReason::Timeout, cause));
            }
            Some(part) if part.done => {
                let cause = "its agent did not prove that it read what it was given";
                tally.miss(&shown, CutoffReason::Error, cause);
            }
            _ => tally.miss(&shown, CutoffReason::Timeout, "its agent never came back"),
        }
    }
    let Some(part) = part else { return tally };
    for finding in &part.findings {
        tally.add_finding(finding.clone());
    }
    tally.rejected.clone_from(&part.rejected);
    for remark in &part.remarks {
        let said = contract::done(remark);
        tally.skipped.medium_count += said.skipped.medium_count;
        tally.skipped.low_count += said.skipped.low_count;
        // One that cannot be searched for secrets is no answer.
        let answers = said.sops.into_iter().filter_map(|answer| worker.desk.settle(answer).ok());
        answers.for_each(|answer| tally.add_answer(answer));
    }
    tally.budget = part.budget;
    tally.used = part.used;
    tally.tokens = part.used;
    tally.calls = part.calls;
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_ends_with_its_receipt() {
        let brief = Brief {
            agent: "security-reviewer".to_owned(),
            wave: 1,
            budget: 8_192,
            tokens: 6_000,
            sops: true,
            text: String::new(),
        };
        let thresholds = Thresholds::default();
        let end = closing(&brief, Closing { branch: "br_1", receipt: "ab12", thresholds });
        assert!(end.contains("6000 of its 8192") && end.contains("From 80 %"), "{end}");
        assert!(end.contains("branch_id: \"br_1\"") && end.contains("`sops`"), "{end}");
        assert_eq!(end.lines().last(), Some("Receipt: ab12"));
    }
}
