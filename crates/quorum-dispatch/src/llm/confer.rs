//! What agents say about each other's findings, when the protocol has them told.

use quorum_llm::{Schema, Text};
use quorum_model::budget::Mode;
use quorum_model::outcome::{Message, Reaction, Stance};
use quorum_model::severity::Severity;
use serde_json::{Value, json};

use super::branch::BranchId;
use super::contract::{self, Reported};
use super::excerpt::{Claim, Excerpts, excerpts};
use super::ground::Ground;
use super::question::{Question, Unanswered, put};
use super::said::Said;
use super::session::Worker;

/// Lines that are shown on either side of a place.
const AROUND: u64 = 12;

impl Worker<'_> {
    /// Tells the agent what `messages` say, and asks what it says to it, once, within the share of
    /// its budget that the protocol leaves for that.
    pub(crate) async fn confer(&self, parent: BranchId, messages: &[Message]) -> Said {
        let asked = self.desk.review.plan.protocol.requirements();
        let (budget, shown) = self.claimed(messages);
        let left_out = messages.len() - shown.shown.len();
        let told: Vec<&Message> = shown.shown.iter().map(|&index| &messages[index]).collect();
        let mut said = self
            .in_branch(parent, budget, "exchange", async |line, tally| {
                if told.is_empty() {
                    return Vec::new();
                }
                let question = self.exchange(&shown, asked.ballot);
                match put(line, &question, tally, |value| reply(value, told.len())).await {
                    Ok(reply) => {
                        let found = if asked.ballot { Vec::new() } else { reply.findings };
                        for reported in found {
                            if let Err(cause) = line.accept(reported, Mode::FullAnalysis, tally) {
                                tally.note(cause);
                            }
                        }
                        reactions(&self.desk.ground, &told, reply.reactions)
                    }
                    Err(Unanswered(cause)) => {
                        tally.note(format!("it says nothing about others' findings: {cause}"));
                        Vec::new()
                    }
                }
            })
            .await;
        if left_out > 0 {
            said.notes.push(format!(
                "{left_out} of {} findings were not put to it: they do not fit a quarter of its budget",
                messages.len()
            ));
        }
        said
    }

    /// What the agent may spend on others' findings, and those of `messages` that fit it.
    pub(crate) fn claimed(&self, messages: &[Message]) -> (u64, Excerpts) {
        let share = self.desk.review.plan.protocol.requirements().exchange_share;
        let budget = share.floor_of(self.planned.budget);
        (budget, excerpts(self.desk, &claims(messages), AROUND, budget / 2))
    }

    fn exchange(&self, shown: &Excerpts, ballot: bool) -> Question {
        let prompts = self.desk.prompts;
        let text = prompts.exchange(&shown.text, ballot, false);
        Question {
            system: vec![Text::cached(prompts.common()), Text::cached(prompts.role(self.agent))],
            tokens: shown.tokens,
            text,
            schema: schema(&self.agent.categories, ballot),
        }
    }
}

/// What an agent says, with evidence that is really in the code; a confirmation loses any other.
pub(crate) fn reactions(ground: &Ground<'_>, told: &[&Message], said: Vec<Says>) -> Vec<Reaction> {
    let reaction = |says: Says| {
        let message = told.get(says.finding.checked_sub(1)?)?;
        let evidence =
            says.evidence.and_then(|quote| ground.quoted(&message.file, &quote, message.line));
        Some(Reaction {
            fingerprint: message.fingerprint.clone(),
            stance: says.stance,
            evidence,
            severity: says.severity,
            reason: None,
        })
    };
    said.into_iter().filter_map(reaction).collect()
}

/// The worst first: what does not fit is left out.
fn claims(messages: &[Message]) -> Vec<Claim> {
    let claim = |message: &Message| Claim {
        file: message.file.clone(),
        line: message.line,
        end_line: message.line,
        attributes: vec![
            ("severity", message.severity.as_str()),
            ("own", if message.own { "yes" } else { "no" }),
        ],
        words: message.title.clone(),
    };
    messages.iter().map(claim).collect()
}

