//! A code host to test against.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use quorum_model::config::{ForgeConfig, ForgeKind};
use quorum_model::finding::Finding;
use quorum_model::record::{FindingRecord, RecordStatus};
use quorum_model::severity::Severity;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockBuilder, MockServer, Request, ResponseTemplate};

use crate::connect::connect_with;
use crate::http::Limits;
use crate::{Forge, ForgeError};

pub(super) const TOKEN: &str = "tok-3f9a7c-secret";
pub(super) const BASE: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
pub(super) const HEAD: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
pub(super) const PULL: &str = "/repos/octo/repo/pulls/7";
pub(super) const MERGE: &str = "/projects/group%2Fsub%2Fproject/merge_requests/7";

/// Limits with which a failing test fails soon.
pub(super) const QUICK: Limits = Limits {
    timeout: Duration::from_secs(5),
    attempts: 3,
    backoff: Duration::from_millis(1),
    longest_pause: Duration::from_millis(5),
    longest_wait: Duration::from_secs(2),
    body: 64 * 1024,
};

/// A server that answers as it is told.
pub(super) struct Host {
    runtime: Runtime,
    pub(super) server: MockServer,
}

impl Host {
    pub(super) fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let server = runtime.block_on(MockServer::start());
        Self { runtime, server }
    }

    /// A server that gives one answer to everything.
    pub(super) fn always(answer: ResponseTemplate) -> Self {
        let host = Self::start();
        host.mount(Mock::given(method("GET")).respond_with(answer));
        host
    }

    pub(super) fn mount(&self, mock: Mock) {
        self.runtime.block_on(mock.mount(&self.server));
    }

    pub(super) fn on(&self, at: &str, answer: ResponseTemplate) {
        self.mount(at_path(at).respond_with(answer));
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    pub(super) fn github(&self, env: &[(&str, &str)]) -> Box<dyn Forge> {
        connect_to(ForgeKind::GitHub, &self.server.uri(), env, QUICK)
    }

    pub(super) fn gitlab(&self, env: &[(&str, &str)]) -> Box<dyn Forge> {
        connect_to(ForgeKind::GitLab, &self.server.uri(), env, QUICK)
    }
}

pub(super) fn at_path(at: &str) -> MockBuilder {
    Mock::given(method("GET")).and(path(at))
}

pub(super) fn connect_to(
    kind: ForgeKind,
    address: &str,
    env: &[(&str, &str)],
    limits: Limits,
) -> Box<dyn Forge> {
    let repository = match kind {
        ForgeKind::GitHub => "octo/repo",
        ForgeKind::GitLab => "group/sub/project",
    };
    let config = ForgeConfig {
        kind: Some(kind),
        api_url: Some(address.to_owned()),
        repository: Some(repository.to_owned()),
        remote: None,
        account: None,
    };
    connect_with(&config, None, &variables(env), limits).unwrap()
}

pub(super) fn variables<'a>(env: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

/// A server that answers each connection with these bytes, as they are, and hangs up.
pub(super) fn raw_server(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            // What was asked does not matter, and the client may hang up first.
            let _read = stream.read(&mut request);
            let _sent = stream.write_all(&answer);
        }
    });
    address
}

/// The cause and the way out, both checked to be one line.
#[track_caller]
pub(super) fn told(error: &ForgeError) -> (String, String) {
    let (message, hint) = (error.to_string(), error.hint().unwrap());
    assert!(!message.contains('\n') && !hint.contains('\n'), "{message:?} {hint:?}");
    (message, hint)
}

pub(super) fn pull() -> Value {
    json!({
        "number": 7,
        "title": "Add a cache",
        "body": "It is faster.",
        "labels": [{"name": "perf"}, {"name": "size/S"}],
        "user": {"login": "alice"},
        "base": {"ref": "main", "sha": BASE, "repo": {"id": 1}},
        "head": {"ref": "cache", "sha": HEAD, "repo": {"id": 1}},
        "html_url": "https://github.com/octo/repo/pull/7",
        "changed_files": 1,
        "unknown": {"to": "us"},
    })
}

pub(super) fn merge_request() -> Value {
    json!({
        "iid": 7,
        "title": "Add a cache",
        "description": "It is faster.",
        "labels": ["perf", "size::S"],
        "author": {"username": "alice"},
        "target_branch": "main",
        "source_branch": "cache",
        "target_project_id": 1,
        "source_project_id": 1,
        "diff_refs": {"base_sha": BASE, "start_sha": BASE, "head_sha": HEAD, "start_sha": BASE},
        "changes_count": "1",
        "web_url": "https://gitlab.com/group/sub/project/-/merge_requests/7",
    })
}

pub(super) fn json_answer(value: impl serde::Serialize) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(value)
}

/// A finding of one line.
pub(crate) fn finding(fingerprint: &str, file: &str, line: u64, severity: Severity) -> Finding {
    let value = json!({
        "id": format!("F-{fingerprint}"), "fingerprint": fingerprint, "severity": severity,
        "category": "logic", "rule": "r", "file": file, "line": line, "end_line": line,
        "evidence": "x", "issue": "It is wrong. Truly.", "recommendation": "Do it right.",
        "cwe": null, "agents": ["go-reviewer"], "corroboration": 1, "confidence": 0.9,
        "state": "new",
    });
    serde_json::from_value(value).unwrap()
}

/// What a pull request remembers of a finding.
pub(crate) fn record(id: &str, file: &str) -> FindingRecord {
    FindingRecord {
        id: id.to_owned(),
        status: RecordStatus::Open,
        fingerprints: vec!["0123456789abcdef0123456789abcdef".to_owned()],
        severity: Severity::High,
        category: "logic".to_owned(),
        rule: Some("r".to_owned()),
        agents: vec!["go-reviewer".to_owned()],
        file: file.to_owned(),
        line: 11,
        end_line: 11,
        title: "It is wrong".to_owned(),
        code: vec!["0123456789".to_owned()],
        before: vec!["1123456789".to_owned(), "2123456789".to_owned(), "{".to_owned()],
        after: vec!["3123456789".to_owned(), "}".to_owned()],
    }
}
