//! `OpenAI`'s Chat Completions, which most other servers speak too.

use serde_json::{Value, json};

use crate::key::Key;
use crate::message::{Answer, Finish, Message, Request, Text, ToolCall, ToolChoice};
use crate::sse::Event;
use crate::usage::Usage;
use crate::wire::{self, Assembler, CallParts, Fault, Wire, number, text};

/// Chat Completions.
#[derive(Debug)]
pub(crate) struct OpenAiChat {
    /// `OpenAI`'s own server takes no `max_tokens` for its newer models; others know nothing else.
    pub(crate) official: bool,
    /// The header that carries the key.
    pub(crate) key_header: KeyHeader,
    /// The provider's name.
    pub(crate) name: &'static str,
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    Bearer,
    ApiKey,
}

impl KeyHeader {
    pub(crate) fn of(self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        let Some(key) = key else { return Vec::new() };
        vec![match self {
            Self::Bearer => ("authorization", format!("Bearer {}", key.expose())),
            Self::ApiKey => ("api-key", key.expose().to_owned()),
        }]
    }
}

impl Wire for OpenAiChat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn path(&self, _request: &Request) -> String {
        "/chat/completions".to_owned()
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        self.key_header.of(key)
    }

    fn body(&self, request: &Request) -> Value {
        let mut messages = vec![json!({ "role": "system", "content": joined(&request.system) })];
        for message in &request.messages {
            messages.extend(turn(message));
        }
        let limit = if self.official { "max_completion_tokens" } else { "max_tokens" };
        let mut body = json!({
            "model": request.model,
            "messages": messages,
            "stream": true,
            "stream_options": { "include_usage": true },
            limit: request.max_output,
        });
        if !self.official {
            // Reasoning models of OpenAI's refuse it; elsewhere it makes answers repeatable.
            body["temperature"] = json!(0);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({ "type": "function", "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                } })
            });
            body["tools"] = tools.collect();
            body["tool_choice"] = json!(choice(request.tool_choice));
        }
        if let Some(schema) = &request.schema {
            body["response_format"] = json!({ "type": "json_schema", "json_schema": {
                "name": schema.name, "schema": schema.schema, "strict": true,
            } });
        }
        body
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(ChatAssembler::default())
    }

    fn whole(&self, body: &Value) -> Result<Answer, Fault> {
        if let Some(fault) = failure(body) {
            return Err(fault);
        }
        let choice =
            body.pointer("/choices/0").ok_or_else(|| Fault::malformed("it holds no choice"))?;
        let mut assembler = ChatAssembler::default();
        assembler.choice(choice, "/message");
        assembler.figures(body);
        Ok(Box::new(assembler).answer())
    }
}

pub(crate) fn joined(texts: &[Text]) -> String {
    texts.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

pub(crate) fn choice(choice: ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "required",
    }
}

fn turn(message: &Message) -> Vec<Value> {
    match message {
        Message::User(blocks) => vec![json!({ "role": "user", "content": joined(blocks) })],
        Message::Assistant { text, calls, .. } => {
            let mut said = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                said["tool_calls"] = calls.iter().map(call).collect();
            }
            vec![said]
        }
        Message::Results(results) => results
            .iter()
            .map(|result| {
                json!({ "role": "tool", "tool_call_id": result.id, "content": result.text })
            })
            .collect(),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({ "id": call.id, "type": "function", "function": {
        "name": call.name, "arguments": written(&call.arguments),
    } })
}

/// Arguments as a model would have written them.
pub(crate) fn written(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    }
}

fn failure(body: &Value) -> Option<Fault> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let status = number(error, "/code").and_then(|code| u16::try_from(code).ok()).unwrap_or(500);
    let message = error.as_str().unwrap_or_else(|| text(error, "/message")).to_owned();
    Some(Fault::Failed { status, message })
}

#[derive(Debug, Default)]
struct ChatAssembler {
    text: String,
    calls: CallParts,
    finish: Option<Finish>,
    usage: Usage,
    model: Option<String>,
    done: bool,
}

impl ChatAssembler {
    /// Takes what a choice adds; returns what the model wrote, its thoughts included.
    fn choice(&mut self, choice: &Value, pointer: &str) -> String {
        let mut written = String::new();
        if let Some(delta) = choice.pointer(pointer) {
            written.push_str(text(delta, "/reasoning_content"));
            self.text.push_str(text(delta, "/content"));
            written.push_str(text(delta, "/content"));
            let calls = delta.get("tool_calls").and_then(Value::as_array);
            for (order, call) in calls.into_iter().flatten().enumerate() {
                let place = number(call, "/index").unwrap_or(order as u64);
                let (name, arguments) = (text(call, "/function/name"), arguments_of(call));
                self.calls.add(place, text(call, "/id"), name, &arguments);
                written.push_str(name);
                written.push_str(&arguments);
            }
            if !text(delta, "/refusal").is_empty() {
                self.finish = Some(Finish::Refusal);
            }
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            Some("length") => self.finish = Some(Finish::Length),
            Some("content_filter") => self.finish = Some(Finish::Refusal),
            Some("tool_calls" | "function_call") => self.finish = Some(Finish::ToolCalls),
            Some(_) => self.finish = self.finish.or(Some(Finish::Stop)),
            None => {}
        }
        written
    }

