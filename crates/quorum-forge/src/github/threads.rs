//! Discussions of lines on GitHub, which only its GraphQL interface can close.

use std::collections::BTreeMap;

use reqwest::{Method, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{GitHub, JSON};
use crate::error::ForgeError;
use crate::http::Request;
use crate::post::{Settlement, Thread};

/// Discussions on one page, the most that GitHub gives, and the most pages that are asked for.
const PAGE: usize = 100;
const LAST_PAGE: usize = 100;

const VIEWER: &str = "query { viewer { login } }";

const THREADS: &str = "query($owner: String!, $name: String!, $number: Int!, $first: Int!, \
    $after: String) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { \
    reviewThreads(first: $first, after: $after) { pageInfo { hasNextPage endCursor } nodes { id \
    isResolved comments(first: 1) { nodes { databaseId } } } } } } }";

const RESOLVE: &str = "mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) \
    { thread { id isResolved } } }";

const UNRESOLVE: &str = "mutation($thread: ID!) { unresolveReviewThread(input: {threadId: \
    $thread}) { thread { id isResolved } } }";

impl GitHub {
    /// The account of the token. An app's token may not ask for its user, but for its viewer.
    pub(super) fn viewer(&self) -> Result<String, ForgeError> {
        let answer: Viewer = self.ask(VIEWER, &json!({}), "the account of the token")?;
        Ok(answer.viewer.login)
    }

    /// The discussions of a pull request, by the number of the comment that opened each.
    pub(super) fn threads(&self, number: u64) -> Result<BTreeMap<u64, Thread>, ForgeError> {
        let (owner, name) = self.repository.as_str().split_once('/').unwrap_or_default();
        let mut threads = BTreeMap::new();
        let mut after: Option<String> = None;
        for _ in 0..LAST_PAGE {
            let variables = json!({ "owner": owner, "name": name, "number": number,
                "first": PAGE, "after": after });
            let answer: Threads = self.ask(THREADS, &variables, "the discussions")?;
            let page = answer.repository.pull_request.review_threads;
            for node in page.nodes {
                let thread = Thread { id: node.id, resolved: node.is_resolved };
                let first = node.comments.nodes.first().and_then(|comment| comment.database_id);
                threads.extend(first.map(|first| (first, thread)));
            }
            if !page.page_info.has_next_page {
                return Ok(threads);
            }
            after = page.page_info.end_cursor;
        }
        let listed = threads.len();
        Err(self.http.truncated("the discussions", listed))
    }

    /// Closes a discussion, or opens it again.
    pub(super) fn settle_thread(&self, settlement: &Settlement) -> Result<(), ForgeError> {
        let query = if settlement.resolved { RESOLVE } else { UNRESOLVE };
        let body = json!({ "query": query, "variables": { "thread": settlement.thread } });
        let request = self.graphql("a discussion");
        let answer = self.http.send(&Method::POST, &request, &body)?;
        self.checked::<Value>(&answer.body, "a discussion").map(drop)
    }

    fn ask<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
        subject: &'static str,
    ) -> Result<T, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        let answer = self.http.query(&self.graphql(subject), &body)?;
        let data = self.checked::<T>(&answer.body, subject)?;
        data.ok_or_else(|| self.http.malformed(subject, "it has no data"))
    }

    /// An answer of GraphQL says in itself whether it failed.
    fn checked<T: DeserializeOwned>(
        &self,
        body: &[u8],
        subject: &str,
    ) -> Result<Option<T>, ForgeError> {
        let answer: Answered<T> = serde_json::from_slice(body).map_err(|error| {
            let reason = quorum_model::wording::plain(&error.to_string());
            self.http.malformed(subject, &reason)
        })?;
        match answer.errors.first() {
            Some(error) => Err(self.http.rejected(subject, 200, &error.message)),
            None => Ok(answer.data),
        }
    }

    fn graphql(&self, subject: &'static str) -> Request<'static> {
        Request { url: graphql_url(&self.http.url(&[])), accept: JSON, subject }
    }
}

/// Beside `/api/v3` of an own server it is `/api/graphql`; elsewhere it is below the address.
fn graphql_url(base: &Url) -> Url {
    let mut url = base.clone();
    let path = base.path().trim_end_matches('/');
    let path = match path.strip_suffix("/api/v3") {
        Some(root) => format!("{root}/api/graphql"),
        None => format!("{path}/graphql"),
    };
    url.set_path(&path);
    url
}

#[derive(Deserialize)]
struct Answered<T> {
    data: Option<T>,
    #[serde(default)]
    errors: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
}

#[derive(Deserialize)]
struct Viewer {
    viewer: Login,
}

#[derive(Deserialize)]
struct Login {
    login: String,
}

#[derive(Deserialize)]
struct Threads {
    repository: Repository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    pull_request: PullRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequest {
    review_threads: Page,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    page_info: PageInfo,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: String,
    is_resolved: bool,
    comments: Comments,
}

#[derive(Deserialize)]
struct Comments {
    nodes: Vec<First>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct First {
    database_id: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_graphql_stands_beside_that_of_an_own_server() {
        let url = |text: &str| graphql_url(&Url::parse(text).unwrap()).to_string();
        assert_eq!(url("https://api.github.com"), "https://api.github.com/graphql");
        assert_eq!(url("https://git.example.org/api/v3/"), "https://git.example.org/api/graphql");
        assert_eq!(url("http://127.0.0.1:9/x"), "http://127.0.0.1:9/x/graphql");
    }
}
