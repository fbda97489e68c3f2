//! GitLab.

mod diffs;
mod write;

use reqwest::Url;
use reqwest::header::HeaderMap;
use serde::Deserialize;

use self::diffs::Entry;
use crate::error::ForgeError;
use crate::http::{Http, Request};
use crate::repository::Repository;
use crate::{Forge, PullRequest, PullRequestDiff};

const JSON: &str = "application/json";

/// Files on one page, the most that GitLab gives.
const PAGE: usize = 100;

/// GitLab stores 3,000 files at most, so more pages mean that something is wrong.
const LAST_PAGE: usize = 100;

/// One project on GitLab.
#[derive(Debug)]
pub(crate) struct GitLab {
    http: Http,
    repository: Repository,
}

impl Forge for GitLab {
    fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeError> {
        let subject = self.subject(number);
        let merge = self.merge_request(number, &subject)?;
        let Some(refs) = merge.diff_refs else {
            let peer = self.http.peer().clone();
            return Err(ForgeError::NotReady { peer, subject });
        };
        Ok(PullRequest {
            number: merge.iid,
            title: merge.title,
            description: merge.description.unwrap_or_default(),
            labels: merge.labels,
            author: merge.author.map(|author| author.username).unwrap_or_default(),
            base_ref: merge.target_branch,
            base_sha: self.http.commit(refs.base_sha, &subject)?,
            head_ref: merge.source_branch,
            head_sha: self.http.commit(refs.head_sha, &subject)?,
            // A source that is gone was another project.
            from_fork: merge.source_project_id != Some(merge.target_project_id),
            url: merge.web_url,
            start_sha: self.http.commit(refs.start_sha, &subject)?,
        })
    }

    fn diff(&self, number: u64) -> Result<PullRequestDiff, ForgeError> {
        let subject = format!("the diff of {}", self.subject(number));
        let merge = self.merge_request(number, &subject)?;
        let (diff, listed) = self.diff_of_files(number, &subject)?;
        // `100+` means that GitLab dropped whole files, and the list does not say so.
        if merge.changes_count.is_some_and(|count| count.ends_with('+')) {
            return Err(self.truncated(subject, listed));
        }
        Ok(diff)
    }
}

impl GitLab {
    /// A project on that host.
    pub(crate) fn new(http: Http, repository: Repository) -> Self {
        Self { http, repository }
    }

    fn subject(&self, number: u64) -> String {
        format!("merge request {number} of {}", self.repository.as_str())
    }

    fn url(&self, number: u64, below: &[&str]) -> Url {
        let number = number.to_string();
        let mut parts = vec!["projects", self.repository.as_str(), "merge_requests", &number];
        parts.extend(below);
        self.http.url(&parts)
    }

    fn merge_request(&self, number: u64, subject: &str) -> Result<MergeRequest, ForgeError> {
        let request = Request { url: self.url(number, &[]), accept: JSON, subject };
        Ok(self.http.get_json(&request)?.0)
    }

    fn diff_of_files(
        &self,
        number: u64,
        subject: &str,
    ) -> Result<(PullRequestDiff, usize), ForgeError> {
        let mut diff = PullRequestDiff::default();
        let mut listed = 0;
        let mut page = 1;
        while page <= LAST_PAGE {
            let mut url = self.url(number, &["diffs"]);
            url.set_query(Some(&format!("per_page={PAGE}&page={page}")));
            let request = Request { url, accept: JSON, subject };
            let (entries, headers) = self.http.get_json::<Vec<Entry>>(&request)?;
            for entry in &entries {
                diff.push(&entry.section());
                self.http.check_size(diff.text.len(), subject)?;
            }
            listed += entries.len();
            match next_page(&headers, page, entries.len()) {
                Some(next) => page = next,
                None => return Ok((diff, listed)),
            }
        }
        Err(self.truncated(subject.to_owned(), listed))
    }

    fn truncated(&self, subject: String, listed: usize) -> ForgeError {
        ForgeError::Truncated { peer: self.http.peer().clone(), subject, listed }
    }
}

/// The page after this one. Without the header, as behind some proxies, a full page has a next.
fn next_page(headers: &HeaderMap, page: usize, listed: usize) -> Option<usize> {
    match headers.get("x-next-page") {
        Some(next) => next.to_str().ok()?.trim().parse().ok().filter(|next| *next > page),
        None => (listed >= PAGE).then_some(page + 1),
    }
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    title: String,
    description: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    author: Option<Author>,
    target_branch: String,
    source_branch: String,
    target_project_id: u64,
    source_project_id: Option<u64>,
    diff_refs: Option<DiffRefs>,
    changes_count: Option<String>,
    web_url: String,
}

#[derive(Deserialize)]
struct Author {
    username: String,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the host's names")]
struct DiffRefs {
    base_sha: String,
    head_sha: String,
    start_sha: String,
}
