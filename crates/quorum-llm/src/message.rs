//! Requests and answers in our own words.

use std::io::BufWriter;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::usage::Usage;

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The name that the provider knows the model by.
    pub model: String,
    /// Who the model is to be and what it must keep to.
    pub system: Vec<Text>,
    /// The conversation so far; it begins with the user.
    pub messages: Vec<Message>,
    /// What the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Whether it has to call something.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The form of an answer that is no tool call, where the server can be held to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// The most tokens that it may write.
    pub max_output: u64,
}

impl Request {
    /// The same for requests that ask for the same thing.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // A request has only strings for keys, so it always has a JSON form.
        drop(serde_json::to_writer(BufWriter::new(&mut hasher), self));
        hasher.finalize().to_hex().to_string()
    }

    /// Puts what `clean` gives in the place of every text that is sent, those of tools and schemas
    /// aside, which are part of the program.
    pub fn clean<E>(&mut self, clean: impl Fn(&str) -> Result<String, E>) -> Result<(), E> {
        for text in &mut self.system {
            text.text = clean(&text.text)?;
        }
        for message in &mut self.messages {
            match message {
                Message::User(blocks) => {
                    for text in blocks {
                        text.text = clean(&text.text)?;
                    }
                }
                Message::Assistant { text, .. } => *text = clean(text)?,
                Message::Results(results) => {
                    for result in results {
                        result.text = clean(&result.text)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Every text that is sent, in order; what tokens are counted of.
    pub fn texts(&self) -> Vec<std::borrow::Cow<'_, str>> {
        let mut texts: Vec<std::borrow::Cow<'_, str>> = Vec::new();
        texts.extend(self.system.iter().map(|text| text.text.as_str().into()));
        for tool in &self.tools {
            texts.push(tool.name.as_str().into());
            texts.push(tool.description.as_str().into());
            texts.push(tool.parameters.to_string().into());
        }
        texts.extend(self.schema.iter().map(|schema| schema.schema.to_string().into()));
        for message in &self.messages {
            match message {
                Message::User(blocks) => {
                    texts.extend(blocks.iter().map(|text| text.text.as_str().into()));
                }
                Message::Assistant { text, calls, .. } => {
                    texts.push(text.as_str().into());
                    for call in calls {
                        texts.push(call.name.as_str().into());
                        texts.push(call.arguments.to_string().into());
                    }
                }
                Message::Results(results) => {
                    texts.extend(results.iter().map(|result| result.text.as_str().into()));
                }
            }
        }
        texts
    }
}

/// A piece of text, and whether what comes up to its end is worth keeping in the provider's cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Requests that begin the same way up to here are likely to follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache: bool,
}

impl Text {
    /// A text that ends no common beginning.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), cache: false }
    }

    /// A text up to which other requests are the same.
    pub fn cached(text: impl Into<String>) -> Self {
        Self { text: text.into(), cache: true }
    }
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// What we say.
    User(Vec<Text>),
    /// What the model said.
    Assistant {
        /// Its words.
        text: String,
        /// What it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// What its provider wants back unchanged.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        echo: Vec<Value>,
    },
    /// What came of its calls, all calls of the turn before.
    Results(Vec<ToolResult>),
}

impl Message {
    /// A turn of ours with one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Text::new(text)])
    }
}

/// Something that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON schema of its arguments.
    pub parameters: Value,
}

/// Whether a model has to call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It must.
    Required,
}

/// A call that a model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments; a string where the model wrote something that is no JSON.
    pub arguments: Value,
    /// What its provider wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the model is told.
    pub text: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// A name for it.
    pub name: String,
    /// A JSON schema that all providers can enforce: objects are closed, all properties required.
    pub schema: Value,
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Its words, without what it thought.
    pub text: String,
    /// What it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// What it cost, as far as the provider says.
    #[serde(default)]
    pub usage: Usage,
    /// The model that answered, as far as the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What its provider wants back unchanged in the next request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub echo: Vec<Value>,
}

impl Answer {
    /// The answer as a turn of the conversation.
    pub fn to_message(&self) -> Message {
        Message::Assistant {
            text: self.text.clone(),
            calls: self.calls.clone(),
            echo: self.echo.clone(),
        }
    }

    /// Everything that the model wrote; what tokens are counted of.
    pub fn written(&self) -> String {
        let mut written = self.text.clone();
        for call in &self.calls {
            written.push_str(&call.name);
            written.push_str(&call.arguments.to_string());
        }
        written
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// It had no room left.
    Length,
    /// The provider held the answer back.
    Refusal,
    /// We stopped it.
    Cut,
}
