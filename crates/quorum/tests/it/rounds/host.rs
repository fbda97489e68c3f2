//! Stand-ins for GitHub and GitLab that remember: comments, discussions, and who wrote what. The real
//! ones need a network and an account.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use wiremock::{Request, Respond, ResponseTemplate};

/// The account that the token belongs to.
pub(super) const ACCOUNT: &str = "quorum-bot";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    GitHub,
    GitLab,
}

/// A text on the host.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) id: u64,
    pub(super) author: String,
    pub(super) body: String,
    /// The file and line, for a comment on a line.
    pub(super) place: Option<(String, u64)>,
    pub(super) resolved: bool,
}

#[derive(Debug, Default)]
pub(super) struct Pull {
    pub(super) base: String,
    pub(super) head: String,
    pub(super) diff: String,
    pub(super) texts: Vec<Text>,
    drafts: Vec<Text>,
    pub(super) statuses: Vec<Value>,
    next: u64,
}

impl Pull {
    pub(super) fn say(&mut self, author: &str, body: &str, place: Option<(String, u64)>) -> u64 {
        self.next += 1;
        let (author, body) = (author.to_owned(), body.to_owned());
        self.texts.push(Text { id: self.next, author, body, place, resolved: false });
        self.next
    }

    fn amend(&mut self, id: u64, body: &Value) {
        let text = self.texts.iter_mut().find(|text| text.id == id).expect("a known comment");
        assert_eq!(text.author, ACCOUNT, "a stranger's text was changed");
        body.as_str().expect("a text").clone_into(&mut text.body);
    }

    fn settle(&mut self, id: u64, resolved: bool) {
        let text = self.texts.iter_mut().find(|text| text.id == id).expect("a known thread");
        text.resolved = resolved;
    }
}

/// A code host with one pull request, number 7 of `team/app`.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) kind: Kind,
    pull: Arc<Mutex<Pull>>,
}

impl Host {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, pull: Arc::default() }
    }

    pub(super) fn pull(&self) -> MutexGuard<'_, Pull> {
        self.pull.lock().expect("no test panicked with it")
    }
}

fn ok(value: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(value)
}

fn refuse(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "message": message }))
}

/// The number at the end of a path, after letters that a stand-in puts before it.
fn number(path: &str) -> u64 {
    let last = path.rsplit('/').next().expect("a part");
    last.trim_start_matches('T').parse().expect("a number")
}

/// Who may write: `ann` may, anybody else may not.
fn may_write(login: &str) -> bool {
    login == "ann"
}

impl Respond for Host {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = request.url.path().to_owned();
        let mut pull = self.pull();
        match self.kind {
            Kind::GitHub => github(&mut pull, request, &path, &body),
            Kind::GitLab => gitlab(&mut pull, request.method.as_str(), &path, &body),
        }
    }
}

fn github(pull: &mut Pull, request: &Request, path: &str, body: &Value) -> ResponseTemplate {
    let wants_diff =
        request.headers.get("accept").is_some_and(|accept| accept.as_bytes().ends_with(b"diff"));
    let query = body["query"].as_str().unwrap_or_default();
    let listed = |pull: &Pull, lines: bool| {
        let texts = pull.texts.iter().filter(|text| text.place.is_some() == lines);
        let texts = texts.map(|text| {
            let kind = if text.author == ACCOUNT { "Bot" } else { "User" };
            json!({ "id": text.id, "body": text.body, "created_at": format!("2026-01-01T{:08}", text.id),
                "user": { "login": text.author, "type": kind, "id": 1 } })
        });
        Value::Array(texts.collect())
    };
    match (request.method.as_str(), path.strip_prefix("/repos/team/app").unwrap_or(path)) {
        // A workflow's token belongs to an app.
        ("GET", "/user") => refuse(403, "Resource not accessible by integration"),
        ("POST", "/graphql") if query.contains("viewer") => {
            ok(&json!({ "data": { "viewer": { "login": ACCOUNT } } }))
        }
        ("POST", "/graphql") if query.starts_with("query") => {
            let lines = pull.texts.iter().filter(|text| text.place.is_some());
            let nodes: Vec<Value> = lines
                .map(|text| {
                    json!({ "id": format!("T{}", text.id), "isResolved": text.resolved,
                        "comments": { "nodes": [{ "databaseId": text.id }] } })
                })
                .collect();
            let threads = json!({ "nodes": nodes, "pageInfo": { "hasNextPage": false } });
            ok(
                &json!({ "data": { "repository": { "pullRequest": { "reviewThreads": threads } } } }),
            )
        }
        ("POST", "/graphql") => {
            let thread = body["variables"]["thread"].as_str().expect("a thread");
            pull.settle(number(thread), !query.contains("unresolve"));
            ok(&json!({ "data": {} }))
        }
        ("GET", "/pulls/7") if wants_diff => {
            ResponseTemplate::new(200).set_body_string(pull.diff.clone())
        }
        ("GET", "/pulls/7") => {
            let side = |name: &str, sha: &str| json!({ "ref": name, "sha": sha, "repo": { "id": 1, "full_name": "team/app" } });
            ok(&json!({ "number": 7, "title": "Search", "body": "", "labels": [],
                "user": { "login": "dev" }, "html_url": "https://example.org/7",
                "changed_files": 1, "base": side("main", &pull.base),
                "head": side("feature", &pull.head) }))
        }
        ("GET", "/issues/7/comments") => ok(&listed(pull, false)),
        ("GET", "/pulls/7/comments") => ok(&listed(pull, true)),
        ("GET", path) if path.starts_with("/collaborators/") => {
            let login = path.split('/').nth(2).expect("a name");
            let permission = if may_write(login) { "write" } else { "read" };
            ok(&json!({ "permission": permission }))
        }
        ("POST", "/issues/7/comments") => {
            assert!(body["body"].as_str().expect("a text").len() <= 65_536);
            let id = pull.say(ACCOUNT, body["body"].as_str().expect("a text"), None);
            ok(&json!({ "id": id }))
        }
        ("POST", "/pulls/7/reviews") => {
            for comment in body["comments"].as_array().expect("comments") {
                let file = comment["path"].as_str().expect("a path").to_owned();
                let line = comment["line"].as_u64().expect("a line");
                pull.say(ACCOUNT, comment["body"].as_str().expect("a text"), Some((file, line)));
            }
            ok(&json!({}))
        }
        ("PATCH", path) if path.contains("/comments/") => {
            pull.amend(number(path), &body["body"]);
            ok(&json!({}))
        }
        ("POST", "/check-runs") => {
            pull.statuses.push(body.clone());
            ok(&json!({ "id": 1 }))
        }
        (method, path) => refuse(404, &format!("no {method} {path}")),
    }
}

