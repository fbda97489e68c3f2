//! What a session makes of an answer.

use quorum_llm::{Answer, Finish, ToolResult, extract};
use quorum_model::budget::Mode;

use super::{Session, Step};
use crate::llm::context::Turn;
use crate::llm::contract::{self, DONE, REPORT_FINDING, Report, Reported};
use crate::llm::tally::Tally;
use crate::llm::tools;

impl Session<'_> {
    /// Takes an answer; an error is ours, not the model's.
    pub(super) fn take(&mut self, answer: &Answer, tally: &mut Tally) -> Result<Step, String> {
        match answer.finish {
            Finish::Refusal => return Ok(Step::Unusable("the provider held it back".to_owned())),
            Finish::Length | Finish::Cut => return self.salvage(answer, tally),
            Finish::Stop | Finish::ToolCalls => {}
        }
        if !answer.calls.is_empty() {
            return self.take_calls(answer, tally);
        }
        let value = match extract::object(&answer.text) {
            Ok(value) => value,
            Err(wrong) => return Ok(Step::Unusable(wrong.to_string())),
        };
        match contract::report(&value) {
            Ok(report) => {
                self.take_report(report, tally)?;
                self.context.push(Turn::Assistant(answer.to_message()));
                Ok(Step::Finished)
            }
            Err(wrong) => Ok(Step::Unusable(wrong)),
        }
    }

    /// What is whole in an answer that was cut.
    fn salvage(&mut self, answer: &Answer, tally: &mut Tally) -> Result<Step, String> {
        let called = answer.calls.iter().filter(|call| call.name == REPORT_FINDING);
        let called = called.map(|call| call.arguments.clone());
        let written = extract::whole_items(&answer.text);
        let whole: Vec<Reported> =
            called.chain(written).filter_map(|value| contract::finding(&value).ok()).collect();
        let done = answer.calls.iter().any(|call| call.name == DONE);
        if whole.is_empty() && !done {
            return Ok(Step::Unusable("it broke off before anything was reported".to_owned()));
        }
        let (reported, rejected) = (whole.len() as u64, tally.rejected_in_all());
        for reported in whole {
            self.accept(reported, tally)?;
        }
        // Inventions alone are no sign that it read what it was shown.
        if tally.rejected_in_all() - rejected == reported && !done {
            let wrong = "it broke off, and nothing that it had reported is in the code";
            return Ok(Step::Unusable(wrong.to_owned()));
        }
        Ok(Step::CutShort)
    }

    /// Takes a finding, unless it is the one that was planted; what the model is told about it.
    fn accept(&mut self, reported: Reported, tally: &mut Tally) -> Result<String, String> {
        if self.canary.as_mut().is_some_and(|canary| canary.is_meant_by(&reported)) {
            self.reported = true;
            return Ok("recorded".to_owned());
        }
        let before = tally.findings.len();
        let told = self.line.accept(reported, self.told, tally)?;
        self.reported |= tally.findings.len() > before;
        Ok(told)
    }

    fn take_report(&mut self, report: Report, tally: &mut Tally) -> Result<(), String> {
        for reported in report.findings {
            self.accept(reported, tally)?;
        }
        tally.skipped.medium_count += report.skipped.medium_count;
        tally.skipped.low_count += report.skipped.low_count;
        for answer in report.sops {
            tally.add_answer(self.desk().settle(answer)?);
        }
        tally.patterns.extend(report.patterns);
        Ok(())
    }

    fn take_calls(&mut self, answer: &Answer, tally: &mut Tally) -> Result<Step, String> {
        let mut results = Vec::new();
        let mut finished = None;
        let mut understood = false;
        let mut new_content = 0;
        for call in &answer.calls {
            let result = match call.name.as_str() {
                REPORT_FINDING => match contract::finding(&call.arguments) {
                    Ok(reported) => {
                        understood = true;
                        Ok(self.accept(reported, tally)?)
                    }
                    Err(wrong) => Err(wrong),
                },
                DONE => {
                    understood = true;
                    finished = Some(contract::done(&call.arguments));
                    Ok("thank you".to_owned())
                }
                name if self.offered => self.look(name, call, &mut new_content, &mut understood),
                name => Err(format!("`{name}` cannot be called any more; report and call done")),
            };
            let (text, failed) = match result {
                Ok(text) => (text, false),
                Err(wrong) => (wrong, true),
            };
            let (id, name) = (call.id.clone(), call.name.clone());
            results.push(ToolResult { id, name, text, failed });
        }
        if let Some(report) = finished {
            self.take_report(report, tally)?;
            self.context.push(Turn::Assistant(answer.to_message()));
            self.context.push(Turn::Results(results));
            return Ok(Step::Finished);
        }
        if !understood {
            let wrong = results.first().map(|result| result.text.clone()).unwrap_or_default();
            return Ok(Step::Unusable(wrong));
        }
        self.context.push(Turn::Assistant(answer.to_message()));
        self.context.push(Turn::Results(results));
        Ok(Step::Continue(new_content))
    }

    fn look(
        &self,
        name: &str,
        call: &quorum_llm::ToolCall,
        new_content: &mut u64,
        understood: &mut bool,
    ) -> Result<String, String> {
        let desk = self.desk();
        let found = tools::look(desk.library, desk.review.lookup, name, &call.arguments)?;
        *understood = true;
        let fenced = desk.prompts.fence.around(&[("tool", name)], &found);
        let tokens = desk.count(&fenced);
        let account = self.line.account();
        let total = account.used + self.pending + *new_content + tokens;
        // What would use the budget up is not shown.
        if desk.review.thresholds.mode(total, account.budget) >= Mode::ForceReturn {
            return Err("it is not shown: it would take more than your budget has left".to_owned());
        }
        *new_content += tokens;
        Ok(fenced)
    }
}
