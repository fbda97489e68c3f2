//! Posting, against stand-ins that refuse what the hosts document that they refuse.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use quorum_model::finding::Finding;
use quorum_model::record::{FindingRecord, RecordStatus};
use quorum_model::severity::Severity;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, Request, Respond, ResponseTemplate};

use super::support::{BASE, HEAD, Host, TOKEN, finding, record};
use crate::post::{
    Anchors, Annotation, Decision, Light, Limits, Stand, commands, decide, paginate,
};
use crate::{Forge, ForgeError, PullRequest};

/// GitHub's longest body.
const LONGEST: usize = 65_536;

/// What the stand-in has stored, and how it is to behave.
#[derive(Default)]
struct Store {
    line_comments: Vec<Value>,
    notes: Vec<Value>,
    drafts: Vec<Value>,
    checks: Vec<Value>,
    statuses: Vec<Value>,
    /// Refuse this many writes as too many at once.
    busy: usize,
    /// Break off after this many writes.
    breaks_after: Option<usize>,
    writes: usize,
    may_check: bool,
    /// Comments whose discussions are closed, by id.
    resolved: BTreeSet<u64>,
}

/// The account that the token belongs to.
const ACCOUNT: &str = "quorum-bot";

#[derive(Clone, Default)]
struct StandIn(Arc<Mutex<Store>>);

/// Lines 10 to 12 of `a.go` are in the diff.
fn in_diff(comment: &Value) -> bool {
    let line = |key: &str| comment[key].as_u64();
    comment["path"] == "a.go"
        && line("line").is_some_and(|line| (10..=12).contains(&line))
        && line("start_line").is_none_or(|start| (10..=12).contains(&start))
}

fn refuse(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "message": message }))
}

