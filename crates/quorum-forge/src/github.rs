//! GitHub and GitHub Enterprise.

mod files;
mod threads;
mod write;

use reqwest::Url;
use serde::Deserialize;

use self::files::{File, has_next};
use crate::error::ForgeError;
use crate::http::{Http, Request};
use crate::repository::Repository;
use crate::{Forge, PullRequest, PullRequestDiff};

const JSON: &str = "application/vnd.github+json";
const DIFF: &str = "application/vnd.github.diff";

/// Files on one page, the most that GitHub gives.
const PAGE: usize = 100;

/// GitHub lists 3,000 files at most.
const LAST_PAGE: usize = 30;

/// One repository on GitHub.
#[derive(Debug)]
pub(crate) struct GitHub {
    http: Http,
    repository: Repository,
}

impl Forge for GitHub {
    fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeError> {
        let subject = self.subject(number);
        let pull = self.pull(number, &subject)?;
        // A fork that is gone was a fork.
        let from_fork = match (&pull.head.repo, &pull.base.repo) {
            (Some(head), Some(base)) => head.id != base.id,
            _ => true,
        };
        Ok(PullRequest {
            number: pull.number,
            title: pull.title,
            description: pull.body.unwrap_or_default(),
            labels: pull.labels.into_iter().map(|label| label.name).collect(),
            author: pull.user.map(|user| user.login).unwrap_or_default(),
            base_ref: pull.base.name,
            base_sha: self.http.commit(pull.base.sha.clone(), &subject)?,
            head_ref: pull.head.name,
            head_sha: self.http.commit(pull.head.sha, &subject)?,
            start_sha: self.http.commit(pull.base.sha, &subject)?,
            from_fork,
            url: pull.html_url,
        })
    }

    fn diff(&self, number: u64) -> Result<PullRequestDiff, ForgeError> {
        let subject = format!("the diff of {}", self.subject(number));
        let request = Request { url: self.url(number, &[]), accept: DIFF, subject: &subject };
        match self.http.get(&request) {
            Ok(answer) if answer.body.is_empty() || answer.body.starts_with(b"diff --git ") => {
                Ok(PullRequestDiff { text: answer.body, withheld: Vec::new() })
            }
            Ok(_) => Err(self.http.malformed(&subject, "it is no diff")),
            // More than 300 files or 20,000 lines: GitHub then points to the list of files.
            Err(ForgeError::Rejected { status: 406, .. }) => self.diff_of_files(number, &subject),
            Err(error) => Err(error),
        }
    }
}

impl GitHub {
    /// A repository on that host.
    pub(crate) fn new(http: Http, repository: Repository) -> Self {
        Self { http, repository }
    }

    fn subject(&self, number: u64) -> String {
        format!("pull request {number} of {}", self.repository.as_str())
    }

    fn url(&self, number: u64, below: &[&str]) -> Url {
        let number = number.to_string();
        let mut parts = vec!["repos"];
        parts.extend(self.repository.as_str().split('/'));
        parts.extend(["pulls", &number]);
        parts.extend(below);
        self.http.url(&parts)
    }

    fn pull(&self, number: u64, subject: &str) -> Result<Pull, ForgeError> {
        let request = Request { url: self.url(number, &[]), accept: JSON, subject };
        Ok(self.http.get_json(&request)?.0)
    }

    fn diff_of_files(&self, number: u64, subject: &str) -> Result<PullRequestDiff, ForgeError> {
        let mut diff = PullRequestDiff::default();
        let mut listed = 0;
        for page in 1..=LAST_PAGE {
            let mut url = self.url(number, &["files"]);
            url.set_query(Some(&format!("per_page={PAGE}&page={page}")));
            let request = Request { url, accept: JSON, subject };
            let (files, headers) = self.http.get_json::<Vec<File>>(&request)?;
            for file in &files {
                diff.push(&file.section());
                self.http.check_size(diff.text.len(), subject)?;
            }
            listed += files.len();
            if files.is_empty() || !has_next(&headers) {
                break;
            }
        }
        if listed >= PAGE * LAST_PAGE {
            self.check_complete(number, subject, listed)?;
        }
        Ok(diff)
    }

    /// A list that is as long as GitHub makes them may go on without saying so.
    fn check_complete(&self, number: u64, subject: &str, listed: usize) -> Result<(), ForgeError> {
        let pull = self.pull(number, subject)?;
        if pull.changed_files.is_some_and(|total| total <= listed) {
            return Ok(());
        }
        let peer = self.http.peer().clone();
        Err(ForgeError::Truncated { peer, subject: subject.to_owned(), listed })
    }
}

#[derive(Deserialize)]
struct Pull {
    number: u64,
    title: String,
    body: Option<String>,
    #[serde(default)]
    labels: Vec<Label>,
    user: Option<User>,
    base: Side,
    head: Side,
    html_url: String,
    changed_files: Option<usize>,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
struct User {
    login: String,
}

#[derive(Deserialize)]
struct Side {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    repo: Option<Repo>,
}

#[derive(Deserialize)]
struct Repo {
    id: u64,
}
