//! A second look at findings that block: by an agent that did not report them, in a context of its
//! own, with the code in hand.

use std::collections::BTreeMap;

use quorum_llm::{Schema, Text};
use quorum_model::finding::Finding;
use quorum_model::outcome::{Reaction, Stance};
use quorum_model::plan::Plan;
use serde_json::{Value, json};

use super::bears::bears;
use super::branch::BranchId;
use super::contract;
use super::excerpt::{Claim, excerpts};
use super::question::{Question, Unanswered, put};
use super::said::Said;
use super::session::Worker;
use super::shown::Shown;

/// Lines that are shown on either side of a place: enough to see what guards it.
const AROUND: u64 = 40;

/// Who looks at what: an agent that is not an author and has another model, else one that is not an
/// author, else any in a context that knows nothing of the first; of equals the one with the least
/// to look at.
pub(crate) fn assign<'f>(
    plan: &Plan,
    verifiers: &[&str],
    findings: &'f [Finding],
) -> BTreeMap<String, Vec<&'f Finding>> {
    let model = |name: &str| {
        let planned = plan.agents.iter().find(|agent| agent.name == name);
        planned.map(|planned| (&planned.engine, &planned.model))
    };
    let mut assigned: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let best = verifiers.iter().min_by_key(|name| {
            let author = finding.agents.iter().any(|agent| agent == **name);
            let same_model = finding.agents.iter().any(|agent| model(agent) == model(name));
            (author, same_model, assigned.get(**name).map_or(0, Vec::len))
        });
        if let Some(best) = best {
            assigned.entry((*best).to_owned()).or_default().push(finding);
        }
    }
    assigned
}

impl Worker<'_> {
    /// Tries to refute `findings`, in one call, within a quarter of the agent's budget.
    pub(crate) async fn verify(&self, parent: BranchId, findings: &[&Finding]) -> Said {
        let budget = self.planned.budget / 4;
        let claims: Vec<Claim> = findings.iter().map(|finding| claim(finding)).collect();
        let mut shown = excerpts(self.desk, &claims, AROUND, budget / 2);
        if shown.shown.is_empty() {
            shown = excerpts(self.desk, &claims, AROUND / 4, budget / 2);
        }
        let put_to_it: Vec<&Finding> = shown.shown.iter().map(|&index| findings[index]).collect();
        let left_out = findings.len() - put_to_it.len();
        let mut said = self
            .in_branch(parent, budget, "second look", async |line, tally| {
                if put_to_it.is_empty() {
                    return Vec::new();
                }
                let prompts = self.desk.prompts;
                let question = Question {
                    system: vec![Text::cached(prompts.common())],
                    text: prompts.verify(&shown.text),
                    tokens: shown.tokens,
                    schema: schema(),
                };
                match put(line, &question, tally, |value| verdicts(value, put_to_it.len())).await {
                    Ok(verdicts) => {
                        let (refuted, summary) = self.weigh(&put_to_it, verdicts);
                        tally.note(summary);
                        refuted
                    }
                    Err(Unanswered(cause)) => {
                        let count = put_to_it.len();
                        tally.note(format!(
                            "the second look at {count} blocking findings failed, they stand: {cause}"
                        ));
                        Vec::new()
                    }
                }
            })
            .await;
        if left_out > 0 {
            said.notes.push(format!(
                "{left_out} blocking findings did not fit a second look, they stand"
            ));
        }
        said
    }

    /// The refutations that quote code which is really there and bears on the claim, and what to tell
    /// people.
    fn weigh(&self, findings: &[&Finding], verdicts: Vec<Looked>) -> (Vec<Reaction>, String) {
        let mut reactions = Vec::new();
        let mut unproven = 0;
        for looked in verdicts.into_iter().filter(|looked| looked.refuted) {
            let Some(finding) = findings.get(looked.finding - 1) else { continue };
            let file = looked.file.as_deref().unwrap_or(&finding.file);
            let quote = looked.evidence.unwrap_or_default();
            // Any line that exists is no proof: it has to be one that the claim is about.
            let bears = |path: &str, text: &Shown, lines| bears(finding, path, text, lines);
            let Some(evidence) = self.desk.ground.bearing(file, &quote, bears) else {
                unproven += 1;
                continue;
            };
            let reason = self.desk.library.clean(&looked.reason.unwrap_or_default());
            reactions.push(Reaction {
                fingerprint: finding.fingerprint.clone(),
                stance: Stance::Refute,
                evidence: Some(evidence),
                severity: None,
                reason: reason.ok(),
            });
        }
        let summary = format!(
            "a second look at {} blocking findings refuted {}{}",
            findings.len(),
            reactions.len(),
            if unproven > 0 { format!(", and {unproven} without proof") } else { String::new() }
        );
        (reactions, summary)
    }
}

