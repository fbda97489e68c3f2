//! The name of a repository on a host.

use quorum_model::config::ForgeKind;

use crate::error::ForgeError;

/// A name that is safe to put into an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository(String);

impl Repository {
    /// Checks a name: two parts on GitHub, two or more on GitLab.
    pub(crate) fn new(name: &str, kind: ForgeKind) -> Result<Self, ForgeError> {
        let parts = name.split('/').count();
        let depth = match kind {
            ForgeKind::GitHub => parts == 2,
            ForgeKind::GitLab => parts >= 2,
        };
        if depth && name.split('/').all(is_part) {
            Ok(Self(name.to_owned()))
        } else {
            Err(ForgeError::InvalidRepository { name: name.to_owned(), kind })
        }
    }

    /// The full name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Dots alone would climb out of the interface's path.
fn is_part(part: &str) -> bool {
    !matches!(part, "" | "." | "..")
        && part.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_for_each_host() {
        let ok = |name, kind| Repository::new(name, kind).is_ok();
        assert!(ok("octo/repo.rs", ForgeKind::GitHub));
        assert!(!ok("octo", ForgeKind::GitHub));
        assert!(!ok("a/b/c", ForgeKind::GitHub));
        assert!(ok("a/b/c", ForgeKind::GitLab));
        for name in ["../x", "a/..", "a//b", "a/b?x=1", "a/b#c", "a/b c", "a/%2e%2e", "a/b\n", ""] {
            assert!(!ok(name, ForgeKind::GitHub), "{name}");
            assert!(!ok(name, ForgeKind::GitLab), "{name}");
        }
    }

    #[test]
    fn the_error_is_one_line() {
        let error = Repository::new("a\nb", ForgeKind::GitHub).unwrap_err();
        assert_eq!(error.to_string(), "`a\\nb` is not the name of a repository on GitHub");
    }
}
