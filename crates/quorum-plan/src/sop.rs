//! A team's standing orders (SOPs): documents that reviewers must be shown whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quorum_model::result::SopSeverity;
use serde::{Deserialize, Deserializer};

use crate::domain;
use crate::error::PlanError;
use crate::front_matter;
use crate::glob::{self, Globs};

/// One SOP.
#[derive(Clone, Debug)]
pub struct Sop {
    /// Its name: the file's, without folder and ending.
    pub name: String,
    /// The file that it was read from.
    pub path: String,
    /// What a violation means. It never decides whether a reviewer is shown the SOP.
    pub severity: SopSeverity,
    /// What sort of order it is, in the team's own words.
    pub category: Option<String>,
    /// Whom it is for.
    pub scope: SopScope,
    /// What it asks for, in a sentence.
    pub summary: Option<String>,
    /// What must hold, point by point.
    pub requirements: Vec<String>,
    /// What files are about that it applies to.
    pub domains: Vec<String>,
    /// What the embedded reviewers can check of it.
    pub checks: Vec<Check>,
    /// All that a reviewer is shown: summary, requirements and body.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// Keys of its front matter that mean nothing.
    pub unknown_keys: Vec<String>,
    applies_to: Option<Globs>,
}

/// Whom an SOP is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SopScope {
    /// Whoever plans work; no reviewer of code is shown it.
    Plan,
    /// Reviewers of code.
    Code,
    /// Everybody.
    #[default]
    All,
}

/// What the embedded reviewers can check of an SOP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The id of a rule, or else an expression that no added line may match.
    Named(String),
    /// A rule must find nothing.
    Rule(String),
    /// No added line may match.
    Forbid(String),
    /// Every file must match somewhere.
    Require(String),
}

/// Why an SOP applies to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why<'a> {
    /// It names no files.
    Everything,
    /// A glob of its `applies_to` matches.
    Glob(&'a str),
    /// The file is in a folder of one of its domains.
    Domain(&'a str),
    /// The file's domain, the first, is related to one of its domains, the second.
    Related(&'static str, &'a str),
}

impl std::fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Everything => write!(f, "applies to everything"),
            Self::Glob(pattern) => write!(f, "matches `{pattern}`"),
            Self::Domain(domain) => write!(f, "domain {domain}"),
            Self::Related(own, domain) => write!(f, "domain {own}, related to {domain}"),
        }
    }
}

impl Sop {
    /// Whether it says something about the file at `path`.
    pub fn applies(&self, path: &str) -> bool {
        self.why(path).is_some()
    }

    /// Why it says something about the file at `path`: by its globs, then by what the file is about.
    pub fn why(&self, path: &str) -> Option<Why<'_>> {
        if self.applies_to.is_none() && self.domains.is_empty() {
            return Some(Why::Everything);
        }
        if let Some(pattern) = self.applies_to.as_ref().and_then(|globs| globs.first(path)) {
            return Some(Why::Glob(pattern));
        }
        if self.domains.is_empty() {
            return None;
        }
        let own = domain::of(path);
        let is_own = |wanted: &&String| own.contains(&wanted.as_str());
        if let Some(wanted) = self.domains.iter().find(is_own) {
            return Some(Why::Domain(wanted));
        }
        own.iter().find_map(|own| {
            let related = domain::related(own);
            let wanted = self.domains.iter().find(|wanted| related.contains(&wanted.as_str()))?;
            Some(Why::Related(own, wanted))
        })
    }

    /// The globs of its `applies_to`.
    pub fn patterns(&self) -> &[String] {
        self.applies_to.as_ref().map(Globs::patterns).unwrap_or_default()
    }

    /// Whether reviewers of code are shown it.
    pub fn is_for_code(&self) -> bool {
        self.scope != SopScope::Plan
    }
}

#[derive(Debug, Default, Deserialize)]
struct FrontMatter {
    #[serde(default, deserialize_with = "one_or_many")]
    applies_to: Vec<String>,
    #[serde(default)]
    severity: SopSeverity,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    scope: SopScope,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    requirements: Vec<Requirement>,
    #[serde(default, alias = "domain", deserialize_with = "one_or_many")]
    domains: Vec<String>,
    #[serde(default, alias = "checks", deserialize_with = "one_or_many")]
    check: Vec<CheckForm>,
    /// What else there is.
    #[serde(flatten)]
    #[expect(clippy::zero_sized_map_values, reason = "serde flattens into maps alone")]
    others: BTreeMap<String, serde::de::IgnoredAny>,
}

/// The keys of an SOP, for whoever made a mistake in one. A test compares them with the above.
const KEYS: &str = "applies_to (glob or list of globs, default: everything), severity (`error`, `warning` or \
                    `info`, default `warning`), category (text), scope (`plan`, `code` or `both`), summary \
                    (text), requirements (text, or list of texts or of tables with text and check), domains \
                    (text or list of texts), check (name of a rule, or table with rule, forbid or require, or \
                    a list of those)";

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text, or a table with text and check")]
enum Requirement {
    Text(String),
    Checked {
        #[serde(alias = "requirement")]
        text: String,
        #[serde(default, alias = "checks", deserialize_with = "one_or_many")]
        check: Vec<CheckForm>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "the name of a rule, or a table with rule, forbid or require")]
