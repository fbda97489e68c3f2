//! Anthropic's Messages.

use serde_json::{Value, json};

use crate::key::Key;
use crate::message::{Answer, Finish, Message, Request, Text, ToolChoice};
use crate::sse::Event;
use crate::usage::Usage;
use crate::wire::{self, Assembler, CallParts, Fault, Wire, number, text};

/// Messages.
#[derive(Debug)]
pub(crate) struct Anthropic {
    /// The key goes into the header of a token, not of a key.
    pub(crate) bearer: bool,
}

/// Places up to which the server may keep a request; it takes no more.
const MOST_CACHED: usize = 4;

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn path(&self, _request: &Request) -> String {
        "/v1/messages".to_owned()
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        headers.extend(key.map(|key| {
            if self.bearer {
                ("authorization", format!("Bearer {}", key.expose()))
            } else {
                ("x-api-key", key.expose().to_owned())
            }
        }));
        headers
    }

    fn body(&self, request: &Request) -> Value {
        let mut cached = 0;
        let mut block = |text: &Text| {
            let mut block = json!({ "type": "text", "text": text.text });
            if text.cache && cached < MOST_CACHED {
                cached += 1;
                block["cache_control"] = json!({ "type": "ephemeral" });
            }
            block
        };
        let system: Vec<Value> = request.system.iter().map(&mut block).collect();
        let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
        for message in &request.messages {
            let (role, content) = turn(message, &mut block);
            match messages.last_mut() {
                // Roles take turns; what came of calls and what we say to it is one turn.
                Some((last, blocks)) if *last == role => blocks.extend(content),
                _ => messages.push((role, content)),
            }
        }
        let messages =
            messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content }));
        let mut body = json!({
            "model": request.model,
            "max_tokens": request.max_output,
            "system": system,
            "messages": messages.collect::<Vec<_>>(),
            "stream": true,
        });
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                })
            });
            body["tools"] = tools.collect();
            let choice = match request.tool_choice {
                ToolChoice::Auto => "auto",
                ToolChoice::Required => "any",
            };
            body["tool_choice"] = json!({ "type": choice });
        }
        body
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(MessageAssembler::default())
    }

    fn whole(&self, body: &Value) -> Result<Answer, Fault> {
        if text(body, "/type") == "error" {
            return Err(failure(body));
        }
        let blocks = body.get("content").and_then(Value::as_array);
        let blocks = blocks.ok_or_else(|| Fault::malformed("it holds no content"))?;
        let mut assembler = MessageAssembler::default();
        assembler.start(body);
        for (place, block) in blocks.iter().enumerate() {
            assembler.block(place as u64, block);
            if text(block, "/type") == "tool_use" {
                let input = block.get("input").cloned().unwrap_or_default();
                assembler.calls.set_arguments(place as u64, &input.to_string());
            }
        }
        assembler.stop(body, "/stop_reason");
        Ok(Box::new(assembler).answer())
    }
}

fn turn(message: &Message, block: &mut impl FnMut(&Text) -> Value) -> (&'static str, Vec<Value>) {
    match message {
        Message::User(blocks) => ("user", blocks.iter().map(block).collect()),
        Message::Assistant { text, calls, .. } => {
            let mut content = Vec::new();
            // Empty texts are refused.
            if !text.trim().is_empty() {
                content.push(json!({ "type": "text", "text": text }));
            }
            content.extend(calls.iter().map(|call| {
                let input = if call.arguments.is_object() { &call.arguments } else { &json!({}) };
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
            }));
            if content.is_empty() {
                content.push(json!({ "type": "text", "text": "(nothing)" }));
            }
            ("assistant", content)
        }
        Message::Results(results) => {
            let results = results.iter().map(|result| {
                json!({
                    "type": "tool_result",
                    "tool_use_id": result.id,
                    "content": result.text,
                    "is_error": result.failed,
                })
            });
            ("user", results.collect())
        }
    }
}

fn failure(body: &Value) -> Fault {
    let status = match text(body, "/error/type") {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "overloaded_error" => 529,
        _ => 500,
    };
    Fault::Failed { status, message: text(body, "/error/message").to_owned() }
}

#[derive(Debug, Default)]
struct MessageAssembler {
    text: String,
    calls: CallParts,
    finish: Option<Finish>,
    usage: Usage,
    model: Option<String>,
    done: bool,
}

impl MessageAssembler {
    fn start(&mut self, message: &Value) {
        self.model = message.get("model").and_then(Value::as_str).map(str::to_owned);
        let usage = |pointer: &str| number(message, pointer);
        let cached = usage("/usage/cache_read_input_tokens").unwrap_or_default();
        let cache_written = usage("/usage/cache_creation_input_tokens").unwrap_or_default();
        self.usage = Usage {
            // The server counts what came from its cache, and went there, apart.
            input: usage("/usage/input_tokens")
                .map(|input| input.saturating_add(cached).saturating_add(cache_written)),
            cached,
            cache_written,
            output: usage("/usage/output_tokens"),
            reasoning: 0,
        };
    }

    fn block(&mut self, place: u64, block: &Value) -> String {
        match text(block, "/type") {
            "text" => {
                self.text.push_str(text(block, "/text"));
                text(block, "/text").to_owned()
            }
            "tool_use" => {
                self.calls.add(place, text(block, "/id"), text(block, "/name"), "");
                text(block, "/name").to_owned()
            }
            _ => String::new(),
        }
    }