impl Respond for StandIn {
    #[expect(clippy::too_many_lines, reason = "one arm for each thing that a host answers")]
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut store = self.0.lock().unwrap();
        let path = request.url.path();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let query = body["query"].as_str().unwrap_or_default();
        let writes = request.method.as_str() != "GET" && !query.starts_with("query");
        if writes {
            if store.busy > 0 {
                store.busy -= 1;
                return refuse(403, "You have exceeded a secondary rate limit")
                    .insert_header("retry-after", "0");
            }
            if store.breaks_after.is_some_and(|most| store.writes >= most) {
                return refuse(502, "Bad gateway");
            }
            store.writes += 1;
        }
        let ok = |value: Value| ResponseTemplate::new(200).set_body_json(value);
        let too_long = |text: &Value| text.as_str().is_some_and(|text| text.len() > LONGEST);
        match (request.method.as_str(), path) {
            ("GET", "/user") => ok(json!({ "id": 5, "login": ACCOUNT, "username": ACCOUNT })),
            ("POST", "/graphql") if query.starts_with("query") => {
                let nodes: Vec<Value> = store
                    .line_comments
                    .iter()
                    .map(|comment| {
                        let id = comment["id"].as_u64().unwrap();
                        json!({ "id": format!("T{id}"), "isResolved": store.resolved.contains(&id),
                        "comments": { "nodes": [{ "databaseId": id }] } })
                    })
                    .collect();
                let page = json!({ "nodes": nodes, "pageInfo": { "hasNextPage": false } });
                ok(
                    json!({ "data": { "repository": { "pullRequest": { "reviewThreads": page } } } }),
                )
            }
            ("POST", "/graphql") => {
                let thread = body["variables"]["thread"].as_str().unwrap();
                let id: u64 = thread.trim_start_matches('T').parse().unwrap();
                store.settle(id, !query.contains("unresolve"));
                ok(json!({ "data": {} }))
            }
            ("GET", "/repos/octo/repo/issues/7/comments") => ok(json!(store.notes)),
            ("GET", "/repos/octo/repo/pulls/7/comments") => ok(json!(store.line_comments)),
            ("POST", "/repos/octo/repo/issues/7/comments") if too_long(&body["body"]) => {
                refuse(422, "body is too long (maximum is 65536 characters)")
            }
            ("POST", "/repos/octo/repo/issues/7/comments") => {
                let id = 100 + store.notes.len();
                let user = json!({ "login": ACCOUNT, "type": "Bot" });
                store.notes.push(json!({ "id": id, "body": body["body"], "user": user }));
                ok(json!({ "id": id }))
            }
            ("PATCH", path) if path.starts_with("/repos/octo/repo/issues/comments/") => {
                let id: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
                let note = store.notes.iter_mut().find(|note| note["id"] == id).unwrap();
                note["body"] = body["body"].clone();
                ok(json!({}))
            }
            ("PATCH", path) if path.starts_with("/repos/octo/repo/pulls/comments/") => {
                let id: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
                let comment = store.line_comments.iter_mut().find(|c| c["id"] == id).unwrap();
                comment["body"] = body["body"].clone();
                ok(json!({}))
            }
            ("POST", "/repos/octo/repo/pulls/7/reviews") => {
                let comments = body["comments"].as_array().unwrap().clone();
                if !comments.iter().all(in_diff) {
                    return refuse(422, "Line could not be resolved");
                }
                for comment in comments {
                    store.keep_line_comment(comment);
                }
                ok(json!({}))
            }
            ("POST", "/repos/octo/repo/pulls/7/comments") => {
                if !in_diff(&body) {
                    return refuse(422, "line must be part of the diff");
                }
                store.keep_line_comment(body);
                ok(json!({}))
            }
            ("POST", "/repos/octo/repo/check-runs") if !store.may_check => {
                refuse(403, "Resource not accessible by integration")
            }
            ("POST" | "PATCH", path) if path.starts_with("/repos/octo/repo/check-runs") => {
                if body["output"]["annotations"].as_array().is_some_and(|all| all.len() > 50) {
                    return refuse(422, "No more than 50 annotations are allowed");
                }
                store.checks.push(body);
                ok(json!({ "id": 5 }))
            }
            ("POST", path) if path.starts_with("/repos/octo/repo/statuses/") => {
                store.statuses.push(body);
                ok(json!({}))
            }
            ("GET", path) if path.ends_with("/merge_requests/7/discussions") => {
                let all = store.notes.iter().chain(&store.line_comments);
                let all = all.map(|note| {
                    let mut note = note.clone();
                    let id = note["id"].as_u64().unwrap();
                    if note["author"].is_null() {
                        note["author"] = json!({ "id": 5, "username": ACCOUNT });
                    }
                    note["resolvable"] = json!(!note["position"].is_null());
                    note["resolved"] = json!(store.resolved.contains(&id));
                    json!({ "id": format!("T{id}"), "notes": [note] })
                });
                ok(json!(all.collect::<Vec<_>>()))
            }
            ("PUT", path) if path.contains("/merge_requests/7/discussions/T") => {
                let id: u64 = path.rsplit('T').next().unwrap().parse().unwrap();
                store.settle(id, body["resolved"] == true);
                ok(json!({}))
            }
            ("GET", path) if path.ends_with("/merge_requests/7/draft_notes") => {
                ok(json!(store.drafts))
            }
            ("POST", path) if path.ends_with("/merge_requests/7/draft_notes") => {
                if !(10..=12).contains(&body["position"]["new_line"].as_u64().unwrap_or(0)) {
                    return refuse(400, "Line code can't be blank");
                }
                let id = 300 + store.drafts.len();
                let draft = json!({ "id": id, "note": body["note"], "position": body["position"] });
                store.drafts.push(draft);
                ok(json!({}))
            }
            ("POST", path) if path.ends_with("/draft_notes/bulk_publish") => {
                for draft in std::mem::take(&mut store.drafts) {
                    let id = 200 + store.line_comments.len();
                    let note =
                        json!({ "id": id, "body": draft["note"], "position": draft["position"] });
                    store.line_comments.push(note);
                }
                ResponseTemplate::new(204)
            }
            ("POST", path) if path.ends_with("/merge_requests/7/notes") => {
                let id = 100 + store.notes.len();
                store.notes.push(json!({ "id": id, "body": body["body"], "position": null }));
                ok(json!({}))
            }
            ("PUT", path) if path.contains("/merge_requests/7/notes/") => {
                let id: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
                let Store { notes, line_comments, .. } = &mut *store;
                let note = notes.iter_mut().chain(line_comments).find(|n| n["id"] == id).unwrap();
                note["body"] = body["body"].clone();
                ok(json!({}))
            }
            ("POST", path) if path.contains("/statuses/") => {
                store.statuses.push(body);
                ok(json!({}))
            }
            (method, path) => refuse(404, &format!("no {method} {path}")),
        }
    }
}

impl Store {
    fn keep_line_comment(&mut self, mut comment: Value) {
        comment["id"] = json!(200 + self.line_comments.len());
        comment["user"] = json!({ "login": ACCOUNT, "type": "Bot" });
        self.line_comments.push(comment);
    }

    fn settle(&mut self, id: u64, resolved: bool) {
        if resolved {
            self.resolved.insert(id);
        } else {
            self.resolved.remove(&id);
        }
    }
}

