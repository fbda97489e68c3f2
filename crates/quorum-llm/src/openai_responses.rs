//! `OpenAI`'s Responses.

use serde_json::{Value, json};

use crate::key::Key;
use crate::message::{Answer, Finish, Message, Request, ToolCall};
use crate::openai_chat::{KeyHeader, choice, joined, written};
use crate::sse::Event;
use crate::usage::Usage;
use crate::wire::{self, Assembler, Fault, Wire, number, text};

/// Responses.
#[derive(Debug)]
pub(crate) struct OpenAiResponses {
    /// The header that carries the key.
    pub(crate) key_header: KeyHeader,
}

impl Wire for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn path(&self, _request: &Request) -> String {
        "/responses".to_owned()
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        self.key_header.of(key)
    }

    fn body(&self, request: &Request) -> Value {
        let input: Vec<Value> = request.messages.iter().flat_map(items).collect();
        let mut body = json!({
            "model": request.model,
            "instructions": joined(&request.system),
            "input": input,
            "max_output_tokens": request.max_output,
            "stream": true,
            // The conversation is ours: nothing is kept there, and thoughts travel with it.
            "store": false,
            "include": ["reasoning.encrypted_content"],
        });
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": false,
                })
            });
            body["tools"] = tools.collect();
            body["tool_choice"] = json!(choice(request.tool_choice));
        }
        if let Some(schema) = &request.schema {
            body["text"] = json!({ "format": {
                "type": "json_schema", "name": schema.name, "schema": schema.schema, "strict": true,
            } });
        }
        body
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(ResponseAssembler::default())
    }

    fn whole(&self, body: &Value) -> Result<Answer, Fault> {
        read(body)
    }
}

fn items(message: &Message) -> Vec<Value> {
    match message {
        Message::User(blocks) => {
            let content = blocks.iter().map(|b| json!({ "type": "input_text", "text": b.text }));
            vec![json!({ "role": "user", "content": content.collect::<Vec<_>>() })]
        }
        Message::Assistant { text, calls, echo } => {
            let mut items = echo.clone();
            if !text.is_empty() {
                let content = json!([{ "type": "output_text", "text": text }]);
                items.push(json!({ "role": "assistant", "content": content }));
            }
            items.extend(calls.iter().map(|call| {
                json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": written(&call.arguments),
                })
            }));
            items
        }
        Message::Results(results) => results
            .iter()
            .map(|result| {
                json!({
                    "type": "function_call_output", "call_id": result.id, "output": result.text,
                })
            })
            .collect(),
    }
}

fn read(response: &Value) -> Result<Answer, Fault> {
    let error = response.get("error").filter(|error| !error.is_null());
    if let Some(error) = error {
        let status = match text(error, "/code") {
            "rate_limit_exceeded" => 429,
            "invalid_prompt" => 400,
            _ => 500,
        };
        return Err(Fault::Failed { status, message: text(error, "/message").to_owned() });
    }
    let output = response.get("output").and_then(Value::as_array);
    let output = output.ok_or_else(|| Fault::malformed("it holds no output"))?;
    let mut answer = Answer {
        model: response.get("model").and_then(Value::as_str).map(str::to_owned),
        usage: usage(response),
        ..Answer::default()
    };
    let mut refused = false;
    for item in output {
        match text(item, "/type") {
            "message" => {
                let parts = item.get("content").and_then(Value::as_array);
                for part in parts.into_iter().flatten() {
                    answer.text.push_str(text(part, "/text"));
                    refused |= text(part, "/type") == "refusal";
                }
            }
            "function_call" => answer.calls.push(ToolCall {
                id: text(item, "/call_id").to_owned(),
                name: text(item, "/name").to_owned(),
                arguments: wire::arguments(text(item, "/arguments")),
                signature: None,
            }),
            // Thoughts can be given back only where they came sealed.
            "reasoning" if !text(item, "/encrypted_content").is_empty() => {
                answer.echo.push(item.clone());
            }
            _ => {}
        }
    }
    let incomplete = text(response, "/incomplete_details/reason");
    answer.finish = match incomplete {
        _ if refused => Finish::Refusal,
        "content_filter" => Finish::Refusal,
        "" => wire::finish(Finish::Stop, &answer.calls),
        _ => Finish::Length,
    };
    Ok(answer)
}

