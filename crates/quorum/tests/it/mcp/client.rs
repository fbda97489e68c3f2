//! A client of few words: JSON-RPC over the server's standard input and output.

#![expect(clippy::needless_pass_by_value, reason = "calls are written as they are sent")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use quorum_index::Counter;
use quorum_model::config::Tokenizer;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A client and the server that it started.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// What the server said about itself.
    pub(crate) server: Value,
    /// What it was told without having asked.
    pub(crate) notifications: Vec<Value>,
}

impl Client {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_with(sandbox, arguments, |_| {})
    }

    /// Starts the server with changes to its environment.
    pub(crate) fn start_with(
        sandbox: &Sandbox,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut all = vec!["mcp"];
        all.extend(arguments);
        let mut command = sandbox.command(&all);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().expect("quorum runs");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut client =
            Self { child, input, output, last: 0, server: Value::Null, notifications: Vec::new() };
        let answer = client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        client.server = answer["result"].clone();
        client.notify("notifications/initialized", json!({}));
        client
    }

    pub(crate) fn raw(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the server listens");
    }

    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }).to_string());
    }

    pub(crate) fn send(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        self.raw(&request.to_string());
        id
    }

    /// The answer to a request; what comes before it is kept if it asks for no answer.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("the server answers");
            assert!(read > 0, "the server went away");
            let message: Value = serde_json::from_str(&line).expect("only JSON on standard output");
            if message["id"] == id {
                return message;
            }
            if message.get("id").is_none() {
                self.notifications.push(message);
            }
        }
    }

    /// The id of whatever is answered next.
    pub(crate) fn next_id(&mut self) -> u64 {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        let message: Value = serde_json::from_str(&line).expect("only JSON on standard output");
        message["id"].as_u64().unwrap_or_default()
    }

    pub(crate) fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        self.answer(id)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    pub(crate) fn call_with(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    /// The texts of an answer that is no error.
    pub(crate) fn tool(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let answer = self.call(tool, arguments);
        assert_ne!(answer["result"]["isError"], true, "{tool}: {answer}");
        let blocks = answer["result"]["content"].as_array();
        let blocks = blocks.unwrap_or_else(|| panic!("{tool}: {answer}"));
        blocks.iter().map(|block| block["text"].as_str().expect("a text").to_owned()).collect()
    }

    /// The first text of an answer, which is JSON.
    pub(crate) fn json(&mut self, tool: &str, arguments: Value) -> Value {
        let texts = self.tool(tool, arguments);
        serde_json::from_str(&texts[0]).unwrap_or_else(|_| panic!("{tool}: {}", texts[0]))
    }

    /// The code of an error.
    pub(crate) fn code(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{tool}: {answer}");
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        let error: Value = serde_json::from_str(text).expect("JSON");
        error["error"]["code"].as_str().expect("a code").to_owned()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Tokens as the server counts them.
pub(crate) fn tokens(text: &str) -> u64 {
    Counter::new(Tokenizer::default()).count(text.as_bytes())
}
