//! What a server's language has to say for itself: how a request reads in it, and how its answers do.

use std::fmt::Debug;

use serde_json::Value;

use crate::key::Key;
use crate::message::{Answer, Finish, Request, ToolCall};
use crate::sse::Event;

/// The language of one kind of server.
pub(crate) trait Wire: Debug + Send + Sync {
    /// The provider's name.
    fn name(&self) -> &'static str;

    /// Where requests go, after the server's address.
    fn path(&self, request: &Request) -> String;

    /// The headers beside the usual ones.
    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)>;

    /// The request.
    fn body(&self, request: &Request) -> Value;

    /// Puts a streamed answer together.
    fn assembler(&self) -> Box<dyn Assembler>;

    /// Reads an answer that came in one piece.
    fn whole(&self, body: &Value) -> Result<Answer, Fault>;
}

/// Puts a streamed answer together.
pub(crate) trait Assembler: Send {
    /// Takes one event and returns what the model wrote in it.
    fn take(&mut self, event: &Event) -> Result<String, Fault>;

    /// Whether the answer has come to its end, and nothing of interest follows.
    fn is_complete(&self) -> bool;

    /// Whether the answer may end here: the model has stopped, and only figures may follow.
    fn may_end(&self) -> bool;

    /// What came so far.
    fn answer(self: Box<Self>) -> Answer;
}

/// A server's answer that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Not what its own rules say.
    Malformed(String),
    /// It reports a failure in the middle of an answer.
    Failed {
        /// The status that it would have had.
        status: u16,
        /// What it says.
        message: String,
    },
}

impl Fault {
    pub(crate) fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }
}

/// Where a text stops being JSON, in our words.
pub(crate) fn no_json(error: &serde_json::Error) -> String {
    format!("it is no JSON (line {}, column {})", error.line(), error.column())
}

/// The JSON of an event.
pub(crate) fn parse(data: &str) -> Result<Value, Fault> {
    serde_json::from_str(data).map_err(|error| Fault::malformed(no_json(&error)))
}

/// Arguments as a model wrote them: JSON, or its own words where they are none.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Pieces of tool calls that come in any order, each with its place.
#[derive(Debug, Default)]
pub(crate) struct CallParts {
    parts: std::collections::BTreeMap<u64, Part>,
}

#[derive(Debug, Default)]
struct Part {
    id: String,
    name: String,
    arguments: String,
    signature: Option<String>,
}

/// No answer has more calls than this.
const MOST_CALLS: usize = 256;

impl CallParts {
    /// Adds to the call at `place`.
    pub(crate) fn add(&mut self, place: u64, id: &str, name: &str, arguments: &str) {
        if self.parts.len() >= MOST_CALLS && !self.parts.contains_key(&place) {
            return;
        }
        let part = self.parts.entry(place).or_default();
        if !id.is_empty() {
            id.clone_into(&mut part.id);
        }
        if part.name.is_empty() {
            name.clone_into(&mut part.name);
        }
        part.arguments.push_str(arguments);
    }

    /// Replaces the arguments by what the server says they are in the end.
    pub(crate) fn set_arguments(&mut self, place: u64, arguments: &str) {
        if let Some(part) = self.parts.get_mut(&place) {
            arguments.clone_into(&mut part.arguments);
        }
    }

    pub(crate) fn sign(&mut self, place: u64, signature: &str) {
        if let Some(part) = self.parts.get_mut(&place) {
            part.signature = Some(signature.to_owned());
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.parts.len() as u64
    }

    pub(crate) fn into_calls(self) -> Vec<ToolCall> {
        let named = self.parts.into_iter().filter(|(_, part)| !part.name.is_empty());
        named
            .map(|(place, part)| ToolCall {
                // Some servers give no ids; the place is one that is unique within the turn.
                id: if part.id.is_empty() { format!("call_{place}") } else { part.id },
                name: part.name,
                arguments: arguments(&part.arguments),
                signature: part.signature,
            })
            .collect()
    }
}

/// An answer that has calls waits for them, whatever its server says.
pub(crate) fn finish(said: Finish, calls: &[ToolCall]) -> Finish {
    match said {
        Finish::Stop if !calls.is_empty() => Finish::ToolCalls,
        Finish::ToolCalls if calls.is_empty() => Finish::Stop,
        said => said,
    }
}
