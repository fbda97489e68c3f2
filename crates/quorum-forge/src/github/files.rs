//! The list of files, for pull requests that are too large for a diff in one piece.

use reqwest::header::{HeaderMap, LINK};
use serde::Deserialize;

use crate::patch::{Body, Change, Section, hunks};

/// The object name of an empty file.
const EMPTY_BLOB: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/// One file of a pull request.
#[derive(Deserialize)]
pub(super) struct File {
    filename: String,
    previous_filename: Option<String>,
    #[serde(default)]
    status: String,
    sha: Option<String>,
    changes: Option<u64>,
    patch: Option<String>,
}

impl File {
    /// The file as a part of a diff.
    pub(super) fn section(&self) -> Section<'_> {
        let change = match (self.status.as_str(), &self.previous_filename) {
            ("added", _) => Change::Added,
            ("removed", _) => Change::Deleted,
            ("renamed", Some(_)) => Change::Renamed,
            ("copied", Some(_)) => Change::Copied,
            _ => Change::Modified,
        };
        let old_path = match change {
            Change::Renamed | Change::Copied => self.previous_filename.as_deref(),
            Change::Added | Change::Deleted | Change::Modified => None,
        };
        Section {
            old_path: old_path.unwrap_or(&self.filename),
            new_path: &self.filename,
            change,
            modes: None,
            body: self.body(),
        }
    }

    fn body(&self) -> Body<'_> {
        match (self.patch.as_deref().and_then(hunks), self.changes) {
            (Some(hunks), _) => Body::Hunks(hunks),
            (None, Some(0)) if self.is_binary() => Body::Binary,
            (None, Some(0)) => Body::Empty,
            // Lines changed, or nothing says that none did.
            (None, _) => Body::Withheld,
        }
    }

    /// Whether a file in which no line changed has other content that did. A mere change of mode
    /// looks the same; it has no text to review either.
    fn is_binary(&self) -> bool {
        let has_content = self.sha.as_deref() != Some(EMPTY_BLOB);
        has_content && matches!(self.status.as_str(), "added" | "removed" | "modified")
    }
}

/// Whether the host says that there is another page.
pub(super) fn has_next(headers: &HeaderMap) -> bool {
    headers
        .get_all(LINK)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|link| link.split(';').skip(1).any(|part| part.trim() == "rel=\"next\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Body<'_>) {
        let file: File = serde_json::from_str(json).unwrap();
        assert_eq!(file.section().body, expected, "{json}");
    }

    #[test]
    fn a_missing_patch_is_told_apart_from_no_text() {
        check(
            r#"{"filename":"x","status":"modified","changes":2,"patch":"@@ -1 +1 @@\n-a\n+b"}"#,
            Body::Hunks("@@ -1 +1 @@\n-a\n+b"),
        );
        check(r#"{"filename":"x","status":"modified","changes":9000}"#, Body::Withheld);
        check(r#"{"filename":"x","status":"modified"}"#, Body::Withheld);
        check(r#"{"filename":"x","status":"modified","changes":3,"patch":""}"#, Body::Withheld);
        check(r#"{"filename":"x.png","status":"added","changes":0,"sha":"ab"}"#, Body::Binary);
        check(r#"{"filename":"x.png","status":"modified","changes":0}"#, Body::Binary);
        check(
            r#"{"filename":"x","status":"renamed","previous_filename":"y","changes":0}"#,
            Body::Empty,
        );
        let empty =
            format!(r#"{{"filename":"x","status":"added","changes":0,"sha":"{EMPTY_BLOB}"}}"#);
        check(&empty, Body::Empty);
    }

    #[test]
    fn the_next_page_is_found_among_links() {
        let next =
            |value: &'static str| has_next(&HeaderMap::from_iter([(LINK, value.parse().unwrap())]));
        assert!(next(r#"<https://h/?page=2>; rel="next", <https://h/?page=9>; rel="last""#));
        assert!(!next(r#"<https://h/?page=1>; rel="prev", <https://h/?page=1>; rel="first""#));
        assert!(!next(r#"<https://h/?rel="next">; rel="prev""#));
        assert!(!has_next(&HeaderMap::new()));
    }
}