fn gitlab(pull: &mut Pull, method: &str, path: &str, body: &Value) -> ResponseTemplate {
    let below = path.strip_prefix("/projects/team%2Fapp").unwrap_or(path);
    let numbers = [("ann", 11), ("mallory", 12), (ACCOUNT, 13)];
    let id_of = |login: &str| numbers.iter().find(|(name, _)| *name == login).map(|(_, id)| *id);
    match (method, below.strip_prefix("/merge_requests/7").unwrap_or(below)) {
        ("GET", "/user") => ok(&json!({ "id": 13, "username": ACCOUNT })),
        ("GET", "") => ok(&json!({ "iid": 7, "title": "Search", "description": "", "labels": [],
            "author": { "username": "dev" }, "target_branch": "main", "source_branch": "feature",
            "target_project_id": 1, "source_project_id": 1, "changes_count": "1",
            "web_url": "https://example.org/7", "diff_refs": { "base_sha": pull.base,
                "start_sha": pull.base, "head_sha": pull.head } })),
        ("GET", "/diffs") => ok(&Value::Array(diffs(&pull.diff))),
        ("GET", "/discussions") => {
            let discussion = |text: &Text| {
                let line = text.place.is_some();
                json!({ "id": format!("T{}", text.id), "individual_note": !line, "notes": [{
                    "id": text.id, "body": text.body, "system": false, "resolvable": line,
                    "resolved": text.resolved, "created_at": format!("2026-01-01T{:08}", text.id),
                    "author": { "id": id_of(&text.author), "username": text.author } }] })
            };
            ok(&Value::Array(pull.texts.iter().map(discussion).collect()))
        }
        ("GET", "/draft_notes") => {
            let drafts = pull.drafts.iter();
            let drafts = drafts.map(|text| json!({ "id": text.id, "note": text.body }));
            ok(&Value::Array(drafts.collect()))
        }
        ("POST", "/draft_notes") => {
            let file = body["position"]["new_path"].as_str().expect("a path").to_owned();
            let line = body["position"]["new_line"].as_u64().expect("a line");
            let text = body["note"].as_str().expect("a text").to_owned();
            let id = 9_000 + pull.drafts.len() as u64;
            let (author, place) = (ACCOUNT.to_owned(), Some((file, line)));
            pull.drafts.push(Text { id, author, body: text, place, resolved: false });
            ok(&json!({}))
        }
        ("POST", "/draft_notes/bulk_publish") => {
            for draft in std::mem::take(&mut pull.drafts) {
                pull.say(ACCOUNT, &draft.body, draft.place);
            }
            ResponseTemplate::new(204)
        }
        ("POST", "/notes") => {
            pull.say(ACCOUNT, body["body"].as_str().expect("a text"), None);
            ok(&json!({}))
        }
        ("PUT", path) if path.starts_with("/notes/") => {
            pull.amend(number(path), &body["body"]);
            ok(&json!({}))
        }
        ("PUT", path) if path.starts_with("/discussions/") => {
            pull.settle(number(path), body["resolved"] == true);
            ok(&json!({}))
        }
        ("GET", path) if path.starts_with("/members/all/") => {
            match numbers.iter().find(|(_, id)| *id == number(path)) {
                Some((name, _)) if may_write(name) => ok(&json!({ "access_level": 30 })),
                Some(_) => ok(&json!({ "access_level": 20 })),
                None => refuse(404, "not found"),
            }
        }
        ("POST", path) if path.starts_with("/statuses/") => {
            pull.statuses.push(body.clone());
            ok(&json!({}))
        }
        (method, path) => refuse(404, &format!("no {method} {path}")),
    }
}

/// GitLab's form of a diff.
pub(crate) fn diffs(diff: &str) -> Vec<Value> {
    let sections = diff.split("diff --git ").filter(|section| !section.is_empty());
    sections
        .map(|section| {
            let header = |prefix: &str| {
                let line = section.lines().find(|line| line.starts_with(prefix));
                line.map(|line| line[prefix.len()..].to_owned())
            };
            let (old, new) = (header("--- a/"), header("+++ b/"));
            let hunks = section.find("\n@@").map_or("", |at| &section[at + 1..]);
            let either = || new.clone().or_else(|| old.clone());
            json!({ "old_path": old.clone().or_else(|| new.clone()), "new_path": either(),
                "a_mode": "100644", "b_mode": "100644", "diff": hunks, "new_file": old.is_none(),
                "renamed_file": old.is_some() && new.is_some() && old != new,
                "deleted_file": new.is_none() })
        })
        .collect()
}
