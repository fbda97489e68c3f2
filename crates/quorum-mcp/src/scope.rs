//! From what a caller calls a scope to the arguments of a review.

use std::path::Path;

use crate::confine;
use crate::error::{Code, ToolError};

/// More paths than this are not named one by one.
const MOST_PATHS: usize = 2_000;

/// The arguments of `scope` and `paths`: flags first, then `--`, then confined paths.
pub(crate) fn arguments(
    root: &Path,
    scope: Option<&str>,
    paths: &[String],
) -> Result<Vec<String>, ToolError> {
    let scope = scope.unwrap_or_default().trim();
    let mut flags = Vec::new();
    let mut named: Vec<String> = paths.to_vec();
    match scope {
        "" | "default" | "recent changes" => {}
        "all" => flags.push("--all".to_owned()),
        "staged" => flags.push("--staged".to_owned()),
        "unstaged" => flags.push("--unstaged".to_owned()),
        "uncommitted" => {
            flags.extend(["--staged", "--unstaged", "--untracked"].map(str::to_owned));
        }
        _ => {
            if let Some(flag) = change(scope)? {
                flags.push(flag);
            } else {
                named.extend(scope.split_whitespace().map(str::to_owned));
            }
        }
    }
    if named.len() > MOST_PATHS {
        let text = format!("{MOST_PATHS} paths are taken at most");
        return Err(ToolError::new(Code::TooLarge, text).with_hint("name folders or globs"));
    }
    if !named.is_empty() {
        flags.push("--".to_owned());
        for path in &named {
            flags.push(confine::path_in(root, path)?);
        }
    }
    Ok(flags)
}

/// The flag for a scope that names a change; absent for paths.
fn change(scope: &str) -> Result<Option<String>, ToolError> {
    let number = scope.strip_prefix('#').or_else(|| scope.strip_prefix("pr:"));
    if let Some(number) = number {
        let number: u64 = number.trim().parse().map_err(|_| unclear(scope))?;
        return Ok(Some(format!("--pr={number}")));
    }
    for (prefix, flag) in [("base:", "--base"), ("commit:", "--commit"), ("range:", "--range")] {
        if let Some(revision) = scope.strip_prefix(prefix) {
            let revision = revision.trim();
            // A revision that begins so would be taken for an option, by git if not by us.
            if revision.is_empty() || revision.starts_with('-') {
                return Err(unclear(scope));
            }
            return Ok(Some(format!("{flag}={revision}")));
        }
    }
    let is_range = scope.contains("..")
        && !scope.contains(char::is_whitespace)
        && !scope.split('/').any(|part| part == "..")
        && !scope.starts_with(['-', '.', '/']);
    Ok(is_range.then(|| format!("--range={scope}")))
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
    fn scopes_become_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let cases: [(&str, &[&str]); 13] = [
            ("", &[]),
            ("recent changes", &[]),
            ("all", &["--all"]),
            ("staged", &["--staged"]),
            ("uncommitted", &["--staged", "--unstaged", "--untracked"]),
            ("#17", &["--pr=17"]),
            ("pr:17", &["--pr=17"]),
            ("base:origin/main", &["--base=origin/main"]),
            ("commit:HEAD~1", &["--commit=HEAD~1"]),
            ("main...topic", &["--range=main...topic"]),
            ("src/auth", &["--", "src/auth"]),
            ("a.go b.go", &["--", "a.go", "b.go"]),
            ("--provider command", &["--", "--provider", "command"]),
        ];
        for (scope, wanted) in cases {
            assert_eq!(arguments(&root, Some(scope), &[]).unwrap(), wanted, "{scope}");
        }
        let both = arguments(&root, Some("staged"), &["src".to_owned()]).unwrap();
        assert_eq!(both, ["--staged", "--", "src"]);
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
            let error = arguments(&root, Some(scope), &[]).unwrap_err();
            assert_eq!(error.code, code, "{scope}");
        }
    }
}
