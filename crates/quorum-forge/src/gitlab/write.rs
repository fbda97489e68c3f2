//! Writing to a merge request on GitLab.

use reqwest::{Method, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{GitLab, JSON, LAST_PAGE, PAGE, next_page};
use crate::error::ForgeError;
use crate::http::Request;
use crate::post::{
    Amendment, Comment, Dialect, Light, Note, Posted, PostedComment, Rehearsed, SUMMARY_MARKER,
    fingerprint_in,
};
use crate::{PullRequest, Write};

/// The name of the status.
const STATUS: &str = "quorum";

/// Characters of the line beside a status.
const DESCRIPTION: usize = 255;

impl Write for GitLab {
    fn dialect(&self) -> Dialect {
        Dialect::GitLab
    }

    fn posted(&self, number: u64) -> Result<Posted, ForgeError> {
        let mut posted = Posted::default();
        for note in self.list::<NoteAnswer>(&self.url(number, &["notes"]))? {
            if posted.summary.is_none() && note.body.contains(SUMMARY_MARKER) {
                posted.summary = Some(Note { id: note.id.to_string(), body: note.body });
            } else if let Some(fingerprint) = fingerprint_in(&note.body).map(str::to_owned) {
                let path = note.position.and_then(|position| position.new_path);
                let note = Note { id: note.id.to_string(), body: note.body };
                let path = path.unwrap_or_default();
                posted.comments.push(PostedComment { note, fingerprint, path });
            }
        }
        // Drafts of a posting that broke off are ours to publish, not to write again.
        for draft in self.list::<Draft>(&self.url(number, &["draft_notes"]))? {
            if let Some(fingerprint) = fingerprint_in(&draft.note).map(str::to_owned) {
                posted.unpublished = true;
                let path = draft.position.and_then(|position| position.new_path);
                let note = Note { id: format!("draft-{}", draft.id), body: draft.note };
                let path = path.unwrap_or_default();
                posted.comments.push(PostedComment { note, fingerprint, path });
            }
        }
        Ok(posted)
    }

    /// Comments are written as drafts and published together, so that readers get one notice.
    fn comment(
        &self,
        request: &PullRequest,
        comments: &[Comment],
    ) -> Result<Vec<usize>, ForgeError> {
        let mut refused = Vec::new();
        for (number, comment) in comments.iter().enumerate() {
            let draft = json!({ "note": comment.body, "position": position(request, comment) });
            match self.write(&Method::POST, self.url(request.number, &["draft_notes"]), &draft) {
                Ok(()) => {}
                Err(ForgeError::Rejected { status: 400 | 422, .. }) => refused.push(number),
                Err(error) => return Err(error),
            }
        }
        let url = self.url(request.number, &["draft_notes", "bulk_publish"]);
        self.write(&Method::POST, url, &json!({}))?;
        Ok(refused)
    }

    fn amend(&self, request: &PullRequest, amendment: &Amendment) -> Result<(), ForgeError> {
        let (list, id) = match amendment.id.strip_prefix("draft-") {
            Some(id) => ("draft_notes", id),
            None => ("notes", amendment.id.as_str()),
        };
        let key = if list == "notes" { "body" } else { "note" };
        let url = self.url(request.number, &[list, id]);
        self.write(&Method::PUT, url, &json!({ key: amendment.body }))
    }

    fn summarise(
        &self,
        request: &PullRequest,
        known: Option<&Note>,
        body: &str,
    ) -> Result<(), ForgeError> {
        let (method, url) = match known {
            Some(known) if known.body == body => return Ok(()),
            Some(known) => (Method::PUT, self.url(request.number, &["notes", &known.id])),
            None => (Method::POST, self.url(request.number, &["notes"])),
        };
        self.write(&method, url, &json!({ "body": body }))
    }

    fn light(&self, request: &PullRequest, light: &Light) -> Result<(), ForgeError> {
        let description: String = light.title.chars().take(DESCRIPTION).collect();
        let status = json!({
            "state": if light.passed { "success" } else { "failed" },
            "name": STATUS,
            "description": description,
        });
        let parts = ["projects", self.repository.as_str(), "statuses", &request.head_sha];
        match self.write(&Method::POST, self.http.url(&parts), &status) {
            // GitLab calls a status that it already has a transition that cannot be made.
            Err(ForgeError::Rejected { status: 400, reason, .. })
                if reason.contains("transition") =>
            {
                Ok(())
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

impl GitLab {
    fn write(&self, method: &Method, url: Url, body: &Value) -> Result<(), ForgeError> {
        let subject = "a note or a status";
        self.http.send(method, &Request { url, accept: JSON, subject }, body).map(drop)
    }

    fn list<T: DeserializeOwned>(&self, url: &Url) -> Result<Vec<T>, ForgeError> {
        let mut all = Vec::new();
        let mut page = 1;
        while page <= LAST_PAGE {
            let mut url = url.clone();
            url.set_query(Some(&format!("per_page={PAGE}&page={page}")));
            let request = Request { url, accept: JSON, subject: "the notes" };
            let (mut listed, headers) = self.http.get_json::<Vec<T>>(&request)?;
            let next = next_page(&headers, page, listed.len());
            all.append(&mut listed);
            match next {
                Some(next) => page = next,
                None => break,
            }
        }
        Ok(all)
    }
}

/// A line that the change does not touch has a number on both sides, and GitLab wants both.
fn position(request: &PullRequest, comment: &Comment) -> Value {
    let mut position = json!({
        "position_type": "text",
        "base_sha": request.base_sha,
        "start_sha": request.start_sha,
        "head_sha": request.head_sha,
        "old_path": comment.old_path,
        "new_path": comment.path,
        "new_line": comment.line,
    });
    if let Some(old) = comment.old_line {
        position["old_line"] = json!(old);
    }
    position
}

#[derive(Deserialize)]
struct NoteAnswer {
    id: u64,
    body: String,
    position: Option<Position>,
}

#[derive(Deserialize)]
struct Draft {
    id: u64,
    note: String,
    position: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    new_path: Option<String>,
}
