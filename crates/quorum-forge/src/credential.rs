//! Tokens, and how not to show them.

use std::fmt;

use quorum_model::config::ForgeKind;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::error::ForgeError;

/// A token and the header that carries it.
#[derive(Clone)]
pub(crate) struct Credential {
    /// The variable that it comes from.
    pub(crate) variable: &'static str,
    /// The header's name.
    pub(crate) header: HeaderName,
    /// The header's value, marked as sensitive.
    pub(crate) value: HeaderValue,
    /// The token alone, to take it out of texts.
    token: String,
}

impl Credential {
    /// The first variable of that kind of host that is set.
    pub(crate) fn find(
        kind: ForgeKind,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, ForgeError> {
        let (names, private) = match kind {
            ForgeKind::GitHub => (["GITHUB_TOKEN", "GH_TOKEN"], AUTHORIZATION),
            ForgeKind::GitLab => {
                (["GITLAB_TOKEN", "CI_JOB_TOKEN"], HeaderName::from_static("private-token"))
            }
        };
        for name in names {
            let Some(token) = variable(name) else { continue };
            let header = match name {
                "CI_JOB_TOKEN" => HeaderName::from_static("job-token"),
                _ => private,
            };
            return Self::new(name, header, &token).map(Some);
        }
        Ok(None)
    }

    fn new(variable: &'static str, header: HeaderName, token: &str) -> Result<Self, ForgeError> {
        let token = token.trim().to_owned();
        let invalid = ForgeError::InvalidToken { variable };
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid);
        }
        let text = if header == AUTHORIZATION { format!("Bearer {token}") } else { token.clone() };
        let mut value = HeaderValue::from_str(&text).map_err(|_| invalid)?;
        value.set_sensitive(true);
        Ok(Self { variable, header, value, token })
    }

    /// Takes the token out of a text that a host wrote: it may repeat what it was sent.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.token, "[redacted]")
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("variable", &self.variable).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(kind: ForgeKind, set: &[(&str, &str)]) -> Result<Option<Credential>, ForgeError> {
        Credential::find(kind, |name| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_first_variable_counts() {
        let all = [
            ("GH_TOKEN", "b"),
            ("GITHUB_TOKEN", "a"),
            ("CI_JOB_TOKEN", "d"),
            ("GITLAB_TOKEN", "c"),
        ];
        let github = find(ForgeKind::GitHub, &all).unwrap().unwrap();
        assert_eq!((github.variable, github.value.to_str().unwrap()), ("GITHUB_TOKEN", "Bearer a"));
        let gitlab = find(ForgeKind::GitLab, &all).unwrap().unwrap();
        assert_eq!((gitlab.variable, gitlab.header.as_str()), ("GITLAB_TOKEN", "private-token"));
        let job = find(ForgeKind::GitLab, &all[..3]).unwrap().unwrap();
        assert_eq!((job.variable, job.header.as_str()), ("CI_JOB_TOKEN", "job-token"));
        assert!(find(ForgeKind::GitLab, &all[..2]).unwrap().is_none());
    }

    #[test]
    fn a_line_break_at_the_end_is_dropped_and_one_inside_is_refused() {
        let trimmed = find(ForgeKind::GitHub, &[("GH_TOKEN", "abc\n")]).unwrap().unwrap();
        assert_eq!(trimmed.value.to_str().unwrap(), "Bearer abc");
        let error = find(ForgeKind::GitHub, &[("GH_TOKEN", "s3cret\nX: y")]).unwrap_err();
        assert_eq!(error.to_string(), "the token in GH_TOKEN holds characters that cannot be sent");
        assert!(!format!("{error:?}").contains("s3cret"));
    }

    #[test]
    fn debug_shows_no_token() {
        let credential = find(ForgeKind::GitHub, &[("GH_TOKEN", "s3cret")]).unwrap().unwrap();
        assert_eq!(format!("{credential:?}"), "Credential { variable: \"GH_TOKEN\", .. }");
        assert_eq!(format!("{:?}", credential.value), "Sensitive");
        assert_eq!(credential.redact("got s3cret"), "got [redacted]");
    }
}
