//! Reviews that somebody else's agents carry out: what each of them is given to read, what is taken
//! of what they report, and what came of it. All of it goes through the code that models go through.

use std::collections::BTreeMap;

use minijinja::{Environment, context};
use quorum_llm::Message;
use quorum_model::budget::{Mode, Thresholds};
use quorum_model::finding::AgentFinding;
use quorum_model::outcome::{AgentOutcome, Message as Told, Reaction, Usage};
use quorum_model::plan::Shard;
use quorum_model::report::{CutoffReason, Pattern};
use quorum_model::severity::Severity;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agent::CANNOT_BE_SHOWN;
use super::confer;
use super::contract::{self, SopAnswer};
use super::desk::{self, Cancel, LlmReview};
use super::ground::Ground;
use super::run::{Panel, workers};
use super::said::Said;
use super::scrub;
use super::session::{Session, Worker};
use super::shown::Library;
use super::tally::Tally;

/// The wave of what an agent says about the findings of others.
const SECOND: u32 = 0;

/// What one of the host's agents is given: everything that one branch of an agent reads.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The agent whose work it is.
    pub agent: String,
    /// Which of the agent's branches it is, from 1; 0 is the second round.
    pub wave: u32,
    /// The branch's budget.
    pub budget: u64,
    /// What the code in it is charged.
    pub tokens: u64,
    /// The standing orders that are part of it.
    pub sops: Vec<String>,
    /// What it is asked about others' findings, where that is what it is for.
    pub second: Option<SecondRound>,
    /// Orders and code; [`closing`] comes after it.
    pub text: String,
}

/// What an agent is asked about others' findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondRound {
    /// The findings, in the order of the numbers that they have in the brief.
    pub told: Vec<Told>,
    /// Whether it votes, and finds nothing new.
    pub ballot: bool,
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
        sops => &brief.sops,
        second => brief.second.is_some(),
        ballot => brief.second.as_ref().is_some_and(|second| second.ballot),
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
        sops: orders(shards),
        second: None,
        text: parts.join("\n\n"),
    })
}

/// The standing orders of shards, each once.
fn orders(shards: &[&Shard]) -> Vec<String> {
    let mut names: Vec<String> = shards.iter().flat_map(|shard| shard.sops.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The briefs of a second round: for each agent what it is `told` of others' findings, as much as
/// the protocol's share of its budget has room for.
pub fn second_round(review: LlmReview<'_>, told: &BTreeMap<String, Vec<Told>>) -> Vec<Brief> {
    let (_stop, cancel) = Cancel::new();
    let panel = Panel::new(review, cancel);
    let desk = panel.desk();
    let ballot = review.plan.protocol.requirements().ballot;
    let brief = |worker: &Worker<'_>| {
        let messages = told.get(&worker.agent.name)?;
        let (budget, claimed) = worker.claimed(messages);
        let told: Vec<Told> = claimed.shown.iter().map(|&at| messages[at].clone()).collect();
        let prompts = desk.prompts;
        let orders = prompts.exchange(&claimed.text, ballot, true);
        (!told.is_empty()).then(|| Brief {
            agent: worker.agent.name.clone(),
            wave: SECOND,
            budget,
            tokens: claimed.tokens,
            sops: Vec::new(),
            second: Some(SecondRound { told, ballot }),
            text: [prompts.common(), prompts.role(worker.agent), orders].join("\n\n"),
        })
    };
    workers(&desk).iter().filter_map(brief).collect()
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

/// What one of the host's agents reports in one call.
#[derive(Clone, Copy, Debug)]
pub struct Submitted<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The mode that its branch was told.
    pub mode: Mode,
    /// Findings.
    pub findings: &'a [Value],
    /// Answers for standing orders.
    pub sops: &'a [Value],
    /// Conventions that it saw.
    pub patterns: &'a [Value],
    /// What it says about others' findings, and what it was asked.
    pub reactions: (&'a [Value], Option<&'a SecondRound>),
}

/// What is kept of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What became of each finding.
    pub findings: Vec<Taken>,
    /// Answers for standing orders that can be read, without secrets.
    pub sops: Vec<Value>,
    /// Conventions that can be read, without secrets.
    pub patterns: Vec<Pattern>,
    /// What it says about others' findings; the error says what is wrong with it.
    pub reactions: Result<Vec<Reaction>, String>,
}