/// What an agent says about one finding.
pub(crate) struct Says {
    finding: usize,
    stance: Stance,
    evidence: Option<String>,
    severity: Option<Severity>,
}

struct Reply {
    reactions: Vec<Says>,
    findings: Vec<Reported>,
}

fn schema(categories: &[String], ballot: bool) -> Schema {
    let stances: &[&str] = if ballot {
        &["confirm", "dispute"]
    } else {
        &["confirm", "dispute", "withdraw", "re_rate"]
    };
    let reaction = contract::object(&json!({
        "finding": { "type": "integer" },
        "stance": { "type": "string", "enum": stances },
        "evidence": { "type": ["string", "null"] },
        "severity": { "type": ["string", "null"], "enum": ["CRITICAL", "HIGH", "MEDIUM", "LOW", null] },
    }));
    let mut properties = json!({ "reactions": { "type": "array", "items": reaction } });
    if !ballot {
        properties["findings"] =
            json!({ "type": "array", "items": contract::finding_schema(categories) });
    }
    Schema { name: "exchange".to_owned(), schema: contract::object(&properties) }
}

/// Reads a reply about `count` findings; an error says what is wrong, for the agent.
fn reply(value: &Value, count: usize) -> Result<Reply, String> {
    let reactions = value.get("reactions").and_then(Value::as_array);
    let reactions = said(reactions.ok_or("there is no `reactions` array")?, count)?;
    let findings = value.get("findings").and_then(Value::as_array);
    let findings = findings.into_iter().flatten().map(contract::finding);
    Ok(Reply { reactions, findings: findings.collect::<Result<_, String>>()? })
}

/// Reads what is said about `count` findings.
pub(crate) fn said(reactions: &[Value], count: usize) -> Result<Vec<Says>, String> {
    let said = reactions.iter().enumerate().map(|(index, value)| {
        says(value, count).map_err(|wrong| format!("reactions[{index}]: {wrong}"))
    });
    said.collect()
}

fn says(value: &Value, count: usize) -> Result<Says, String> {
    let finding = value.get("finding").and_then(Value::as_u64);
    let finding = finding.and_then(|number| usize::try_from(number).ok());
    let finding = finding.filter(|number| (1..=count).contains(number));
    let finding = finding.ok_or(format!("`finding` is not a number from 1 to {count}"))?;
    let word = contract::text(value, "stance").unwrap_or_default();
    let stance = match word.to_lowercase().replace('-', "_").as_str() {
        "confirm" => Stance::Confirm,
        "dispute" => Stance::Dispute,
        "withdraw" => Stance::Withdraw,
        "re_rate" => Stance::ReRate,
        _ => return Err(format!("`{word}` is none of confirm, dispute, withdraw, re_rate")),
    };
    let severity = contract::text(value, "severity").map(|word| contract::severity(&word));
    let evidence = contract::text(value, "evidence");
    Ok(Says { finding, stance, evidence, severity: severity.transpose()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_and_what_is_wrong_is_said() {
        let value = json!({ "reactions": [
            { "finding": 2, "stance": "re-rate", "evidence": null, "severity": "LOW" },
            { "finding": 1, "stance": "confirm", "evidence": "x()", "severity": null },
        ] });
        let read = reply(&value, 2).unwrap();
        assert_eq!(read.reactions[0].severity, Some(Severity::Low));
        assert_eq!(read.reactions[1].evidence.as_deref(), Some("x()"));
        let cases = [
            (json!({}), "there is no `reactions` array"),
            (
                json!({ "reactions": [{ "finding": 3, "stance": "confirm" }] }),
                "reactions[0]: `finding` is not a number from 1 to 2",
            ),
            (
                json!({ "reactions": [{ "finding": 1, "stance": "veto" }] }),
                "reactions[0]: `veto` is none of confirm, dispute, withdraw, re_rate",
            ),
        ];
        for (value, wrong) in cases {
            assert_eq!(reply(&value, 2).err().as_deref(), Some(wrong));
        }
    }
}
