//! The list of files in a merge request.

use serde::Deserialize;

use crate::patch::{Body, Change, Section, hunks};

/// One file of a merge request.
#[derive(Deserialize)]
pub(super) struct Entry {
    old_path: String,
    new_path: String,
    #[serde(default)]
    a_mode: String,
    #[serde(default)]
    b_mode: String,
    #[serde(default)]
    diff: String,
    #[serde(default)]
    new_file: bool,
    #[serde(default)]
    deleted_file: bool,
    #[serde(default)]
    renamed_file: bool,
    too_large: Option<bool>,
    collapsed: Option<bool>,
}

impl Entry {
    /// The file as a part of a diff.
    pub(super) fn section(&self) -> Section<'_> {
        let change = self.change();
        // Both names stand in the header, and GitLab gives the same one twice only as a rule.
        let (old_path, new_path) = match change {
            Change::Added => (&self.new_path, &self.new_path),
            Change::Deleted => (&self.old_path, &self.old_path),
            Change::Modified | Change::Renamed | Change::Copied => (&self.old_path, &self.new_path),
        };
        let modes = Some((self.a_mode.as_str(), self.b_mode.as_str()));
        Section { old_path, new_path, change, modes, body: self.body(change) }
    }

    fn change(&self) -> Change {
        if self.new_file {
            Change::Added
        } else if self.deleted_file {
            Change::Deleted
        } else if self.renamed_file || self.old_path != self.new_path {
            Change::Renamed
        } else {
            Change::Modified
        }
    }

    fn body(&self, change: Change) -> Body<'_> {
        let cut = self.too_large == Some(true) || self.collapsed == Some(true);
        match hunks(&self.diff) {
            Some(hunks) if cut => Body::Partial(hunks),
            Some(hunks) => Body::Hunks(hunks),
            None if cut => Body::Withheld,
            None if self.diff.starts_with("Binary files ") => Body::Binary,
            None if self.is_empty(change) => Body::Empty,
            None => Body::Withheld,
        }
    }

    /// Whether it is certain that no line changed. Versions that do not say what they cut send
    /// the same nothing for a large file, and a file without a change would not be listed.
    fn is_empty(&self, change: Change) -> bool {
        let says_what_it_cut = self.too_large.is_some() && self.collapsed.is_some();
        let has_a_reason = change != Change::Modified || self.a_mode != self.b_mode;
        self.diff.is_empty() && says_what_it_cut && has_a_reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &str, expected: Body<'_>) {
        let json = format!(r#"{{"old_path":"x","new_path":"x",{fields}}}"#);
        let entry: Entry = serde_json::from_str(&json).unwrap();
        assert_eq!(entry.section().body, expected, "{json}");
    }

    #[test]
    fn what_was_cut_is_told_apart_from_no_text() {
        const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";
        check(r#""diff":"@@ -1 +1 @@\n-a\n+b\n""#, Body::Hunks(HUNK));
        check(r#""diff":"@@ -1 +1 @@\n-a\n+b\n","collapsed":true"#, Body::Partial(HUNK));
        check(r#""diff":"","too_large":true"#, Body::Withheld);
        check(r#""diff":"","collapsed":true,"too_large":false"#, Body::Withheld);
        check(r#""diff":"Binary files a/x and b/x differ\n""#, Body::Binary);
    }

    #[test]
    fn nothing_at_all_is_believed_only_with_a_reason() {
        const SURE: &str = r#""diff":"","collapsed":false,"too_large":false"#;
        check(SURE, Body::Withheld);
        check(&format!(r#"{SURE},"new_file":true"#), Body::Empty);
        check(&format!(r#"{SURE},"renamed_file":true"#), Body::Empty);
        check(&format!(r#"{SURE},"a_mode":"100644","b_mode":"100755""#), Body::Empty);
        check(r#""diff":"","new_file":true"#, Body::Withheld);
    }
}