/// Checks a report as a model's is checked. On an error nothing may be kept: the report could not be
/// searched for secrets.
pub fn take(review: LlmReview<'_>, submitted: Submitted<'_>) -> Result<Checked, String> {
    let library = Library::new(review.material, review.redactor);
    let ground = Ground::new(review.plan, &library);
    let Submitted { agent, mode, .. } = submitted;
    let agent = review.agents.iter().find(|known| known.name == agent);
    let agent = agent.ok_or("there is no such agent")?;
    let mut findings = Vec::new();
    for value in submitted.findings {
        findings.push(match contract::finding(value) {
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
    let mut sops = Vec::new();
    for answer in contract::done(&json!({ "sops": submitted.sops })).sops {
        let answer = desk::settle(review.sops, &ground, &library, answer)?;
        sops.push(serde_json::to_value(answer).map_err(|error| error.to_string())?);
    }
    let mut patterns = contract::done(&json!({ "patterns": submitted.patterns })).patterns;
    for Pattern { name, pattern, applies_to } in &mut patterns {
        for text in [name, pattern, applies_to] {
            *text = library.clean(text)?;
        }
    }
    let (said, asked) = submitted.reactions;
    let told: Vec<&Told> = asked.map_or(&[] as &[Told], |asked| &asked.told).iter().collect();
    let reactions = confer::said(said, told.len());
    let reactions = reactions.map(|said| confer::reactions(&ground, &told, said));
    Ok(Checked { findings, sops, patterns, reactions })
}

/// Answers for standing orders as [`take`] gave them.
fn answers(sops: &[Value]) -> impl Iterator<Item = SopAnswer> {
    sops.iter().filter_map(|sop| SopAnswer::deserialize(sop).ok())
}

/// Those of the standing orders `wanted` that `answered` holds no answer with evidence for.
pub fn unanswered(wanted: &[String], answered: &[Value]) -> Vec<String> {
    let answers: Vec<SopAnswer> = answers(answered).collect();
    let open = |name: &&String| !answers.iter().any(|answer| answer.counts_for(name));
    wanted.iter().filter(open).cloned().collect()
}

/// What one of the host's agents has given so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The agent whose work it is.
    pub agent: String,
    /// Which of the agent's branches it is; 0 is the second round.
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
    /// What it said at the end of each call: counts of what it left out.
    #[serde(default)]
    pub remarks: Vec<Value>,
    /// Its answers for standing orders.
    #[serde(default)]
    pub sops: Vec<Value>,
    /// Conventions that it saw the code follow.
    #[serde(default)]
    pub patterns: Vec<Pattern>,
    /// What it says about others' findings.
    #[serde(default)]
    pub reactions: Vec<Reaction>,
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
    // Nothing is recorded here, so that nothing can fail.
    drop(panel.look_for_attempts());
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
        let mut outcome = worker.outcome(tally, mode);
        let second = |part: &&Part| part.agent == worker.agent.name && part.wave == SECOND;
        if let Some(part) = parts.iter().find(second) {
            later(part).join(&mut outcome);
        }
        outcomes.push(outcome);
    }
    outcomes
}

/// What an agent added in the second round. One that never came back to it says nothing.
fn later(part: &Part) -> Said {
    let silent = "it says nothing about others' findings: it never came back";
    Said {
        agent: part.agent.clone(),
        reactions: part.reactions.clone(),
        findings: part.findings.clone(),
        rejected: part.rejected.clone(),
        usage: Usage {
            budget: part.budget,
            budget_used: part.used,
            tokens: part.used,
            usd: 0.0,
            calls: part.calls,
        },
        notes: (part.calls == 0).then(|| silent.to_owned()).into_iter().collect(),
    }
}

fn wave_of(worker: &Worker<'_>, shards: &[&Shard], part: Option<&Part>) -> Tally {
    let mut tally = Tally::default();
    for shard in shards {
        tally.expected_sops.extend(shard.sops.iter().cloned());
        let units = shard.units.iter().cloned();
        let (shown, hidden): (Vec<_>, Vec<_>) = units.partition(|unit| worker.can_be_shown(unit));
        tally.miss(&hidden, CutoffReason::Error, CANNOT_BE_SHOWN);
        match part {
            Some(part) if part.read && part.done => tally.cover(&shown),
            Some(part) if part.read => {
                tally.cover(&shown);
                let cause = "its agent did not say that it was done".to_owned();
                tally.cut_short = Some((CutoffReason::Absent, cause));
            }
            Some(part) if part.done => {
                let cause = "its agent did not prove that it read what it was given";
                tally.miss(&shown, CutoffReason::Error, cause);
            }
            _ => tally.miss(&shown, CutoffReason::Absent, "its agent never came back"),
        }
    }
    let answered = part.map(|part| part.sops.as_slice()).unwrap_or_default();
    tally.unanswered_sops = unanswered(&orders(shards), answered);
    answers(answered).for_each(|answer| tally.add_answer(answer));
    let Some(part) = part else { return tally };
    if part.read && part.done && !tally.unanswered_sops.is_empty() {
        let cause = format!("it gave no answer for the SOP {}", tally.unanswered_sops.join(", "));
        tally.cut_short = Some((CutoffReason::Error, cause));
    }
    for finding in &part.findings {
        tally.add_finding(finding.clone());
    }
    tally.rejected.clone_from(&part.rejected);
    tally.patterns.clone_from(&part.patterns);
    for remark in &part.remarks {
        let said = contract::done(remark);
        tally.skipped.medium_count += said.skipped.medium_count;
        tally.skipped.low_count += said.skipped.low_count;
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
            sops: vec!["errors".to_owned()],
            second: None,
            text: String::new(),
        };
        let thresholds = Thresholds::default();
        let end = closing(&brief, Closing { branch: "br_1", receipt: "ab12", thresholds });
        assert!(end.contains("6000 of its 8192") && end.contains("From 80 %"), "{end}");
        assert!(end.contains("branch_id: \"br_1\"") && end.contains("Yours: errors."), "{end}");
        assert_eq!(end.lines().last(), Some("Receipt: ab12"));
        let second = Some(SecondRound { told: Vec::new(), ballot: true });
        let brief = Brief { wave: SECOND, second, ..brief };
        let end = closing(&brief, Closing { branch: "br_1", receipt: "ab12", thresholds });
        assert!(end.contains("`reactions`") && !end.contains("recommendation"), "{end}");
    }

    #[test]
    fn an_order_is_answered_for_by_a_known_word_and_evidence() {
        let wanted = ["errors", "tone"].map(str::to_owned);
        let answer = |status: &str, evidence: &str| {
            vec![json!({ "sop": "Errors.md", "status": status, "evidence": evidence })]
        };
        let mut shown = answer("violated", "x()");
        assert_eq!(unanswered(&wanted, &shown), wanted, "the code does not show it");
        shown[0]["place"] = json!(["a.go", 3]);
        assert_eq!(unanswered(&wanted, &shown), ["tone"]);
        assert_eq!(unanswered(&wanted, &answer("fine", "x()")), wanted);
        assert_eq!(unanswered(&wanted, &answer("passed", " ")), wanted);
        assert_eq!(unanswered(&wanted, &[]), wanted);
    }
}