enum CheckForm {
    Named(String),
    Kind(CheckKind),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CheckKind {
    Rule(String),
    #[serde(alias = "pattern")]
    Forbid(String),
    Require(String),
}

impl From<CheckForm> for Check {
    fn from(form: CheckForm) -> Self {
        match form {
            CheckForm::Named(text) => Self::Named(text),
            CheckForm::Kind(CheckKind::Rule(id)) => Self::Rule(id),
            CheckForm::Kind(CheckKind::Forbid(pattern)) => Self::Forbid(pattern),
            CheckForm::Kind(CheckKind::Require(pattern)) => Self::Require(pattern),
        }
    }
}

fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "one value or a list of them, each of the kind that the key takes"
    )]
    enum OneOrMany<T> {
        Many(Vec<T>),
        One(T),
        None,
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::Many(all) => all,
        OneOrMany::One(one) => vec![one],
        OneOrMany::None => Vec::new(),
    })
}

/// Reads the SOP in the file at `path`; without front matter it applies to everything.
pub fn parse(path: &str, text: &str, count: impl Fn(&str) -> u64) -> Result<Sop, PlanError> {
    let text = text.trim_start_matches('\u{feff}');
    let (front, body) = if text.starts_with("---") {
        front_matter::read::<FrontMatter>(path, text, KEYS)?
    } else {
        (FrontMatter::default(), text.trim().to_owned())
    };
    let patterns: Vec<String> =
        front.applies_to.iter().flat_map(|text| glob::split_list(text)).collect();
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut checks: Vec<Check> = front.check.into_iter().map(Check::from).collect();
    let mut requirements = Vec::new();
    for requirement in front.requirements {
        match requirement {
            Requirement::Text(text) => requirements.push(text),
            Requirement::Checked { text, check } => {
                requirements.push(text);
                checks.extend(check.into_iter().map(Check::from));
            }
        }
    }
    let text = shown(front.summary.as_deref(), &requirements, &body);
    let applies_to = if patterns.is_empty() {
        None
    } else {
        let bad = |cause: PlanError| PlanError::FrontMatter {
            path: path.to_owned(),
            message: format!("applies_to: {cause}"),
        };
        Some(Globs::new(&patterns).map_err(bad)?)
    };
    Ok(Sop {
        name: name.strip_suffix(".md").unwrap_or(name).to_owned(),
        path: path.to_owned(),
        severity: front.severity,
        category: front.category,
        scope: front.scope,
        summary: front.summary,
        requirements,
        domains: front.domains.iter().map(|name| name.trim().to_lowercase()).collect(),
        checks,
        tokens: count(&text),
        text,
        unknown_keys: front.others.into_keys().collect(),
        applies_to,
    })
}

/// All that a reviewer is shown: what stands in the front matter for it, then the body.
fn shown(summary: Option<&str>, requirements: &[String], body: &str) -> String {
    let mut text = String::new();
    if let Some(summary) = summary {
        // Writing to a string cannot fail.
        _ = write!(text, "{}\n\n", summary.trim());
    }
    if !requirements.is_empty() {
        text.push_str("Requirements:\n");
        for (number, requirement) in (1..).zip(requirements) {
            _ = writeln!(text, "{number}. {}", requirement.trim());
        }
        text.push('\n');
    }
    text.push_str(body);
    text.trim_end().to_owned()
}

/// The SOPs that apply to one file do not fit what is kept for them.
pub(crate) fn over_reserve(path: &str, applying: &[&Sop], reserve: u64) -> PlanError {
    PlanError::SopsOverReserve {
        path: path.to_owned(),
        sops: applying.iter().map(|sop| (sop.name.clone(), sop.tokens)).collect(),
        reserve,
    }
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
        assert!(sop("---\napplies_to: \"*.go, *.rs\"\n---\nx").applies("a.rs"));
        for everything in ["# No front matter", "---\n---\nx", "---\napplies_to:\n---\nx"] {
            assert_eq!(sop(everything).why("anything"), Some(Why::Everything), "{everything}");
        }
    }

    #[test]
    fn globs_come_before_domains_and_domains_before_what_is_related() {
        let both = sop("---\napplies_to: \"*.sql\"\ndomains: [auth, security]\n---\nx");
        assert_eq!(both.why("auth/a.sql"), Some(Why::Glob("*.sql")));
        assert_eq!(both.why("auth/a.go"), Some(Why::Domain("auth")));
        assert_eq!(both.why("api/a.go"), Some(Why::Related("api", "security")));
        assert_eq!(both.why("web/a.go"), None);
        let one = sop("---\ndomain: Database\n---\nx");
        assert!(one.applies("db/a.go") && !one.applies("a.go"));
    }

    #[test]
    fn everything_that_is_said_is_shown_and_counted() {
        let said = sop("---\nsummary: Wrap errors.\nrequirements:\n  - Say what failed.\n  - \
                        text: Do not print.\n    check: fmt.Println\ncheck:\n  - rule: go.x\n  - \
                        require: '^// Copyright'\nowner: core\n---\nBecause.");
        assert_eq!(
            said.text,
            "Wrap errors.\n\nRequirements:\n1. Say what failed.\n2. Do not print.\n\nBecause."
        );
        assert_eq!(said.tokens, said.text.len() as u64);
        let checks = [
            Check::Rule("go.x".to_owned()),
            Check::Require("^// Copyright".to_owned()),
            Check::Named("fmt.Println".to_owned()),
        ];
        assert_eq!(said.checks, checks);
        assert_eq!(said.unknown_keys, ["owner"]);
    }

    #[test]
    fn a_value_that_means_nothing_is_an_error_that_names_the_file() {
        let error = parse("sops/a.md", "---\nseverity: severe\n---\nx", |_| 0).expect_err("bad");
        assert!(error.to_string().starts_with("sops/a.md: "), "{error}");
        assert!(parse("sops/a.md", "---\nscope: moon\n---\nx", |_| 0).is_err());
        assert!(parse("sops/a.md", "---\napplies_to: \"[\"\n---\nx", |_| 0).is_err());
    }
}
