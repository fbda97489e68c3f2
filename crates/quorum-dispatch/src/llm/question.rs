//! One question to a model, with one answer of a fixed form.

use quorum_llm::{Finish, Message, Request, Schema, Text, ToolChoice, extract};
use serde_json::Value;

use super::ask::{Stopped, ask};
use super::line::Line;
use super::prompt::Style;
use super::session::{MOST_UNUSABLE, SHORTEST_ANSWER};
use super::tally::Tally;

/// A question.
pub(crate) struct Question {
    /// What it is asked in the light of.
    pub(crate) system: Vec<Text>,
    /// What is asked.
    pub(crate) text: String,
    /// The tokens of what is asked: they are new to the branch.
    pub(crate) tokens: u64,
    /// The form of the answer.
    pub(crate) schema: Schema,
}

/// Why there is no answer.
pub(crate) struct Unanswered(pub(crate) String);

/// Asks until `read` understands the answer, three times at most.
pub(crate) async fn put<T>(
    line: &mut Line<'_>,
    question: &Question,
    tally: &mut Tally,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<T, Unanswered> {
    // There is nothing to look up, so that a tool would only be a longer way to say it.
    line.style = if line.style == Style::Plain { Style::Plain } else { Style::Schema };
    let mut wrong: Option<String> = None;
    let mut unusable = 0;
    // What is asked enters the branch once, however often it is asked.
    let mut pending = question.tokens;
    loop {
        let request = request(line, question, wrong.as_deref());
        let asked = match ask(line, request, pending, tally).await {
            Ok(asked) => asked,
            Err(Stopped::Unsupported) => {
                line.style = Style::Plain;
                continue;
            }
            Err(Stopped::By(_, cause)) => return Err(Unanswered(cause)),
        };
        line.answered += 1;
        let said = match asked.answer.finish {
            Finish::Refusal => Err("the provider held it back".to_owned()),
            Finish::Length | Finish::Cut => Err("it broke off".to_owned()),
            Finish::Stop | Finish::ToolCalls => {
                extract::object(&asked.answer.text).map_err(|wrong| wrong.to_string())
            }
        };
        match said.and_then(|value| read(&value)) {
            Ok(answer) => {
                line.charge(&asked, pending);
                return Ok(answer);
            }
            Err(cause) => {
                line.charge(&asked, pending);
                pending = 0;
                tally.note(format!("an answer could not be used: {cause}"));
                unusable += 1;
                if unusable >= MOST_UNUSABLE {
                    let cause = format!("no usable answer in {unusable} calls: {cause}");
                    return Err(Unanswered(cause));
                }
                wrong = Some(cause);
            }
        }
    }
}

fn request(line: &Line<'_>, question: &Question, wrong: Option<&str>) -> Request {
    let mut texts = vec![Text::new(question.text.clone())];
    if let Some(wrong) = wrong {
        texts.push(Text::new(format!("Your last answer could not be used: {wrong}.")));
    }
    let account = line.account();
    let left = account.budget.saturating_sub(account.used).saturating_sub(question.tokens);
    Request {
        model: String::new(),
        system: question.system.clone(),
        messages: vec![Message::User(texts)],
        tools: Vec::new(),
        tool_choice: ToolChoice::Required,
        schema: (line.style == Style::Schema).then(|| question.schema.clone()),
        max_output: left.max(SHORTEST_ANSWER),
    }
}