fn request() -> PullRequest {
    PullRequest {
        number: 7,
        title: String::new(),
        description: String::new(),
        labels: Vec::new(),
        author: String::new(),
        base_ref: "main".to_owned(),
        base_sha: BASE.to_owned(),
        head_ref: "topic".to_owned(),
        head_sha: HEAD.to_owned(),
        from_fork: false,
        url: String::new(),
        start_sha: BASE.to_owned(),
    }
}

fn stand_in() -> (Host, StandIn) {
    let (host, stand_in) = (Host::start(), StandIn::default());
    host.mount(Mock::given(any()).respond_with(stand_in.clone()));
    (host, stand_in)
}

fn anchors() -> Anchors {
    let mut anchors = Anchors::default();
    anchors.add("a.go", "a.go", (10, 10), b" one\n+two\n+three\n");
    anchors
}

fn stand(finding: &Finding, status: RecordStatus) -> Stand<'_> {
    let record = FindingRecord { status, line: finding.line, ..record(&finding.id, "a.go") };
    Stand { finding, record }
}

/// One whole posting, as the command line does it: what is at line 0 is resolved.
fn post(forge: &dyn Forge, fingerprints: &[(&str, u64)]) -> Result<Decision, ForgeError> {
    let findings = fingerprints.iter().map(|(f, line)| finding(f, "a.go", *line, Severity::High));
    let findings: Vec<Finding> = findings.collect();
    let status = |one: &Finding| match one.line {
        0 => RecordStatus::Resolved,
        _ => RecordStatus::Open,
    };
    let stands: Vec<Stand<'_>> = findings.iter().map(|one| stand(one, status(one))).collect();
    let posted = forge.posted(7, &forge.account()?)?;
    let decision = decide(&stands, &anchors(), &posted, Limits::of(forge.dialect()));
    if !decision.comments.is_empty() || posted.unpublished {
        forge.comment(&request(), &decision.comments)?;
    }
    for amendment in &decision.amendments {
        forge.amend(&request(), amendment)?;
    }
    for settlement in &decision.settlements {
        forge.settle(&request(), settlement)?;
    }
    let open = findings.iter().filter(|one| one.line > 0).count();
    let pages = paginate(&decision.state, forge.dialect(), |_| format!("{open} findings"));
    forge.summarise(&request(), posted.summary.as_ref(), &pages.summary)?;
    Ok(decision)
}

fn both(test: impl Fn(&dyn Forge, &StandIn)) {
    let (host, stand_in) = self::stand_in();
    test(&*host.github(&[("GITHUB_TOKEN", TOKEN)]), &stand_in);
    let (host, stand_in) = self::stand_in();
    test(&*host.gitlab(&[("GITLAB_TOKEN", TOKEN)]), &stand_in);
}

#[test]
fn posting_twice_changes_nothing() {
    both(|forge, stand_in| {
        post(forge, &[("a", 11), ("b", 12)]).unwrap();
        let writes = stand_in.0.lock().unwrap().writes;
        post(forge, &[("a", 11), ("b", 12)]).unwrap();
        let store = stand_in.0.lock().unwrap();
        assert_eq!((store.line_comments.len(), store.notes.len()), (2, 1));
        assert_eq!(store.writes, writes, "the second posting wrote something");
    });
}

#[test]
fn the_summary_is_edited_and_a_gone_finding_is_marked() {
    both(|forge, stand_in| {
        post(forge, &[("a", 11), ("b", 12)]).unwrap();
        post(forge, &[("a", 11), ("b", 0)]).unwrap();
        let store = stand_in.0.lock().unwrap();
        assert_eq!(store.notes.len(), 1);
        assert_eq!(store.resolved.len(), 1, "its discussion is closed");
        assert!(store.notes[0]["body"].as_str().unwrap().starts_with("1 findings"));
        let bodies: Vec<&str> =
            store.line_comments.iter().map(|c| c["body"].as_str().unwrap()).collect();
        assert!(bodies.iter().any(|body| body.starts_with("**Resolved.**")), "{bodies:?}");
    });
}

#[test]
fn a_finding_outside_the_diff_goes_to_the_summary() {
    both(|forge, stand_in| {
        let decision = post(forge, &[("a", 11), ("c", 400)]).unwrap();
        assert_eq!(decision.in_summary_only, ["F-c"]);
        assert_eq!(stand_in.0.lock().unwrap().line_comments.len(), 1);
    });
}