    fn delta(&mut self, place: u64, delta: &Value) -> String {
        match text(delta, "/type") {
            "text_delta" => {
                self.text.push_str(text(delta, "/text"));
                text(delta, "/text").to_owned()
            }
            "input_json_delta" => {
                let arguments = text(delta, "/partial_json");
                self.calls.add(place, "", "", arguments);
                arguments.to_owned()
            }
            "thinking_delta" => text(delta, "/thinking").to_owned(),
            _ => String::new(),
        }
    }

    fn stop(&mut self, body: &Value, pointer: &str) {
        self.finish = match body.pointer(pointer).and_then(Value::as_str) {
            Some("tool_use") => Some(Finish::ToolCalls),
            Some("max_tokens" | "model_context_window_exceeded") => Some(Finish::Length),
            Some("refusal") => Some(Finish::Refusal),
            Some(_) => Some(Finish::Stop),
            None => self.finish,
        };
        if let Some(output) = number(body, "/usage/output_tokens") {
            self.usage.output = Some(output);
        }
    }
}

impl Assembler for MessageAssembler {
    fn take(&mut self, event: &Event) -> Result<String, Fault> {
        let body = wire::parse(&event.data)?;
        let place = number(&body, "/index").unwrap_or_default();
        match text(&body, "/type") {
            "message_start" => {
                self.start(body.get("message").unwrap_or(&Value::Null));
                Ok(String::new())
            }
            "content_block_start" => {
                Ok(self.block(place, body.get("content_block").unwrap_or(&Value::Null)))
            }
            "content_block_delta" => {
                Ok(self.delta(place, body.get("delta").unwrap_or(&Value::Null)))
            }
            "message_delta" => {
                self.stop(&body, "/delta/stop_reason");
                Ok(String::new())
            }
            "message_stop" => {
                self.done = true;
                Ok(String::new())
            }
            "error" => Err(failure(&body)),
            // Pings, and whatever is added later.
            _ => Ok(String::new()),
        }
    }

    fn is_complete(&self) -> bool {
        self.done
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
    use crate::message::{ToolCall, ToolResult};

    const WIRE: Anthropic = Anthropic { bearer: false };

    fn request(messages: Vec<Message>) -> Request {
        Request {
            model: "m".to_owned(),
            system: (0..6).map(|n| Text::cached(n.to_string())).collect(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            schema: None,
            max_output: 9,
        }
    }

    #[test]
    fn only_four_places_are_marked_for_the_cache() {
        let body = WIRE.body(&request(vec![Message::user("x")]));
        let marked = body["system"].as_array().unwrap();
        let marked = marked.iter().filter(|block| block.get("cache_control").is_some());
        assert_eq!(marked.count(), 4);
    }

    #[test]
    fn results_and_what_we_say_to_them_are_one_turn() {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "read".to_owned(),
            arguments: json!("no object"),
            signature: None,
        };
        let result = ToolResult {
            id: "1".to_owned(),
            name: "read".to_owned(),
            text: "x".to_owned(),
            failed: true,
        };
        let body = WIRE.body(&request(vec![
            Message::user("look"),
            Message::Assistant { text: " ".to_owned(), calls: vec![call], echo: Vec::new() },
            Message::Results(vec![result]),
            Message::user("be quick"),
        ]));
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3);
        assert_eq!(messages[1]["content"][0]["input"], json!({}));
        assert_eq!(messages[2]["content"][0]["is_error"], true);
        assert_eq!(messages[2]["content"][1]["text"], "be quick");
    }

    #[test]
    fn a_stream_is_put_together() {
        let mut assembler = WIRE.assembler();
        let events = [
            r#"{"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":5,"cache_read_input_tokens":20,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hey"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"done","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":12}}"#,
            r#"{"type":"message_stop"}"#,
        ];
        for data in events {
            let event = Event { name: String::new(), data: data.to_owned() };
            assembler.take(&event).unwrap();
        }
        assert!(assembler.is_complete());
        let answer = assembler.answer();
        assert_eq!((answer.text.as_str(), answer.finish), ("hey", Finish::ToolCalls));
        assert_eq!(answer.calls[0].arguments, json!({ "a": 1 }));
        assert_eq!((answer.usage.input, answer.usage.cached), (Some(25), 20));
        assert_eq!(answer.usage.output, Some(12));
    }

    #[test]
    fn an_answer_in_one_piece_is_read() {
        let body = json!({ "type": "message", "stop_reason": "max_tokens", "usage": {
            "input_tokens": 3, "output_tokens": 4 }, "content": [
            { "type": "text", "text": "a" },
            { "type": "tool_use", "id": "t", "name": "read", "input": { "path": "b" } },
        ] });
        let answer = WIRE.whole(&body).unwrap();
        assert_eq!(answer.calls[0].arguments, json!({ "path": "b" }));
        assert_eq!((answer.finish, answer.usage.input), (Finish::Length, Some(3)));
        let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error" } });
        let fault = WIRE.whole(&overloaded).unwrap_err();
        assert_eq!(fault, Fault::Failed { status: 529, message: String::new() });
    }
}
