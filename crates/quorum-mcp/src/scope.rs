//! From what a caller calls a scope to what is selected for a review.

use std::path::Path;

use quorum_engine::ReviewSelection;

use crate::confine;
use crate::error::{Code, ToolError};

/// More paths than this are not named one by one.
const MOST_PATHS: usize = 2_000;

/// What `scope` and `paths` select: a change, and confined paths.
pub(crate) fn selection(
    root: &Path,
    scope: Option<&str>,
    paths: &[String],
) -> Result<(ReviewSelection, Vec<String>), ToolError> {
    let scope = scope.unwrap_or_default().trim();
    let mut named: Vec<String> = paths.to_vec();
    let uncommitted =
        |staged, unstaged, untracked| ReviewSelection::Uncommitted { staged, unstaged, untracked };
    let selection = match scope {
        "" | "default" | "recent changes" => ReviewSelection::Default,
        "all" => ReviewSelection::All,
        "staged" => uncommitted(true, false, false),
        "unstaged" => uncommitted(false, true, false),
        "uncommitted" => uncommitted(true, true, true),
        _ => {
            if let Some(change) = change(scope)? {
                change
            } else {
                named.extend(scope.split_whitespace().map(str::to_owned));
                ReviewSelection::Default
            }
        }
    };
    if named.len() > MOST_PATHS {
        let text = format!("{MOST_PATHS} paths are taken at most");
        return Err(ToolError::new(Code::TooLarge, text).with_hint("name folders or globs"));
    }
    let confined = named.iter().map(|path| confine::path_in(root, path));
    Ok((selection, confined.collect::<Result<_, _>>()?))
}

/// The change that a scope names; absent for paths.
fn change(scope: &str) -> Result<Option<ReviewSelection>, ToolError> {
    let number = scope.strip_prefix('#').or_else(|| scope.strip_prefix("pr:"));
    if let Some(number) = number {
        let number: u64 = number.trim().parse().map_err(|_| unclear(scope))?;
        return Ok(Some(ReviewSelection::PullRequest { number }));
    }
    for prefix in ["base:", "commit:", "range:"] {
        if let Some(revision) = scope.strip_prefix(prefix) {
            let revision = revision.trim().to_owned();
            // A revision that begins so would be taken for an option, by git if not by us.
            if revision.is_empty() || revision.starts_with('-') {
                return Err(unclear(scope));
            }
            return Ok(Some(match prefix {
                "base:" => ReviewSelection::Base { revision },
                "commit:" => ReviewSelection::Commit { revision },
                _ => ReviewSelection::Range { range: revision },
            }));
        }
    }
    let is_range = scope.contains("..")
        && !scope.contains(char::is_whitespace)
        && !scope.split('/').any(|part| part == "..")
        && !scope.starts_with(['-', '.', '/']);
    Ok(is_range.then(|| ReviewSelection::Range { range: scope.to_owned() }))
}

fn unclear(scope: &str) -> ToolError {
    let shown: String = scope.chars().take(100).collect();
    ToolError::new(Code::InvalidArgument, format!("`{shown}` is no scope"))
        .with_hint("all, staged, unstaged, uncommitted, base:REV, commit:REV, A..B, #N, or paths")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_become_selections() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let uncommitted = |staged, unstaged, untracked| ReviewSelection::Uncommitted {
            staged,
            unstaged,
            untracked,
        };
        let text = str::to_owned;
        let cases: [(&str, ReviewSelection, &[&str]); 13] = [
            ("", ReviewSelection::Default, &[]),
            ("recent changes", ReviewSelection::Default, &[]),
            ("all", ReviewSelection::All, &[]),
            ("staged", uncommitted(true, false, false), &[]),
            ("uncommitted", uncommitted(true, true, true), &[]),
            ("#17", ReviewSelection::PullRequest { number: 17 }, &[]),
            ("pr:17", ReviewSelection::PullRequest { number: 17 }, &[]),
            ("base:origin/main", ReviewSelection::Base { revision: text("origin/main") }, &[]),
            ("commit:HEAD~1", ReviewSelection::Commit { revision: text("HEAD~1") }, &[]),
            ("main...topic", ReviewSelection::Range { range: text("main...topic") }, &[]),
            ("src/auth", ReviewSelection::Default, &["src/auth"]),
            ("a.go b.go", ReviewSelection::Default, &["a.go", "b.go"]),
            ("--provider command", ReviewSelection::Default, &["--provider", "command"]),
        ];
        for (scope, wanted, wanted_paths) in cases {
            let (selected, paths) = selection(&root, Some(scope), &[]).unwrap();
            assert_eq!(selected, wanted, "{scope}");
            assert_eq!(paths, wanted_paths, "{scope}");
        }
        let (selected, paths) = selection(&root, Some("staged"), &["src".to_owned()]).unwrap();
        assert_eq!((selected, paths), (uncommitted(true, false, false), vec!["src".to_owned()]));
    }

    #[test]
    fn what_is_no_scope_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let cases = [
            ("#x", Code::InvalidArgument),
            ("base:", Code::InvalidArgument),
            ("range:--output=x", Code::InvalidArgument),
            ("../other", Code::OutsideRoots),
            ("a/../../b", Code::OutsideRoots),
            ("/etc/passwd", Code::OutsideRoots),
        ];
        for (scope, code) in cases {
            let error = selection(&root, Some(scope), &[]).unwrap_err();
            assert_eq!(error.code, code, "{scope}");
        }
    }
}
