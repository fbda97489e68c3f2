//! Writing to a merge request on GitLab.

use reqwest::{Method, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{GitLab, JSON, LAST_PAGE, PAGE, next_page};
use crate::error::ForgeError;
use crate::http::Request;
use crate::post::{
    Amendment, Comment, Dialect, Light, Note, Person, Posted, PostedComment, Rehearsed, Remark,
    Settlement, Thread, commands, finding_in,
};
use crate::{PullRequest, Write};

/// The least access with which one may push, by GitLab's numbers.
const DEVELOPER: u64 = 30;

/// The name of the status.
const STATUS: &str = "quorum";

/// Characters of the line beside a status.
const DESCRIPTION: usize = 255;

impl Write for GitLab {
    fn dialect(&self) -> Dialect {
        Dialect::GitLab
    }

    fn account(&self) -> Result<String, ForgeError> {
        let url = self.http.url(&["user"]);
        let request = Request { url, accept: JSON, subject: "the account of the token" };
        Ok(self.http.get_json::<Author>(&request)?.0.username)
    }

    fn posted(&self, number: u64, account: &str) -> Result<Posted, ForgeError> {
        let mut posted = Posted::default();
        let address = |id: u64| format!("note {id} on the merge request");
        for discussion in self.list::<Discussion>(&self.url(number, &["discussions"]))? {
            let mut opens = true;
            for note in discussion.notes.into_iter().filter(|note| !note.system) {
                let ours = note.author.username.eq_ignore_ascii_case(account);
                let record = finding_in(&note.body).filter(|_| opens);
                match record {
                    _ if !ours => {
                        if !commands(&note.body).is_empty() {
                            let Author { id, username: login, .. } = note.author;
                            let author = Person { login, id, is_program: false };
                            let place = address(note.id);
                            let at = note.created_at.unwrap_or_default();
                            posted.remarks.push(Remark { author, text: note.body, place, at });
                        }
                    }
                    Some(record) => {
                        let thread = Thread { id: discussion.id.clone(), resolved: note.resolved };
                        let thread = note.resolvable.then_some(thread);
                        let note = Note { id: note.id.to_string(), body: note.body };
                        posted.comments.push(PostedComment { note, record, thread });
                    }
                    None => posted.take(Note { id: note.id.to_string(), body: note.body }),
                }
                opens = false;
            }
        }
        posted.remarks.sort_by(|a, b| a.at.cmp(&b.at));
        // Drafts of a posting that broke off are ours to publish, not to write again; GitLab shows
        // them to their author alone.
        for draft in self.list::<Draft>(&self.url(number, &["draft_notes"]))? {
            if let Some(record) = finding_in(&draft.note) {
                posted.unpublished = true;
                let note = Note { id: format!("draft-{}", draft.id), body: draft.note };
                posted.comments.push(PostedComment { note, record, thread: None });
            }
        }
        Ok(posted)
    }

    fn may_write(&self, person: &Person) -> Result<bool, ForgeError> {
        let id = person.id.to_string();
        let parts = ["projects", self.repository.as_str(), "members", "all", &id];
        let url = self.http.url(&parts);
        let request = Request { url, accept: JSON, subject: "the permission of a person" };
        match self.http.get_json::<Member>(&request) {
            Ok((member, _)) => Ok(member.access_level >= DEVELOPER),
            Err(ForgeError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn settle(&self, request: &PullRequest, settlement: &Settlement) -> Result<(), ForgeError> {
        let url = self.url(request.number, &["discussions", &settlement.thread]);
        self.write(&Method::PUT, url, &json!({ "resolved": settlement.resolved }))
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
                None => return Ok(all),
            }
        }
        Err(self.truncated("the notes".to_owned(), all.len()))
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
struct Author {
    #[serde(default)]
    id: u64,
    username: String,
}

#[derive(Deserialize)]
struct Member {
    access_level: u64,
}

#[derive(Deserialize)]
struct Discussion {
    id: String,
    notes: Vec<NoteAnswer>,
}

#[derive(Deserialize)]
struct NoteAnswer {
    id: u64,
    body: String,
    author: Author,
    #[serde(default)]
    system: bool,
    #[serde(default)]
    resolvable: bool,
    #[serde(default)]
    resolved: bool,
    created_at: Option<String>,
}

#[derive(Deserialize)]
struct Draft {
    id: u64,
    note: String,
}
