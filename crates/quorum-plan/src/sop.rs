//! A team's standing orders (SOPs): documents that reviewers must be shown whole.

use quorum_model::result::SopSeverity;
use serde::Deserialize;

use crate::error::PlanError;
use crate::front_matter;
use crate::glob::Globs;

/// One SOP.
#[derive(Clone, Debug)]
pub struct Sop {
    /// Its name: the file's, without folder and ending.
    pub name: String,
    /// What a violation means. It never decides whether a reviewer is shown the SOP.
    pub severity: SopSeverity,
    /// Its text.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    applies_to: Option<Globs>,
}

impl Sop {
    /// Whether it says something about the file at `path`.
    pub fn applies(&self, path: &str) -> bool {
        self.applies_to.as_ref().is_none_or(|globs| globs.matches(path))
    }
}

#[derive(Debug, Default, Deserialize)]
struct FrontMatter {
    #[serde(default)]
    applies_to: OneOrMany,
    #[serde(default)]
    severity: SopSeverity,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

/// Reads the SOP in the file at `path`; without front matter it applies to everything.
pub fn parse(path: &str, text: &str, count: impl Fn(&str) -> u64) -> Result<Sop, PlanError> {
    let (front, body) = if text.trim_start_matches('\u{feff}').starts_with("---") {
        front_matter::read::<FrontMatter>(path, text)?
    } else {
        (FrontMatter::default(), text.trim().to_owned())
    };
    let patterns = match front.applies_to {
        OneOrMany::One(pattern) => vec![pattern],
        OneOrMany::Many(patterns) => patterns,
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let applies_to = if patterns.is_empty() { None } else { Some(Globs::new(&patterns)?) };
    Ok(Sop {
        name: name.strip_suffix(".md").unwrap_or(name).to_owned(),
        severity: front.severity,
        tokens: count(&body),
        text: body,
        applies_to,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sop(text: &str) -> Sop {
        parse(".quorum/sops/errors.md", text, |text| text.len() as u64).expect("it parses")
    }

    #[test]
    fn one_glob_or_several_or_none() {
        let one = sop("---\ncategory: sop\napplies_to: \"*.go\"\nseverity: error\n---\n# Errors\n");
        assert_eq!((one.name.as_str(), one.severity), ("errors", SopSeverity::Error));
        assert!(one.applies("deep/a.go") && !one.applies("a.rs"));
        let several = sop("---\napplies_to: [\"*.go\", \"*.rs\"]\n---\nx");
        assert!(several.applies("a.rs"));
        assert!(sop("# No front matter").applies("anything"));
    }
}