fn claim(finding: &Finding) -> Claim {
    Claim {
        file: finding.file.clone(),
        line: finding.line,
        end_line: finding.end_line,
        attributes: vec![("severity", finding.severity.as_str())],
        words: finding.issue.clone(),
    }
}

/// What came of one second look.
struct Looked {
    finding: usize,
    refuted: bool,
    reason: Option<String>,
    file: Option<String>,
    evidence: Option<String>,
}

fn schema() -> Schema {
    let verdict = contract::object(&json!({
        "finding": { "type": "integer" },
        "verdict": { "type": "string", "enum": ["refuted", "stands", "unclear"] },
        "reason": { "type": "string" },
        "file": { "type": ["string", "null"] },
        "evidence": { "type": ["string", "null"] },
    }));
    let schema = contract::object(&json!({ "verdicts": { "type": "array", "items": verdict } }));
    Schema { name: "second_look".to_owned(), schema }
}

/// Reads the verdicts on `count` findings; an error says what is wrong, for the model.
fn verdicts(value: &Value, count: usize) -> Result<Vec<Looked>, String> {
    let verdicts = value.get("verdicts").and_then(Value::as_array);
    let verdicts = verdicts.ok_or("there is no `verdicts` array")?;
    let read = |(index, value): (usize, &Value)| {
        let finding = value.get("finding").and_then(Value::as_u64);
        let finding = finding.and_then(|number| usize::try_from(number).ok());
        let finding = finding
            .filter(|number| (1..=count).contains(number))
            .ok_or(format!("verdicts[{index}]: `finding` is not a number from 1 to {count}"))?;
        let verdict = contract::text(value, "verdict").unwrap_or_default();
        let refuted = match verdict.to_lowercase().as_str() {
            "refuted" => true,
            "stands" | "unclear" => false,
            _ => {
                return Err(format!(
                    "verdicts[{index}]: `{verdict}` is none of refuted, stands, unclear"
                ));
            }
        };
        let text = |name: &str| contract::text(value, name);
        let (reason, file, evidence) = (text("reason"), text("file"), text("evidence"));
        Ok(Looked { finding, refuted, reason, file, evidence })
    };
    verdicts.iter().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::testing::empty_plan;
    use quorum_model::plan::PlannedAgent;

    fn planned(name: &str, model: &str) -> PlannedAgent {
        PlannedAgent {
            name: name.to_owned(),
            budget: 1,
            base_budget: 1,
            veto: true,
            engine: "openai".to_owned(),
            model: Some(model.to_owned()),
            reason: String::new(),
            files: Vec::new(),
            shard_limit: 1,
            shards: Vec::new(),
            depth: quorum_model::outcome::Depth::Reviewed,
            beside_models: false,
        }
    }

    fn finding(agent: &str) -> Finding {
        let value = json!({ "id": "F-001", "fingerprint": "f", "severity": "HIGH",
            "category": "logic", "rule": null, "file": "a.rs", "line": 1, "end_line": 1,
            "evidence": "e", "issue": "i", "recommendation": "r", "cwe": null, "agents": [agent],
            "corroboration": 1, "confidence": 0.9, "state": "new" });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn another_model_looks_first_and_the_author_last() {
        let agents = vec![planned("a", "m"), planned("b", "m"), planned("c", "other")];
        let plan = Plan { agents, ..empty_plan() };
        let found = [finding("a")];
        let looks = |verifiers: &[&str]| -> Vec<String> {
            assign(&plan, verifiers, &found).into_keys().collect()
        };
        assert_eq!(looks(&["a", "b", "c"]), ["c"]);
        assert_eq!(looks(&["a", "b"]), ["b"]);
        assert_eq!(looks(&["a"]), ["a"], "in a context of its own");
        let two = [finding("c"), finding("c")];
        assert_eq!(assign(&plan, &["a", "b", "c"], &two).len(), 2, "the work is shared");
    }

    #[test]
    fn verdicts_are_read_and_what_is_wrong_is_said() {
        let value = json!({ "verdicts": [{ "finding": 1, "verdict": "Refuted", "reason": "r",
            "file": null, "evidence": "x()" }] });
        let read = verdicts(&value, 1).unwrap();
        assert!(read[0].refuted && read[0].file.is_none());
        for wrong in [
            json!({ "verdicts": "none" }),
            json!({ "verdicts": [{ "finding": 0, "verdict": "stands" }] }),
            json!({ "verdicts": [{ "finding": 1, "verdict": "maybe" }] }),
        ] {
            assert!(verdicts(&wrong, 1).is_err(), "{wrong}");
        }
    }
}