#[test]
fn one_line_that_the_host_refuses_does_not_cost_the_others() {
    both(|forge, stand_in| {
        let (a, b) =
            (finding("a", "a.go", 11, Severity::High), finding("b", "a.go", 12, Severity::Low));
        let stands = [stand(&a, RecordStatus::Open), stand(&b, RecordStatus::Open)];
        let posted = forge.posted(7, ACCOUNT).unwrap();
        let limits = Limits::of(forge.dialect());
        let mut decision = decide(&stands, &anchors(), &posted, limits);
        // As if the host's diff were another than the one that was read.
        decision.comments[0].line = 90;
        decision.comments[0].start_line = 90;
        assert_eq!(forge.comment(&request(), &decision.comments).unwrap(), [0]);
        assert_eq!(stand_in.0.lock().unwrap().line_comments.len(), 1);
    });
}

#[test]
fn too_many_requests_are_waited_out() {
    both(|forge, stand_in| {
        stand_in.0.lock().unwrap().busy = 2;
        post(forge, &[("a", 11)]).unwrap();
        assert_eq!(stand_in.0.lock().unwrap().line_comments.len(), 1);
    });
}

#[test]
fn a_posting_that_broke_off_is_finished_without_doubles() {
    for breaks_after in 0..5 {
        both(|forge, stand_in| {
            stand_in.0.lock().unwrap().breaks_after = Some(breaks_after);
            drop(post(forge, &[("a", 11), ("b", 12)]));
            stand_in.0.lock().unwrap().breaks_after = None;
            post(forge, &[("a", 11), ("b", 12)]).unwrap();
            let store = stand_in.0.lock().unwrap();
            let counts = (store.line_comments.len(), store.notes.len(), store.drafts.len());
            assert_eq!(counts, (2, 1, 0), "broken after {breaks_after} writes");
        });
    }
}

fn light(annotations: usize) -> Light {
    let annotation = Annotation {
        path: "a.go".to_owned(),
        start_line: 11,
        end_line: 11,
        failure: true,
        title: "t".to_owned(),
        message: "m".to_owned(),
    };
    Light {
        passed: false,
        title: "BLOCKED".to_owned(),
        summary: "s".to_owned(),
        annotations: vec![annotation; annotations],
    }
}

#[test]
fn annotations_go_in_batches() {
    let (host, stand_in) = stand_in();
    stand_in.0.lock().unwrap().may_check = true;
    host.github(&[("GITHUB_TOKEN", TOKEN)]).light(&request(), &light(120)).unwrap();
    let store = stand_in.0.lock().unwrap();
    assert_eq!(store.checks.len(), 3);
    assert_eq!(store.checks[0]["conclusion"], "failure");
}

#[test]
fn without_the_right_to_make_checks_there_is_a_status() {
    let (host, stand_in) = stand_in();
    host.github(&[("GITHUB_TOKEN", TOKEN)]).light(&request(), &light(1)).unwrap();
    assert_eq!(stand_in.0.lock().unwrap().statuses[0]["state"], "failure");
}

#[test]
fn a_rehearsal_asks_and_writes_nothing() {
    both(|forge, stand_in| {
        forge.rehearse();
        post(forge, &[("a", 11)]).unwrap();
        assert_eq!(stand_in.0.lock().unwrap().writes, 0);
        let calls = forge.rehearsed();
        assert!(calls.len() >= 2, "{calls:?}");
        let text = format!("{calls:?}");
        assert!(text.contains("quorum:finding v1") && !text.contains(TOKEN), "{text}");
    });
}

#[test]
fn a_marker_in_anybody_elses_text_is_data() {
    both(|forge, stand_in| {
        post(forge, &[("a", 11)]).unwrap();
        let mut store = stand_in.0.lock().unwrap();
        for list in ["notes", "lines"] {
            let list = if list == "notes" { &mut store.notes } else { &mut store.line_comments };
            let mut forged = list[0].clone();
            forged["id"] = json!(900);
            forged["user"] = json!({ "login": "mallory", "id": 9, "type": "User" });
            forged["author"] = json!({ "id": 9, "username": "mallory" });
            let text = format!("/quorum dismiss F-a no\n{}", forged["body"].as_str().unwrap());
            forged["body"] = json!(text);
            list.insert(0, forged);
        }
        drop(store);
        let posted = forge.posted(7, ACCOUNT).unwrap();
        assert_eq!(posted.comments.len(), 1);
        assert_ne!(posted.comments[0].note.id, "900");
        assert!(posted.summary.as_ref().is_some_and(|note| note.id != "900"));
        // What others say to Quorum is kept with who said it.
        assert_eq!(posted.remarks.len(), 2);
        assert!(posted.remarks.iter().all(|one| one.author.login == "mallory"));
        assert!(posted.remarks.iter().all(|one| commands(&one.text).len() == 1));
    });
}
