//! Google's Gemini.

use serde_json::{Value, json};

use crate::key::Key;
use crate::message::{Answer, Finish, Message, Request, ToolChoice};
use crate::sse::Event;
use crate::usage::Usage;
use crate::wire::{self, Assembler, CallParts, Fault, Wire, number, text};

/// `generateContent`, streamed.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn path(&self, request: &Request) -> String {
        format!("/models/{}:streamGenerateContent?alt=sse", request.model)
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.expose().to_owned())).into_iter().collect()
    }

    fn body(&self, request: &Request) -> Value {
        let system = request.system.iter().map(|text| json!({ "text": text.text }));
        let contents: Vec<Value> = request.messages.iter().map(content).collect();
        let mut body = json!({
            "systemInstruction": { "parts": system.collect::<Vec<_>>() },
            "contents": contents,
            "generationConfig": { "maxOutputTokens": request.max_output },
        });
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": tool.parameters,
                })
            });
            body["tools"] = json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }]);
            let mode = match request.tool_choice {
                ToolChoice::Auto => "AUTO",
                ToolChoice::Required => "ANY",
            };
            body["toolConfig"] = json!({ "functionCallingConfig": { "mode": mode } });
        }
        if let Some(schema) = &request.schema {
            body["generationConfig"]["responseMimeType"] = json!("application/json");
            body["generationConfig"]["responseJsonSchema"] = schema.schema.clone();
        }
        body
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(ContentAssembler::default())
    }

    fn whole(&self, body: &Value) -> Result<Answer, Fault> {
        let mut assembler = ContentAssembler::default();
        // Without `alt=sse` a proxy may pass on the stream as an array.
        match body.as_array() {
            Some(chunks) => {
                for chunk in chunks {
                    assembler.chunk(chunk)?;
                }
            }
            None => {
                assembler.chunk(body)?;
            }
        }
        if assembler.finish.is_none() {
            return Err(Fault::malformed("it holds no finished candidate"));
        }
        Ok(Box::new(assembler).answer())
    }
}

fn content(message: &Message) -> Value {
    match message {
        Message::User(blocks) => {
            let parts = blocks.iter().map(|text| json!({ "text": text.text }));
            json!({ "role": "user", "parts": parts.collect::<Vec<_>>() })
        }
        Message::Assistant { text, calls, .. } => {
            let mut parts = Vec::new();
            if !text.is_empty() {
                parts.push(json!({ "text": text }));
            }
            for call in calls {
                let args = if call.arguments.is_object() { &call.arguments } else { &json!({}) };
                let mut part = json!({ "functionCall": { "name": call.name, "args": args } });
                if let Some(signature) = &call.signature {
                    part["thoughtSignature"] = json!(signature);
                }
                parts.push(part);
            }
            json!({ "role": "model", "parts": parts })
        }
        Message::Results(results) => {
            let parts = results.iter().map(|result| {
                let key = if result.failed { "error" } else { "result" };
                json!({ "functionResponse": {
                    "name": result.name, "response": { key: result.text },
                } })
            });
            json!({ "role": "user", "parts": parts.collect::<Vec<_>>() })
        }
    }
}

#[derive(Debug, Default)]
struct ContentAssembler {
    text: String,
    calls: CallParts,
    finish: Option<Finish>,
    usage: Usage,
    model: Option<String>,
}

impl ContentAssembler {
    fn chunk(&mut self, chunk: &Value) -> Result<String, Fault> {
        if let Some(error) = chunk.get("error") {
            let status = number(error, "/code").and_then(|code| u16::try_from(code).ok());
            let message = text(error, "/message").to_owned();
            return Err(Fault::Failed { status: status.unwrap_or(500), message });
        }
        if let Some(model) = chunk.get("modelVersion").and_then(Value::as_str) {
            self.model = Some(model.to_owned());
        }
        self.figures(chunk);
        let mut written = String::new();
        let parts = chunk.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            written.push_str(&self.part(part));
        }
        match chunk.pointer("/candidates/0/finishReason").and_then(Value::as_str) {
            Some("STOP") => self.finish = Some(Finish::Stop),
            Some("MAX_TOKENS") => self.finish = Some(Finish::Length),
            // Calls that it could not write down are an answer that broke off.
            Some("MALFORMED_FUNCTION_CALL") => {
                return Err(Fault::malformed("a function call that is none"));
            }
            Some(_) => self.finish = Some(Finish::Refusal),
            None => {}
        }
        if chunk.pointer("/promptFeedback/blockReason").is_some() {
            self.finish = Some(Finish::Refusal);
        }
        Ok(written)
    }

    fn part(&mut self, part: &Value) -> String {
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            return text(part, "/text").to_owned();
        }
        if let Some(call) = part.get("functionCall") {
            let place = self.calls.len();
            let arguments = call.get("args").map(Value::to_string).unwrap_or_default();
            self.calls.add(place, text(call, "/id"), text(call, "/name"), &arguments);
            if let Some(signature) = part.get("thoughtSignature").and_then(Value::as_str) {
                self.calls.sign(place, signature);
            }
            return arguments;
        }
        self.text.push_str(text(part, "/text"));
        text(part, "/text").to_owned()
    }

    fn figures(&mut self, chunk: &Value) {
        if chunk.get("usageMetadata").is_none() {
            return;
        }
        let of = |pointer: &str| number(chunk, pointer);
        let reasoning = of("/usageMetadata/thoughtsTokenCount").unwrap_or_default();
        self.usage = Usage {
            input: of("/usageMetadata/promptTokenCount"),
            cached: of("/usageMetadata/cachedContentTokenCount").unwrap_or_default(),
            cache_written: 0,
            // Thoughts are counted apart.
            output: of("/usageMetadata/candidatesTokenCount")
                .map(|output| output.saturating_add(reasoning)),
            reasoning,
        };
    }
}

impl Assembler for ContentAssembler {
    fn take(&mut self, event: &Event) -> Result<String, Fault> {
        self.chunk(&wire::parse(&event.data)?)
    }

    fn is_complete(&self) -> bool {
        false
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

    #[test]
    fn calls_keep_their_signatures_on_the_way_there_and_back() {
        let chunks = json!([
            { "candidates": [{ "content": { "parts": [{ "text": "think", "thought": true }] } }] },
            { "candidates": [{ "content": { "parts": [
                { "functionCall": { "name": "read", "args": { "path": "a" } }, "thoughtSignature": "s" },
            ] }, "finishReason": "STOP" }],
              "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 5 } },
        ]);
        let answer = Gemini.whole(&chunks).unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("", Finish::ToolCalls));
        assert_eq!((answer.usage.output, answer.usage.reasoning), (Some(7), 5));
        let sent = content(&answer.to_message());
        assert_eq!(sent["parts"][0]["thoughtSignature"], "s");
        assert_eq!(sent["parts"][0]["functionCall"]["args"], json!({ "path": "a" }));
    }

    #[test]
    fn an_answer_without_an_end_broke_off() {
        let chunk = json!({ "candidates": [{ "content": { "parts": [{ "text": "a" }] } }] });
        assert!(Gemini.whole(&chunk).is_err());
        let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
        assert_eq!(Gemini.whole(&blocked).unwrap().finish, Finish::Refusal);
    }
}
