//! Writing to a pull request on GitHub.

use reqwest::{Method, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::files::has_next;
use super::{GitHub, JSON, LAST_PAGE, PAGE};
use crate::error::ForgeError;
use crate::http::Request;
use crate::post::{
    Amendment, Annotation, Comment, Dialect, Light, Note, Person, Posted, PostedComment, Rehearsed,
    Remark, Settlement, commands, finding_in,
};
use crate::{PullRequest, Write};

/// Annotations in one request, the most that GitHub takes.
const ANNOTATIONS: usize = 50;

/// Characters of the line beside a commit status.
const DESCRIPTION: usize = 140;

/// The name of the check.
const CHECK: &str = "quorum";

impl Write for GitHub {
    fn dialect(&self) -> Dialect {
        Dialect::GitHub
    }

    fn account(&self) -> Result<String, ForgeError> {
        let url = self.http.url(&["user"]);
        match self.http.get_json::<User>(&asked(url, "the account of the token")) {
            Ok((user, _)) => Ok(user.login),
            // The token of a workflow belongs to an app, which is no user.
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => self.viewer(),
            Err(error) => Err(error),
        }
    }

    fn posted(&self, number: u64, account: &str) -> Result<Posted, ForgeError> {
        let mut posted = Posted::default();
        let is_ours =
            |user: Option<&User>| user.is_some_and(|user| user.login.eq_ignore_ascii_case(account));
        for comment in self.list::<IssueComment>(&self.issue(number, &["comments"]))? {
            let body = comment.body.unwrap_or_default();
            if is_ours(comment.user.as_ref()) {
                posted.take(Note { id: comment.id.to_string(), body });
            } else {
                posted.remarks.extend(remark(comment.user, body, comment.url, comment.created_at));
            }
        }
        let mut lines = Vec::new();
        for comment in self.list::<LineComment>(&self.url(number, &["comments"]))? {
            let body = comment.body.unwrap_or_default();
            if !is_ours(comment.user.as_ref()) {
                posted.remarks.extend(remark(comment.user, body, comment.url, comment.created_at));
            } else if let Some(record) = finding_in(&body) {
                let note = Note { id: comment.id.to_string(), body };
                lines.push((comment.id, PostedComment { note, record, thread: None }));
            }
        }
        posted.remarks.sort_by(|a, b| a.at.cmp(&b.at));
        if !lines.is_empty() {
            match self.threads(number) {
                Ok(mut threads) => {
                    for (id, comment) in &mut lines {
                        comment.thread = threads.remove(id);
                    }
                }
                Err(error) => {
                    posted
                        .problems
                        .push(format!("discussions are neither closed nor opened: {error}"));
                }
            }
        }
        posted.comments = lines.into_iter().map(|(_, comment)| comment).collect();
        Ok(posted)
    }

    fn may_write(&self, person: &Person) -> Result<bool, ForgeError> {
        let url = self.below(&["collaborators", &person.login, "permission"]);
        match self.http.get_json::<Permission>(&asked(url, "the permission of a person")) {
            Ok((answer, _)) => Ok(matches!(answer.permission.as_str(), "admin" | "write")),
            Err(ForgeError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn settle(&self, _request: &PullRequest, settlement: &Settlement) -> Result<(), ForgeError> {
        self.settle_thread(settlement)
    }

    /// All comments as one review. Where GitHub refuses it for a line, each goes alone, so that one
    /// bad line does not cost the others.
    fn comment(
        &self,
        request: &PullRequest,
        comments: &[Comment],
    ) -> Result<Vec<usize>, ForgeError> {
        if comments.is_empty() {
            return Ok(Vec::new());
        }
        let all: Vec<Value> = comments.iter().map(line_comment).collect();
        let review = json!({ "commit_id": request.head_sha, "event": "COMMENT", "comments": all });
        match self.write(&Method::POST, self.url(request.number, &["reviews"]), &review) {
            Ok(()) => return Ok(Vec::new()),
            Err(ForgeError::Rejected { status: 422, .. }) => {}
            Err(error) => return Err(error),
        }
        let mut refused = Vec::new();
        for (number, comment) in comments.iter().enumerate() {
            let mut body = line_comment(comment);
            body["commit_id"] = json!(request.head_sha);
            match self.write(&Method::POST, self.url(request.number, &["comments"]), &body) {
                Ok(()) => {}
                Err(ForgeError::Rejected { status: 422, .. }) => refused.push(number),
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }

    fn amend(&self, _request: &PullRequest, amendment: &Amendment) -> Result<(), ForgeError> {
        let url = self.below(&["pulls", "comments", &amendment.id]);
        self.write(&Method::PATCH, url, &json!({ "body": amendment.body }))
    }

    fn summarise(
        &self,
        request: &PullRequest,
        known: Option<&Note>,
        body: &str,
    ) -> Result<(), ForgeError> {
        let (method, url) = match known {
            Some(known) if known.body == body => return Ok(()),
            Some(known) => (Method::PATCH, self.below(&["issues", "comments", &known.id])),
            None => (Method::POST, self.issue(request.number, &["comments"])),
        };
        self.write(&method, url, &json!({ "body": body }))
    }

    /// A check run with annotations; where the token may not make one, a commit status.
    fn light(&self, request: &PullRequest, light: &Light) -> Result<(), ForgeError> {
        match self.write_check(request, light) {
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {
                self.write_status(request, light)
            }
            other => other,
        }
    }

    fn rehearse(&self) {
        self.http.rehearse();
    }

    fn rehearsed(&self) -> Vec<Rehearsed> {
        self.http.rehearsed()
    }
}

impl GitHub {
    fn write_check(&self, request: &PullRequest, light: &Light) -> Result<(), ForgeError> {
        let mut batches = light.annotations.chunks(ANNOTATIONS);
        let output = |batch: &[Annotation]| {
            let annotations: Vec<Value> = batch.iter().map(annotation).collect();
            json!({ "title": light.title, "summary": light.summary, "annotations": annotations })
        };
        let check = json!({
            "name": CHECK,
            "head_sha": request.head_sha,
            "status": "completed",
            "conclusion": if light.passed { "success" } else { "failure" },
            "output": output(batches.next().unwrap_or_default()),
        });
        let url = self.below(&["check-runs"]);
        let made = self.http.send(&Method::POST, &asked(url, "the check"), &check)?;
        let made: Made = serde_json::from_slice(&made.body).unwrap_or_default();
        for batch in batches {
            let url = self.below(&["check-runs", &made.id.to_string()]);
            self.write(&Method::PATCH, url, &json!({ "output": output(batch) }))?;
        }
        Ok(())
    }

    fn write_status(&self, request: &PullRequest, light: &Light) -> Result<(), ForgeError> {
        let description: String = light.title.chars().take(DESCRIPTION).collect();
        let status = json!({
            "state": if light.passed { "success" } else { "failure" },
            "context": CHECK,
            "description": description,
        });
        self.write(&Method::POST, self.below(&["statuses", &request.head_sha]), &status)
    }

    fn write(&self, method: &Method, url: Url, body: &Value) -> Result<(), ForgeError> {
        let subject = "a comment or a status";
        self.http.send(method, &asked(url, subject), body).map(drop)
    }

    fn list<T: DeserializeOwned>(&self, url: &Url) -> Result<Vec<T>, ForgeError> {
        let mut all = Vec::new();
        for page in 1..=LAST_PAGE {
            let mut url = url.clone();
            url.set_query(Some(&format!("per_page={PAGE}&page={page}")));
            let (mut listed, headers) =
                self.http.get_json::<Vec<T>>(&asked(url, "the comments"))?;
            let last = listed.is_empty() || !has_next(&headers);
            all.append(&mut listed);
            if last {
                return Ok(all);
            }
        }
        Err(self.http.truncated("the comments", all.len()))
    }

    fn issue(&self, number: u64, below: &[&str]) -> Url {
        let number = number.to_string();
        let mut parts = vec!["issues", &number];
        parts.extend(below);
        self.below(&parts)
    }

    fn below(&self, parts: &[&str]) -> Url {
        let mut all = vec!["repos"];
        all.extend(self.repository.as_str().split('/'));
        all.extend(parts);
        self.http.url(&all)
    }
}

fn asked(url: Url, subject: &str) -> Request<'_> {
    Request { url, accept: JSON, subject }
}

fn line_comment(comment: &Comment) -> Value {
    let mut value = json!({
        "path": comment.path,
        "line": comment.line,
        "side": "RIGHT",
        "body": comment.body,
    });
    if comment.start_line < comment.line {
        value["start_line"] = json!(comment.start_line);
        value["start_side"] = json!("RIGHT");
    }
    value
}

fn annotation(annotation: &Annotation) -> Value {
    json!({
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": if annotation.failure { "failure" } else { "warning" },
        "title": annotation.title,
        "message": annotation.message,
    })
}

#[derive(Default, Deserialize)]
struct Made {
    #[serde(default)]
    id: u64,
}

/// What somebody says to Quorum.
fn remark(
    user: Option<User>,
    text: String,
    url: Option<String>,
    at: Option<String>,
) -> Option<Remark> {
    let user = user.filter(|_| !commands(&text).is_empty())?;
    let is_program = user.kind.as_deref() != Some("User");
    let author = Person { login: user.login, id: user.id, is_program };
    let place = url.unwrap_or_else(|| "a comment on the pull request".to_owned());
    Some(Remark { author, text, place, at: at.unwrap_or_default() })
}

#[derive(Deserialize)]
struct User {
    login: String,
    #[serde(default)]
    id: u64,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Permission {
    permission: String,
}

#[derive(Deserialize)]
struct IssueComment {
    id: u64,
    body: Option<String>,
    user: Option<User>,
    #[serde(rename = "html_url")]
    url: Option<String>,
    created_at: Option<String>,
}

#[derive(Deserialize)]
struct LineComment {
    id: u64,
    body: Option<String>,
    user: Option<User>,
    #[serde(rename = "html_url")]
    url: Option<String>,
    created_at: Option<String>,
}
