//! A well-formed answer in both languages, streamed or whole.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::server::Protocol;

/// What the model says in one turn.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Its words.
    pub text: String,
    /// The tools that it calls, with their arguments as it writes them.
    pub calls: Vec<(String, String)>,
    /// What the server claims that it cost.
    pub usage: Option<Usage>,
    /// Says that it had no room left.
    pub truncated: bool,
}

/// What a server claims that an answer cost.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
}

impl Turn {
    /// Words and nothing else.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A JSON document as words.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// Calls one more tool.
    #[must_use]
    pub fn call(mut self, name: &str, arguments: &Value) -> Self {
        self.calls.push((name.to_owned(), arguments.to_string()));
        self
    }

    /// Claims that it cost this.
    #[must_use]
    pub fn claiming(mut self, input: u64, output: u64) -> Self {
        self.usage = Some(Usage { input, output });
        self
    }

    /// The events of a stream, in the server's language.
    pub(crate) fn events(&self, protocol: Protocol) -> Vec<String> {
        match protocol {
            Protocol::OpenAi => self.chat_events(),
            Protocol::Anthropic => self.message_events(),
        }
    }

    /// The answer in one piece.
    pub(crate) fn whole(&self, protocol: Protocol) -> Value {
        match protocol {
            Protocol::OpenAi => json!({
                "model": "testkit", "choices": [{
                    "finish_reason": self.chat_finish(),
                    "message": { "role": "assistant", "content": self.text,
                        "tool_calls": self.calls.iter().enumerate().map(chat_call).collect::<Vec<_>>() },
                }], "usage": self.chat_usage(),
            }),
            Protocol::Anthropic => {
                let mut content = vec![json!({ "type": "text", "text": self.text })];
                content.extend(self.calls.iter().enumerate().map(|(index, (name, arguments))| {
                    json!({ "type": "tool_use", "id": format!("toolu_{index}"), "name": name,
                        "input": serde_json::from_str::<Value>(arguments).unwrap_or_default() })
                }));
                json!({ "type": "message", "model": "testkit", "content": content,
                    "stop_reason": self.message_stop(), "usage": self.message_usage() })
            }
        }
    }

    fn chat_finish(&self) -> &'static str {
        match (self.truncated, self.calls.is_empty()) {
            (true, _) => "length",
            (false, true) => "stop",
            (false, false) => "tool_calls",
        }
    }

    fn message_stop(&self) -> &'static str {
        match self.chat_finish() {
            "length" => "max_tokens",
            "stop" => "end_turn",
            _ => "tool_use",
        }
    }

    fn chat_usage(&self) -> Value {
        self.usage.map_or(
            Value::Null,
            |usage| json!({ "prompt_tokens": usage.input, "completion_tokens": usage.output }),
        )
    }

    fn message_usage(&self) -> Value {
        self.usage.map_or(
            Value::Null,
            |usage| json!({ "input_tokens": usage.input, "output_tokens": usage.output }),
        )
    }

    fn chat_events(&self) -> Vec<String> {
        let chunk = |delta: Value, finish: Value| json!({ "model": "testkit", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        let mut chunks: Vec<Value> =
            pieces(&self.text).map(|text| chunk(json!({ "content": text }), Value::Null)).collect();
        for call in self.calls.iter().enumerate() {
            chunks.push(chunk(json!({ "tool_calls": [chat_call(call)] }), Value::Null));
        }
        chunks.push(chunk(json!({}), json!(self.chat_finish())));
        chunks.push(json!({ "choices": [], "usage": self.chat_usage() }));
        let mut events: Vec<String> =
            chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    fn message_events(&self) -> Vec<String> {
        let mut events = Vec::new();
        let mut say = |body: Value| {
            let mut event = String::new();
            let kind = body["type"].as_str().unwrap_or_default();
            // Writing to a string cannot fail.
            _ = write!(event, "event: {kind}\ndata: {body}\n\n");
            events.push(event);
        };
        say(json!({ "type": "message_start",
            "message": { "model": "testkit", "usage": self.message_usage() } }));
        say(json!({ "type": "content_block_start", "index": 0,
            "content_block": { "type": "text", "text": "" } }));
        for text in pieces(&self.text) {
            say(json!({ "type": "content_block_delta", "index": 0,
                "delta": { "type": "text_delta", "text": text } }));
        }
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            say(json!({ "type": "content_block_start", "index": index + 1, "content_block": {
                "type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {} } }));
            say(json!({ "type": "content_block_delta", "index": index + 1,
                "delta": { "type": "input_json_delta", "partial_json": arguments } }));
        }
        let output = self.usage.map(|usage| usage.output);
        say(json!({ "type": "message_delta", "delta": { "stop_reason": self.message_stop() },
            "usage": { "output_tokens": output } }));
        say(json!({ "type": "message_stop" }));
        events
    }
}

fn chat_call((index, (name, arguments)): (usize, &(String, String))) -> Value {
    json!({ "index": index, "id": format!("call_{index}"), "type": "function",
        "function": { "name": name, "arguments": arguments } })
}

/// A text in pieces, as a model writes it.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let size = (characters.len() / 64).max(16);
    let pieces: Vec<String> = characters.chunks(size).map(|chunk| chunk.iter().collect()).collect();
    pieces.into_iter()
}