    fn figures(&mut self, body: &Value) {
        if let Some(model) = body.get("model").and_then(Value::as_str) {
            self.model = Some(model.to_owned());
        }
        if let Some(usage) = body.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Usage {
                input: number(usage, "/prompt_tokens"),
                cached: number(usage, "/prompt_tokens_details/cached_tokens").unwrap_or_default(),
                cache_written: 0,
                output: number(usage, "/completion_tokens"),
                reasoning: number(usage, "/completion_tokens_details/reasoning_tokens")
                    .unwrap_or_default(),
            };
        }
    }
}

/// Arguments are JSON in a string; some servers send the object itself.
fn arguments_of(call: &Value) -> String {
    match call.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

impl Assembler for ChatAssembler {
    fn take(&mut self, event: &Event) -> Result<String, Fault> {
        if event.data.trim() == "[DONE]" {
            self.done = true;
            return Ok(String::new());
        }
        let chunk = wire::parse(&event.data)?;
        if let Some(fault) = failure(&chunk) {
            return Err(fault);
        }
        self.figures(&chunk);
        let choice = chunk.pointer("/choices/0");
        Ok(choice.map(|choice| self.choice(choice, "/delta")).unwrap_or_default())
    }

    fn is_complete(&self) -> bool {
        self.done && self.finish.is_some()
    }

    fn may_end(&self) -> bool {
        self.finish.is_some()
    }

    fn answer(self: Box<Self>) -> Answer {
        let calls = self.calls.into_calls();
        let finish = wire::finish(self.finish.unwrap_or_default(), &calls);
        let (text, usage, model) = (self.text, self.usage, self.model);
        Answer { text, calls, finish, usage, model, echo: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Schema, Tool, ToolResult};

    fn chat(official: bool) -> OpenAiChat {
        OpenAiChat { official, key_header: KeyHeader::Bearer, name: "openai" }
    }

    fn assemble(events: &[&str]) -> Result<Answer, Fault> {
        let mut assembler = chat(false).assembler();
        for data in events {
            assembler.take(&Event { name: String::new(), data: (*data).to_owned() })?;
        }
        assert!(assembler.may_end());
        Ok(assembler.answer())
    }

    #[test]
    fn a_conversation_reads_as_the_server_wants_it() {
        let request = Request {
            model: "m".to_owned(),
            system: vec![Text::new("be"), Text::cached("good")],
            messages: vec![
                Message::user("look"),
                Message::Assistant {
                    text: String::new(),
                    calls: vec![ToolCall {
                        id: "1".to_owned(),
                        name: "read".to_owned(),
                        arguments: json!({ "path": "a" }),
                        signature: None,
                    }],
                    echo: Vec::new(),
                },
                Message::Results(vec![ToolResult {
                    id: "1".to_owned(),
                    name: "read".to_owned(),
                    text: "x".to_owned(),
                    failed: false,
                }]),
            ],
            tools: vec![Tool {
                name: "read".to_owned(),
                description: "reads".to_owned(),
                parameters: json!({}),
            }],
            tool_choice: ToolChoice::Required,
            schema: Some(Schema { name: "s".to_owned(), schema: json!({}) }),
            max_output: 9,
        };
        let body = chat(true).body(&request);
        assert_eq!(body["messages"][0]["content"], "be\n\ngood");
        assert_eq!(
            body["messages"][2]["tool_calls"][0]["function"]["arguments"],
            r#"{"path":"a"}"#
        );
        assert_eq!(body["messages"][3]["tool_call_id"], "1");
        assert_eq!(body["tool_choice"], "required");
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
        assert_eq!(
            (&body["max_completion_tokens"], &body["max_tokens"]),
            (&json!(9), &Value::Null)
        );
        assert_eq!(chat(false).body(&request)["max_tokens"], 9);
    }

    #[test]
    fn a_stream_is_put_together() {
        let answer = assemble(&[
            r#"{"model":"m-1","choices":[{"delta":{"role":"assistant","content":"he"}}]}"#,
            r#"{"choices":[{"delta":{"content":"y","tool_calls":[{"index":0,"id":"c","function":{"name":"done","arguments":"{\"a"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}"#,
            "[DONE]",
        ])
        .unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("hey", Finish::ToolCalls));
        assert_eq!(answer.calls[0].arguments, json!({ "a": 1 }));
        assert_eq!((answer.usage.input, answer.usage.cached), (Some(7), 2));
        assert_eq!(answer.model.as_deref(), Some("m-1"));
    }

    #[test]
    fn a_failure_in_the_middle_is_one() {
        let fault = assemble(&[r#"{"error":{"message":"overloaded","code":503}}"#]).unwrap_err();
        assert_eq!(fault, Fault::Failed { status: 503, message: "overloaded".to_owned() });
    }

    #[test]
    fn an_answer_in_one_piece_is_read() {
        let body = json!({ "choices": [{ "finish_reason": "tool_calls", "message": {
            "content": null,
            "tool_calls": [{ "id": "x", "function": { "name": "read", "arguments": "oops" } }],
        } }] });
        let answer = chat(false).whole(&body).unwrap();
        assert_eq!(answer.calls[0].arguments, json!("oops"));
        assert!(chat(false).whole(&json!({ "choices": [] })).is_err());
    }
}
