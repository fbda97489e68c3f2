//! `.quorumignore`: what a team never wants reviewed.

use bstr::{BStr, ByteSlice};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::ScopeError;

/// The rules of `.quorumignore` and of `scope.ignore` in `quorum.toml`, in gitignore's syntax.
#[derive(Debug)]
pub struct IgnoreRules {
    rules: Gitignore,
}

impl IgnoreRules {
    /// Reads the text of `.quorumignore` and the configured patterns, which come after it.
    pub fn new(text: &str, configured: &[String]) -> Result<Self, ScopeError> {
        let mut builder = GitignoreBuilder::new("");
        let lines = text.lines().chain(configured.iter().map(String::as_str));
        for line in lines {
            builder.add_line(None, line).map_err(|error| ScopeError::BadPattern {
                pattern: line.to_owned(),
                message: error.to_string(),
            })?;
        }
        let rules = builder.build().map_err(|error| ScopeError::BadPattern {
            pattern: ".quorumignore".to_owned(),
            message: error.to_string(),
        })?;
        Ok(Self { rules })
    }

    /// The rule that leaves `path` out, where one does.
    pub fn reason(&self, path: &BStr) -> Option<String> {
        let path = path.to_path().ok()?;
        let matched = self.rules.matched_path_or_any_parents(path, false);
        match matched {
            ignore::Match::Ignore(glob) => Some(format!("ignored by `{}`", glob.original())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_work_as_in_gitignore() {
        let rules = IgnoreRules::new("# note\n/dist\n*.snap\n!keep.snap\n", &["*.tmp".to_owned()])
            .expect("they parse");
        let reason = |path: &str| rules.reason(path.into());
        assert_eq!(reason("dist/a/b.js").as_deref(), Some("ignored by `/dist`"));
        assert_eq!(reason("x/y.snap").as_deref(), Some("ignored by `*.snap`"));
        assert_eq!(reason("x/keep.snap"), None);
        assert_eq!(reason("src/dist/a"), None);
        assert_eq!(reason("a.tmp").as_deref(), Some("ignored by `*.tmp`"));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let error = IgnoreRules::new("[z-a]", &[]).expect_err("it is broken");
        assert!(error.to_string().starts_with("`[z-a]` is not a pattern"), "{error}");
    }
}