fn usage(response: &Value) -> Usage {
    let of = |pointer: &str| number(response, pointer);
    Usage {
        input: of("/usage/input_tokens"),
        cached: of("/usage/input_tokens_details/cached_tokens").unwrap_or_default(),
        cache_written: 0,
        output: of("/usage/output_tokens"),
        reasoning: of("/usage/output_tokens_details/reasoning_tokens").unwrap_or_default(),
    }
}

#[derive(Debug, Default)]
struct ResponseAssembler {
    /// What came so far, for an answer that is cut.
    text: String,
    whole: Option<Answer>,
}

impl Assembler for ResponseAssembler {
    fn take(&mut self, event: &Event) -> Result<String, Fault> {
        let body = wire::parse(&event.data)?;
        match text(&body, "/type") {
            "response.output_text.delta" => {
                self.text.push_str(text(&body, "/delta"));
                Ok(text(&body, "/delta").to_owned())
            }
            "response.function_call_arguments.delta" | "response.reasoning_text.delta" => {
                Ok(text(&body, "/delta").to_owned())
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let answer = read(body.get("response").unwrap_or(&Value::Null))?;
                self.whole = Some(answer);
                Ok(String::new())
            }
            "error" => {
                let message = text(&body, "/message").to_owned();
                Err(Fault::Failed { status: 500, message })
            }
            _ => Ok(String::new()),
        }
    }

    fn is_complete(&self) -> bool {
        self.whole.is_some()
    }

    fn may_end(&self) -> bool {
        self.whole.is_some()
    }

    fn answer(self: Box<Self>) -> Answer {
        self.whole.unwrap_or(Answer { text: self.text, ..Answer::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Text, ToolChoice};

    const WIRE: OpenAiResponses = OpenAiResponses { key_header: KeyHeader::Bearer };

    fn take(assembler: &mut Box<dyn Assembler>, data: &Value) -> Result<String, Fault> {
        assembler.take(&Event { name: String::new(), data: data.to_string() })
    }

    #[test]
    fn a_stream_ends_with_the_whole_answer() {
        let mut assembler = WIRE.assembler();
        let delta = json!({ "type": "response.output_text.delta", "delta": "he" });
        assert_eq!(take(&mut assembler, &delta).unwrap(), "he");
        assert!(!assembler.may_end());
        let completed = json!({ "type": "response.completed", "response": {
            "model": "m-1",
            "output": [
                { "type": "reasoning", "encrypted_content": "s" },
                { "type": "message", "content": [{ "type": "output_text", "text": "hey" }] },
                { "type": "function_call", "call_id": "c", "name": "done", "arguments": "{}" },
            ],
            "usage": { "input_tokens": 5, "output_tokens": 6,
                "output_tokens_details": { "reasoning_tokens": 4 } },
        } });
        take(&mut assembler, &completed).unwrap();
        let answer = assembler.answer();
        assert_eq!((answer.text.as_str(), answer.finish), ("hey", Finish::ToolCalls));
        assert_eq!((answer.usage.output, answer.usage.reasoning), (Some(6), 4));
        let request = Request {
            model: "m".to_owned(),
            system: vec![Text::new("be")],
            messages: vec![Message::user("x"), answer.to_message()],
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            schema: None,
            max_output: 9,
        };
        let input = WIRE.body(&request)["input"].clone();
        let kinds: Vec<&str> = input.as_array().unwrap().iter().map(|i| text(i, "/type")).collect();
        assert_eq!(kinds, ["", "reasoning", "", "function_call"]);
    }

    #[test]
    fn failures_and_cuts_are_told_apart() {
        let failed = json!({ "error": { "code": "rate_limit_exceeded", "message": "slow" } });
        let fault = WIRE.whole(&failed).unwrap_err();
        assert_eq!(fault, Fault::Failed { status: 429, message: "slow".to_owned() });
        let cut = json!({ "output": [], "incomplete_details": { "reason": "max_output_tokens" } });
        assert_eq!(WIRE.whole(&cut).unwrap().finish, Finish::Length);
    }
}
